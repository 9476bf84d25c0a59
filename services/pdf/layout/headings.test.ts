// Holds what the heading model finds, and its levels, on pages made by hand: whole documents, since it reasons over the document.
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

const NAMES = ['The old light', 'Gulls and terns', 'Boats of the bay', 'Keepers'];
const TITLE = line(50, 60, 'Harbours of the west', sized(20, BOLD));
const ROMAN = ['I', 'II', 'III', 'IV'];

/** Prose with a heading over each six lines of it. */
function sections(style: TextStyle | readonly TextStyle[], write = (name: string, _n: number) => name): Word[] {
  return [
    ...prose(50, 90, 6),
    ...NAMES.flatMap((name, n) => [
      ...line(50, 186 + n * 120, write(name, n), 'size' in style ? style : style[n]),
      ...prose(50, 206 + n * 120, 6),
    ]),
  ];
}
const heads = (words: Word[], bookmarks: Parameters<typeof blocksOf>[1] = []) =>
  blocksOf([words], bookmarks).flatMap((html) => /<h(\d)>(.*)<\/h/.exec(html)?.slice(1).join(' ') ?? []);
const under = (write = (name: string, _n: number) => name) => [
  '1 Harbours of the west',
  ...NAMES.map((name, n) => `2 ${write(name, n)}`),
];

test('headings are found by larger type, bold, italics, capitals', () => {
  const capitals = (name: string) => name.toUpperCase();
  for (const style of [sized(13), sized(11.5), BOLD, sized(14, BOLD), ITALIC])
    assert.deepEqual(heads([...TITLE, ...sections(style)]), under());
  assert.deepEqual(heads([...TITLE, ...sections(PLAIN, capitals)]), under(capitals));
  assert.deepEqual(heads([...TITLE, ...sections(BOLD, capitals)]), under(capitals));
});

test('headings in the type of the text are found by their numbers, which run on over the document', () => {
  for (const write of [
    (name: string, n: number) => `${n + 1}. ${name}`,
    (name: string, n: number) => `${ROMAN[n]}. ${name.toUpperCase()}`,
    (name: string, n: number) => `Chapter ${n + 1} ${name}`,
  ])
    assert.deepEqual(heads([...TITLE, ...sections(PLAIN, write)]), under(write));
});

test('entries of a table of contents are no headings, however they are set', () => {
  const entries = NAMES.flatMap((name, n) =>
    line(50, 100 + n * 24, `${n + 1} ${name} ${'. '.repeat(20)}${n + 3}`, sized(14, BOLD)),
  );
  const text = [...prose(50, 240, 6), ...line(50, 336, NAMES[0] as string, sized(14, BOLD)), ...prose(50, 356, 6)];
  assert.deepEqual(heads([...TITLE, ...entries, ...text]), ['1 Harbours of the west', `2 ${NAMES[0]}`]);
});

test('items of a list are no headings, though each has a number', () => {
  const items = NAMES.flatMap((name, n) => line(60, 180 + n * 13, `${n + 1}. ${name}`));
  assert.deepEqual(heads([...TITLE, ...prose(50, 90, 6), ...items, ...prose(50, 260, 6)]), ['1 Harbours of the west']);
});

test('a page without a title has no heading above its equals', () => {
  assert.deepEqual(
    heads(sections(sized(14, BOLD))),
    NAMES.map((name) => `2 ${name}`),
  );
});

test('levels follow the depth of numbers, also in one style, and then size', () => {
  const write = (name: string, n: number) => `${['1', '1.1', '1.2', '2'][n]} ${name}`;
  const levels = (words: Word[]) => heads([...TITLE, ...words]).map((text) => text[0]);
  assert.deepEqual(levels(sections(BOLD, write)), ['1', '2', '3', '3', '2']);
  assert.deepEqual(levels(sections(PLAIN, write)), ['1', '2', '3', '3', '2']);
  const sizes = [sized(15, BOLD), sized(12, BOLD), sized(12, BOLD), sized(15, BOLD)];
  assert.deepEqual(levels(sections(sizes)), ['1', '2', '3', '3', '2']);
});

test('a number of more parts is lower, also where it comes first and is printed larger', () => {
  const names = ['3.2.3.1 The old light', '3.2.3.2 Gulls', '3.2.4 Boats', '3.3 Keepers'];
  const styles = [sized(16, BOLD), sized(16, BOLD), sized(13, BOLD), sized(12, BOLD)];
  const write = (_name: string, n: number) => names[n] ?? '';
  assert.deepEqual(
    heads(sections(styles, write)).map((text) => text[0]),
    ['4', '4', '3', '2'],
  );
});

test('an unnumbered heading has the level of the numbered ones that look like it', () => {
  const write = (name: string, n: number) => (n === 3 ? name : `${n + 1}. ${name}`);
  assert.deepEqual(
    heads([...TITLE, ...sections(sized(14, BOLD), write)]).map((text) => text[0]),
    ['1', '2', '2', '2', '2'],
  );
});

test('a bookmark makes a heading of plain type, but not where its words stand elsewhere in bold; it gives the level', () => {
  const bookmarks = NAMES.map((title, n) => ({ title, level: n === 1 ? 2 : 1, pageIndex: 0 }));
  assert.deepEqual(heads(sections(PLAIN), bookmarks), [
    '2 The old light',
    '3 Gulls and terns',
    '2 Boats of the bay',
    '2 Keepers',
  ]);
  const again = [...sections(BOLD), ...line(50, 680, 'The old light')];
  assert.equal(heads(again, bookmarks).length, 4);
  const caption = [...prose(50, 90, 6), ...line(50, 180, 'Table 14. Gulls of the bay'), ...prose(50, 210, 9)];
  assert.deepEqual(heads(caption, [{ title: 'Table 14. Gulls of the bay', level: 1, pageIndex: 0 }]), []);
});

test('authors, captions, entries of a table of contents, code and paragraphs are none', () => {
  const body = sections(BOLD);
  const only = (more: Word[]) => assert.deepEqual(heads([...TITLE, ...body, ...more]), under());
  only(line(50, 76, 'Ann Heron, Karl Tern, Maria Gull'));
  only(line(50, 690, 'Figure 3: Gulls of the bay', ITALIC));
  only(line(50, 690, `The old light ${'.'.repeat(60)} 9`));
  only(line(50, 690, 'lamp.fill()', sized(12, MONO)));
  only(Array.from({ length: 5 }, (_, n) => line(50, 690 + n * 14, filled(50, n), BOLD)).flat());
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

test('a lone larger heading on a page with little text is found', () => {
  assert.equal(heads([...line(50, 60, 'Harbours of the west', sized(16, BOLD)), ...prose(50, 90, 3)]).length, 1);
});

test('small bold italics over larger text, near to it, are headings', () => {
  const small = sized(8, { ...BOLD, font: 'bi', italic: true });
  assert.deepEqual(heads([...TITLE, ...sections(small)]), under());
});

test('four bold lines of an address are no headings', () => {
  const four = ['The Harbour', 'Quay Street 7', 'Oban by the Bay', 'Post Box Four'];
  const lines = four.flatMap((text, n) => line(50, 190 + n * 20, text, BOLD));
  assert.deepEqual(heads([...TITLE, ...prose(50, 90, 6), ...lines, ...prose(50, 290, 6)]), ['1 Harbours of the west']);
});

test('points of a slide in one large type are no headings', () => {
  const points = Array.from({ length: 5 }, (_, n) =>
    line(50, 150 + n * 50, `Point ${'abcdef'[n]} of it`, sized(20)),
  ).flat();
  assert.equal(
    heads([...line(50, 100, 'Agenda of the evening', sized(30)), ...points, ...prose(50, 460, 8)]).length,
    1,
  );
});

test('short bold labels in a row, as those of a chart, are no headings', () => {
  const labels = NAMES.flatMap((name, n) => line(60, 290 + n * 30, name.slice(0, 6 + n), BOLD));
  const drafts = [...TITLE, ...prose(50, 90, 6), ...labels, ...prose(50, 450, 6)];
  assert.deepEqual(heads(drafts), ['1 Harbours of the west']);
});

test('a heading over which one of another style always stands is the lower one', () => {
  const [upper, lower] = [sized(11, { ...ITALIC, font: 'x' }), sized(11, BOLD)];
  const words = NAMES.flatMap((name, n) => [
    ...line(50, 186 + n * 120, name, upper),
    ...line(50, 206 + n * 120, `${name} by day`, lower),
    ...prose(50, 226 + n * 120, 4),
  ]);
  assert.deepEqual(
    heads([...TITLE, ...prose(50, 90, 6), ...words]).map((text) => text[0]),
    ['1', '2', '3', '2', '3', '2', '3', '2', '3'],
  );
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

test('numbered lines in larger type, near to each other, are a heading each; a numbered title goes on in a second line', () => {
  const two = (second: string) => [
    ...prose(50, 90, 6),
    ...line(50, 186, '1 The old light', sized(14, BOLD)),
    ...line(50, 202, second, sized(14, BOLD)),
    ...prose(50, 226, 6),
  ];
  assert.equal(heads(two('1.1 Gulls and terns')).length, 2);
  assert.equal(heads(two('Gulls and terns')).length, 1);
});

test('sentences in large type that end short are paragraphs where all of the text is so large', () => {
  const large = sized(14);
  const words = [
    ...prose(50, 90, 6, large, 17),
    ...line(50, 192, 'The keeper sleeps.', large),
    ...prose(50, 209, 6, large, 17),
  ];
  assert.equal(blocksOf([words]).length, 2);
});
