// Decides from a page's own content whether its text layer can be trusted or the page must be read by OCR.
import { area } from './source/geometry.ts';
import type { PageContent, TextStyle } from './source/page-model.ts';

/** Fewer glyphs beside a page-filling picture are a stamp or a page number on a scan. */
const FEW_GLYPHS = 60;
const PICTURE_SHARE = 0.55;
/** Above this share of glyphs without a name the text is noise. */
const BROKEN_SHARE = 0.25;

export type TextVerdict = 'usable' | 'empty' | 'missing' | 'broken' | 'picture';

/** `empty`: nothing is painted there at all. */
export function judgeText(page: PageContent): TextVerdict {
  const pageArea = Math.max(1, page.width * page.height);
  const pictured = page.images.reduce((sum, image) => sum + area(image.box), 0) / pageArea;
  if (page.words.length === 0) {
    if (page.objects === 0) return 'empty';
    return page.glyphs > 0 ? 'broken' : 'missing';
  }
  if (page.glyphs >= 20 && page.unmappedGlyphs > page.glyphs * BROKEN_SHARE) return 'broken';
  const visible = page.words.filter((word) => !word.invisible).reduce((sum, word) => sum + word.text.length, 0);
  const hidden = page.words.length > 0 && visible === 0;
  if (!hidden && page.glyphs < FEW_GLYPHS && pictured > PICTURE_SHARE) return 'picture';
  return 'usable';
}

/** Hidden text under a scan is its text; hidden text beside visible text is no part of what a reader sees. */
export function dropHiddenText(page: PageContent): PageContent {
  let visible = 0;
  let hidden = 0;
  for (const word of page.words) {
    if (word.invisible) hidden += word.text.length;
    else visible += word.text.length;
  }
  if (hidden === 0) return page;
  if (hidden > visible) return calmHiddenStyles(page);
  return { ...page, words: page.words.filter((word) => !word.invisible) };
}

/** Sizes this close to the page's usual one are noise of the program that laid text under the scan. */
const SAME_SIZE = 0.3;

/** Hidden text has whatever face its maker had at hand: only its size says something, and that roughly. */
function calmHiddenStyles(page: PageContent): PageContent {
  const sizes = page.words.map((word) => word.style.size).sort((a, b) => a - b);
  const usual = sizes[sizes.length >> 1] ?? 10;
  const styles = new Map<number, TextStyle>();
  const words = page.words.map((word) => {
    if (!word.invisible) return word;
    const size = Math.abs(word.style.size - usual) <= usual * SAME_SIZE ? usual : word.style.size;
    const style = styles.get(size) ?? { font: '', size, bold: false, italic: false, monospace: false, color: 0 };
    styles.set(size, style);
    return { ...word, style };
  });
  return { ...page, words };
}
