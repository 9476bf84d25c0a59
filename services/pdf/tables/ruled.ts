// Reads tables whose cells are drawn with lines.

import type { Vocabulary } from '../layout/inline.ts';
import type { Chunk } from '../layout/lines.ts';
import type { PageContent, Word } from '../source/page-model.ts';
import type { FoundTable } from './grid.ts';

export function findRuledTables(
  _page: PageContent,
  _chunks: readonly Chunk[],
  _sideways: readonly Word[],
  _vocabulary: Vocabulary,
): FoundTable[] {
  return [];
}
