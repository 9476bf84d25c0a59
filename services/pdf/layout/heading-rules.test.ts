// Holds each rule that tells a heading from text, and sets its level, on a page made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  BOLD,
  blocksOf,
  filled,
  ITALIC,
  line,
  MONO,
  PLAIN,
  prose,
  rows,
  sized,
} from '#test/harness/documents/pdf-pages.ts';
import type { TextStyle, Word } from '../source/page-model.ts';

/** Prose, then lines in a style with `above` points from the prose's last baseline and 30 points below, then prose. */
function between(text: string | readonly string[], style: TextStyle, above = 30, pace = style.size * 1.2): Word[] {
  const lines = typeof text === 'string' ? [text] : text;
  const top = 136 + above;
  return [
    ...prose(50, 100, 3),
    ...line(50, 136, 'until the boats are out'),
    ...lines.flatMap((one, n) => line(50, top + n * pace, one, style)),
    ...prose(50, top + (lines.length - 1) * pace + 30, 6),
  ];
}
const heads = (words: Word[], bookmarks: Parameters<typeof blocksOf>[1] = []) =>
  blocksOf([words], bookmarks).flatMap((html) => /<h(\d)>(.*)<\/h/.exec(html)?.slice(1).join(' ') ?? []);
const isHead = (text: string | readonly string[], style: TextStyle, above?: number) =>
  heads(between(text, style, above)).length > 0;

test('type: larger, bold, italic, capitals in a face of their own', () => {
  const two = ['Counted from the old light', 'in the spring'];
  assert.ok(isHead(two, sized(12)), 'larger');
  assert.ok(isHead('The old light', sized(11.5)), 'a little larger, one line, set apart');
  assert.ok(!isHead('The old light', sized(11.5), 12), 'a little larger, not set apart');
  const longer = [filled(50), filled(48, 1)];
  assert.ok(!isHead(longer, sized(11)), 'a little larger, two lines');
  assert.ok(isHead('The old light', BOLD));
  assert.ok(!isHead('The old light', BOLD, 12), 'bold, not set apart');
  assert.ok(!isHead('The old light', sized(7, BOLD)), 'small bold print');
  assert.ok(isHead('The old light', ITALIC));
  assert.ok(!isHead('The old light', ITALIC, 14), 'italic, too near');
  assert.ok(!isHead('The old light', sized(8, ITALIC)), 'italic small print');
  assert.ok(!isHead(longer, ITALIC), 'italics of two lines');
  assert.ok(!isHead(filled(60), ITALIC), 'italic that fills its line');
  assert.ok(isHead('THE OLD LIGHT', { ...PLAIN, font: 'c' }));
  assert.ok(!isHead('THE OLD LIGHT', PLAIN), 'capitals in the face of the text');
  assert.ok(!isHead('lamp.fill()', sized(12, MONO)), 'code');
  const bold = [...prose(50, 100, 6, BOLD), ...line(50, 196, 'The old light', BOLD), ...prose(50, 226, 6, BOLD)];
  assert.deepEqual(heads(bold), [], 'all of the text is bold');
});

test('length: five lines, four bold ones or three larger ones are text, a title of three long lines is not', () => {
  const long = (lines: number, letters = 50) => Array.from({ length: lines }, (_, n) => filled(letters, n));
  assert.ok(!isHead(long(5, 40), sized(16)));
  assert.ok(!isHead(long(4, 52), BOLD));
  assert.ok(!isHead(long(3), sized(12)));
  assert.ok(isHead(long(3), sized(16)));
});

test('words: a number alone, a sentence, a caption and what announces a list are none, an abbreviation may end one', () => {
  assert.ok(!isHead('42', sized(20)));
  assert.ok(!isHead('Counted twice a day.', BOLD));
  assert.ok(isHead('Gulls and Terns Inc.', BOLD));
  assert.ok(!isHead('Table 3: Birds', BOLD));
  assert.ok(!isHead('The birds are:', sized(10.75)));
});

test('a number makes a heading of plain type, where a capital follows, it is set apart and text comes under it', () => {
  assert.ok(isHead('2 The old light', PLAIN));
  assert.ok(!isHead('2 gulls came', PLAIN));
  const entry = between(`2 The old light ${'.'.repeat(80)} 9`, PLAIN).map((word) => ({
    ...word,
    box: { ...word.box, x1: Math.min(word.box.x1, 340) },
  }));
  assert.deepEqual(heads(entry), [], 'a line of a table of contents');
  assert.ok(!isHead('2 The old light', PLAIN, 15.5));
  assert.deepEqual(heads([...prose(50, 100, 6), ...line(50, 196, '2 The old light')]), []);
});

test('a bookmark makes a heading of plain type, but not where its words stand elsewhere in bold; it gives the level', () => {
  const bookmarks = [{ title: 'The old light', level: 2, pageIndex: 0 }];
  assert.equal(heads(between('The old light', PLAIN), bookmarks).length, 1);
  const twice = [...between('The old light', BOLD), ...line(50, 300, 'The old light'), ...prose(50, 330, 3)];
  assert.equal(heads(twice, bookmarks).length, 1);
  const titled = [...line(50, 60, 'Harbours', sized(20)), ...between('The old light', BOLD)];
  assert.deepEqual(heads(titled, bookmarks), ['1 Harbours', '3 The old light'], 'under a title that has no bookmark');
});

test('four bold lines in a row with nothing under them are no headings', () => {
  const address = ['The Harbour', 'Quay Street 7', 'Oban by the Bay', 'Post Box Four'];
  const words = [...prose(50, 100, 6), ...address.flatMap((text, n) => line(50, 200 + n * 20, text, BOLD))];
  assert.deepEqual(heads([...words, ...prose(50, 300, 3)]), []);
});

test('items count for the size of the text, and for the text that tells a page out of the middle of a work', () => {
  const under = (count: number) => [
    ...Array.from({ length: count }, (_, n) => line(60, 100 + n * 12, `• ${filled(50, n)}`, sized(9))).flat(),
    ...line(50, 240, 'The old light', sized(10)),
    ...line(60, 262, '• gulls and terns', sized(9)),
  ];
  assert.deepEqual(heads(under(7)), ['1 The old light']);
  assert.deepEqual(heads(under(9)), ['2 The old light'], 'the title stands on a page before this one');
});

test('the title is the first of the largest, on the first pages, larger than the text', () => {
  const under = (text: string, style: TextStyle) => [...line(50, 100, text, style), ...prose(50, 130, 6)];
  const late = [prose(50, 100, 6), prose(50, 100, 6), under('Harbours', sized(16))];
  assert.ok(blocksOf(late).some((html) => html.includes('<h2>Harbours')));
  const twice = [
    ...under('The old light', sized(12)),
    ...line(50, 230, 'Gulls', sized(16)),
    ...prose(50, 260, 3),
    ...line(50, 330, 'Terns', sized(16)),
    ...prose(50, 360, 3),
  ];
  assert.deepEqual(heads(twice), ['3 The old light', '2 Gulls', '2 Terns']);
  const small = [...under('The old light', BOLD), ...line(50, 230, 'Gulls', sized(11, BOLD)), ...prose(50, 260, 3)];
  assert.deepEqual(heads(small), ['3 The old light', '2 Gulls']);
});

test('levels: by number, then by size, weight and capitals', () => {
  const titled = (first: [string, TextStyle], second: [string, TextStyle]) =>
    heads([
      ...line(50, 60, 'Harbours', sized(20)),
      ...prose(50, 90, 3),
      ...line(50, 156, ...first),
      ...prose(50, 186, 3),
      ...line(50, 252, ...second),
      ...prose(50, 282, 3),
    ]).slice(1);
  assert.deepEqual(titled(['2 Birds', BOLD], ['2.1 Gulls', BOLD]), ['2 2 Birds', '3 2.1 Gulls']);
  assert.deepEqual(titled(['Birds', sized(12)], ['Gulls', sized(12, BOLD)]), ['3 Birds', '2 Gulls']);
  assert.deepEqual(titled(['Birds', BOLD], ['GULLS', BOLD]), ['3 Birds', '2 GULLS']);
});

test('small capitals in the middle stand under a sentence of one line too, but not under a name', () => {
  const under = (text: string) => [
    ...prose(50, 100, 4),
    ...line(50, 166, text),
    ...line(167, 196, 'THANKS TO ALL', sized(8)),
    ...prose(50, 226, 4),
  ];
  assert.equal(heads(under('Corollary 4. All gulls are grey.')).length, 1);
  assert.equal(heads(under('The Keeper of the Light')).length, 0);
});

test('five points of a slide in one large type are no headings, four are', () => {
  const slide = (count: number) => [
    ...line(50, 100, 'Agenda of the evening', sized(30)),
    ...Array.from({ length: count }, (_, n) => line(50, 150 + n * 50, `Point ${'abcdef'[n]} of it`, sized(20))).flat(),
    ...prose(50, 460, 8),
  ];
  assert.equal(heads(slide(5)).length, 1);
  assert.equal(heads(slide(4)).length, 5);
});

test('headings one below the other are as many, where each stands further off than the lines of a text would', () => {
  const three = ['Chapter 3', 'The birds of the island', '3.1 Those that breed'];
  const all = (pace: number) => heads(between(three, sized(16), 40, pace)).length;
  assert.equal(all(36), 3);
  assert.equal(all(19), 1, 'lines of one heading');
});

test('text between large tables in smaller type is text', () => {
  const cells = Array.from({ length: 9 }, (_, n) => ['Great-crested-grebe', 'Podiceps-cristatus', `1${n}`]);
  const words = [
    ...line(50, 80, 'The old light', sized(16)),
    ...prose(50, 110, 6),
    ...line(50, 210, 'Counted by the keeper'),
    ...rows([50, 190, 310], 240, cells, 14, sized(8)),
    ...line(50, 400, 'With thanks to the pilots'),
    ...rows([50, 190, 310], 430, cells, 14, sized(8)),
  ];
  assert.deepEqual(heads(words), ['1 The old light']);
});
