// Makes paragraphs by hand, for tests of what a page made by hand cannot show.
import type { DraftStyle, TextDraft } from '../text/blocks.ts';

const STYLE: DraftStyle = {
  size: 10,
  bold: false,
  italic: false,
  monospace: false,
  capitals: false,
  smallCapitals: false,
  underlined: false,
  color: 0,
  font: 'a',
};

/** A paragraph of one line, with white space above it. */
export function textDraft(text: string, style: Partial<DraftStyle> = {}, more: Partial<TextDraft> = {}): TextDraft {
  const words = text.split(' ');
  return {
    kind: 'text',
    pageIndex: 0,
    box: { x0: 50, x1: 350, y0: 100, y1: 110 },
    ocr: null,
    text,
    html: text,
    plainHtml: text,
    style: { ...STYLE, ...style },
    lines: 1,
    gapAbove: 2,
    firstInColumn: false,
    lastInColumn: false,
    endsFull: false,
    indented: false,
    centred: false,
    lastWord: words.at(-1) ?? '',
    firstWord: words[0] ?? '',
    ...more,
  };
}
