// Decides from a page's own content whether its text layer can be trusted or the page must be read by OCR.
import { area } from './source/geometry.ts';
import type { PageContent } from './source/page-model.ts';

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
  if (hidden === 0 || hidden > visible) return page;
  return { ...page, words: page.words.filter((word) => !word.invisible) };
}
