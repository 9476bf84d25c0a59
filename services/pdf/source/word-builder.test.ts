// Holds the joining of glyphs to words to glyphs given by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { glyphText } from './glyph-text.ts';
import { WordBuilder } from './word-builder.ts';

const STYLE = { font: 'a', size: 10, bold: false, italic: false, monospace: false, color: 0 };

/** The words of letters five points wide, as an engine gives them; those that are written from the right stand from the right. */
function wordsOf(text: string, backwards = false): string[] {
  const builder = new WordBuilder(600, 800);
  let at = 300;
  for (const letter of text) {
    const code = letter.codePointAt(0) ?? 0;
    const width = letter === '\u200c' ? 0 : 5;
    const x0 = backwards ? at - width : at;
    at += backwards ? -width : width;
    const own = glyphText(code);
    if (own !== null && own !== '')
      builder.add({ text: own, code, x0, x1: x0 + width, baseline: 100, style: STYLE, direction: 0, invisible: false });
  }
  return builder.finish().map((word) => word.text);
}

test('a half-space stays between Persian letters, where it parts what would join, and goes elsewhere', () => {
  assert.deepEqual(wordsOf('می\u200cخواهم', true), ['می\u200cخواهم']);
  assert.deepEqual(wordsOf('Auf\u200clage'), ['Auflage']);
  assert.deepEqual(wordsOf('خانه\u200c', true), ['خانه']);
});

/** The words of glyphs that are given with their edges. */
function wordsAt(...glyphs: readonly (readonly [text: string, x0: number, x1: number])[]): string[] {
  const builder = new WordBuilder(600, 800);
  for (const [text, x0, x1] of glyphs)
    builder.add({
      text,
      code: text.codePointAt(0) ?? 0,
      x0,
      x1,
      baseline: 100,
      style: STYLE,
      direction: 0,
      invisible: false,
    });
  return builder.finish().map((word) => word.text);
}

test('the letters of an Arabic ligature, which engines give the wrong way round, are put right', () => {
  assert.deepEqual(wordsAt(['إ', 105, 108], ['ا', 100, 105], ['ل', 100, 105]), ['إلا']);
  assert.deepEqual(wordsAt(['ا', 110, 113], ['ه', 100, 110], ['ل', 100, 110], ['ل', 100, 110]), ['الله']);
});

test('an Arabic letter may reach under the one before it', () => {
  assert.deepEqual(wordsAt(['ل', 102, 110], ['ا', 101.8, 108], ['م', 94, 101.8]), ['لام']);
});

test('a Latin word ends where an Arabic one begins beside it', () => {
  assert.deepEqual(wordsAt(['a', 100, 105], ['b', 105, 110], ['ل', 110, 115]), ['ab', 'ل']);
});

test('a hyphen that forbids a line break is a hyphen', () => {
  assert.deepEqual(wordsOf('well\u2011known'), ['well-known']);
});

/** Words with `*` behind the bold ones, of letters of given widths that are printed again a little beside their place. */
function printedTwice(text: string, widths: Readonly<Record<string, number>>, shift: number, kerning = 0): string[] {
  const builder = new WordBuilder(600, 800);
  let x0 = 100;
  for (const letter of text) {
    const width = widths[letter] ?? 5;
    for (const x of shift > 0 ? [x0, x0 + shift] : [x0])
      builder.add({
        text: letter,
        code: letter.codePointAt(0) ?? 0,
        x0: x,
        x1: x + width,
        baseline: 100,
        style: STYLE,
        direction: 0,
        invisible: false,
      });
    x0 += width + kerning;
  }
  return builder.finish().map((word) => word.text + (word.style.bold ? '*' : ''));
}

test('a letter that is printed again a little beside its place is one letter, and the word is bold', () => {
  for (const shift of [0.2, 0.5, 0.8]) assert.deepEqual(printedTwice('gulls', { l: 2.2 }, shift), ['gulls*']);
  assert.deepEqual(printedTwice('moon', {}, 1), ['moon*']);
  assert.deepEqual(printedTwice('all', { l: 2.2 }, 0.5, -0.6), ['all*'], 'in tight type');
});

test('letters that repeat stay in tight type', () => {
  assert.deepEqual(printedTwice('illicit', { i: 2.2, l: 2.2 }, 0, -1.1), ['illicit']);
  assert.deepEqual(printedTwice('moon', {}, 0, -3), ['moon']);
});

test('a word whose parts are printed again in other pieces is one word', () => {
  const gu = [['g', 100, 105] as const, ['u', 105, 110] as const];
  const ll = [['l', 110, 112.2] as const, ['l', 112.2, 114.4] as const];
  const beside = (glyphs: readonly (readonly [string, number, number])[]) =>
    glyphs.map(([text, x0, x1]) => [text, x0 + 0.4, x1 + 0.4] as const);
  assert.deepEqual(wordsAt(...gu, ...beside(gu), ...ll, ...beside(ll)), ['gull']);
  assert.deepEqual(wordsAt(...gu, ...ll, ...beside([...gu, ...ll])), ['gull']);
});
