// Gives a link annotation to the words that it covers.
import type { Box } from './geometry.ts';
import type { Word } from './page-model.ts';

/** Words whose centre lies in `box` (displayed frame) carry `href`. */
export function linkWords(words: readonly Word[], box: Box, href: string): void {
  for (const word of words) {
    const x = (word.box.x0 + word.box.x1) / 2;
    const y = (word.box.y0 + word.box.y1) / 2;
    if (x >= box.x0 - 1 && x <= box.x1 + 1 && y >= box.y0 - 1 && y <= box.y1 + 1) word.link = href;
  }
}
