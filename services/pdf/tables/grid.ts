// The shape that every table finder gives: cells with spans, and the words it took.

import type { TableGrid } from '../layout/blocks.ts';
import type { Box } from '../source/geometry.ts';
import type { Word } from '../source/page-model.ts';

export interface FoundTable {
  box: Box;
  grid: TableGrid;
  words: Word[];
  /** Turned words inside cells (sideways column heads). */
  sideways: Word[];
  source: 'ruled' | 'aligned';
  ocr: number | null;
}
