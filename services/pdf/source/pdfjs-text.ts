// Turns pdf.js text items (one string, one width) into words, by the usual widths of their characters.
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { type FontFace, readFontFace } from './fonts.ts';
import { concatenate, type Matrix, mapBox, type QuarterTurn, turnBox } from './geometry.ts';
import { glyphText, isSpaceCode } from './glyph-text.ts';
import type { PageContent, TextStyle } from './page-model.ts';
import type { LoadedPage } from './pdfjs-module.ts';
import { WordBuilder } from './word-builder.ts';

type TextContent = Awaited<ReturnType<LoadedPage['getTextContent']>>;

const NARROW = /[iljtfrI.,;:!'|()[\] ]/;
const WIDE = /[mwMW@%]/;

export function readItems(
  page: LoadedPage,
  content: TextContent,
  display: Matrix,
  width: number,
  height: number,
): Pick<PageContent, 'words' | 'glyphs' | 'unmappedGlyphs' | 'cutText'> {
  const builder = new WordBuilder(width, height);
  const faces = new Map<string, FontFace>();
  const styles = new Map<string, TextStyle>();
  let glyphs = 0;
  let unmapped = 0;
  for (const item of content.items) {
    if (!('str' in item) || glyphs > DOCUMENT_LIMITS.pdfPageCharacters) continue;
    if (item.str === '' || /^\s+$/.test(item.str)) {
      if (item.str !== '' || item.hasEOL) builder.space();
      continue;
    }
    const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = item.transform as number[];
    const shown = concatenate({ a, b, c, d, e, f }, display);
    const size = Math.min(2000, Math.max(0.5, Math.round(Math.hypot(shown.c, shown.d) * 20) / 20));
    const direction = ((((Math.round((Math.atan2(shown.b, shown.a) * 2) / Math.PI) % 4) + 4) % 4) * 90) as QuarterTurn;
    const turn = ((360 - direction) % 360) as QuarterTurn;
    const origin = turnBox(mapBox(display, e, f, e, f), turn, width, height);
    const face = faceOf(page, item.fontName, faces);
    const key = `${item.fontName}|${size}`;
    let style = styles.get(key);
    if (!style) {
      style = { font: face.name, size, bold: face.bold, italic: face.italic, monospace: face.monospace, color: 0 };
      styles.set(key, style);
    }
    const characters = [...item.str];
    const shares = characters.map((character) =>
      face.monospace ? 1 : NARROW.test(character) ? 0.55 : WIDE.test(character) ? 1.5 : 1,
    );
    const total = shares.reduce((sum, share) => sum + share, 0) || 1;
    const rightToLeft = item.dir === 'rtl';
    let walked = 0;
    characters.forEach((character, n) => {
      const from = (walked / total) * item.width;
      walked += shares[n] ?? 1;
      const to = (walked / total) * item.width;
      const code = character.codePointAt(0) ?? 0;
      if (isSpaceCode(code)) {
        builder.space();
        return;
      }
      const text = glyphText(code);
      if (text === '') return;
      glyphs++;
      if (text === null) {
        unmapped++;
        return;
      }
      const x0 = rightToLeft ? origin.x0 + item.width - to : origin.x0 + from;
      builder.add({ text, code, x0, x1: x0 + to - from, baseline: origin.y0, style, direction, invisible: false });
    });
    if (item.hasEOL) builder.space();
  }
  return {
    words: builder.finish(),
    glyphs,
    unmappedGlyphs: unmapped,
    cutText: glyphs > DOCUMENT_LIMITS.pdfPageCharacters,
  };
}

function faceOf(page: LoadedPage, fontName: string, faces: Map<string, FontFace>): FontFace {
  let face = faces.get(fontName);
  if (face) return face;
  face = readFontFace('');
  if (page.commonObjs.has(fontName)) {
    const font = page.commonObjs.get(fontName) as {
      name?: string;
      bold?: boolean;
      italic?: boolean;
      isMonospace?: boolean;
    };
    const named = readFontFace(typeof font.name === 'string' ? font.name : '');
    face = {
      ...named,
      bold: named.bold || font.bold === true,
      italic: named.italic || font.italic === true,
      monospace: named.monospace || font.isMonospace === true,
    };
  }
  faces.set(fontName, face);
  return face;
}
