// Holds each rule on columns, running heads and feet, and pictures on a page made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blocksOf, draftPages, filled, line, PLAIN, prose, sized } from '#test/harness/documents/pdf-pages.ts';
import type { TextStyle, Word } from '../source/page-model.ts';
import { cutColumns } from './columns.ts';

const furniture = (...pages: Word[][]) =>
  blocksOf(pages).flatMap((one) => (one.startsWith('~') ? [one.replace(/<[^>]+>/g, '').replace(/^~\S+ /, '')] : []));
/** A row at the edge of a page of text. */
const at = (y: number, text: string, style: TextStyle = PLAIN, x = 200) => line(x, y, text, style);
const page = (...rows: Word[][]) => [...rows.flat(), ...prose(50, 100, 14)];

test('running heads: repeated at one height, on enough pages, near the edge', () => {
  const pages = (times: number, of: number, y: (n: number) => number) =>
    furniture(...Array.from({ length: of }, (_, n) => page(...(n < times ? [at(y(n), 'The log')] : [])))).length;
  assert.equal(
    pages(3, 3, () => 40),
    3,
  );
  assert.equal(
    pages(2, 10, () => 40),
    0,
    'on two pages of ten',
  );
  assert.equal(
    pages(2, 2, (n) => 40 + n * 30),
    0,
    'at two heights',
  );
  const middle = (n: number) => [...line(200, 230, 'The log'), ...prose(50 + n, 300, 9)];
  assert.deepEqual(furniture(middle(0), middle(1), middle(2)), [], 'far from the edge');
});

test('running feet: far from the edge where nothing is nearer, if they count the pages', () => {
  const pages = (text: (n: number) => string, ...more: Word[][]) =>
    furniture(...[1, 2, 3].map((n) => page(at(660, text(n)), ...more)));
  assert.deepEqual(
    pages((n) => `Log of the harbour, page ${n} of 28`),
    [1, 2, 3].map((n) => `Log of the harbour, page ${n} of 28`),
  );
  const other = ['gulls', 'terns', 'waders'];
  assert.deepEqual(
    pages((n) => `Log of ${other[n - 1]}`),
    [],
    'another text on each page',
  );
  assert.deepEqual(
    pages(() => 'Light, keeper and duty'),
    [],
    'the head of a table',
  );
  const below = pages((n) => `Log of the harbour, page ${n} of 28`, at(780, 'Harbour congress'));
  assert.deepEqual(new Set(below), new Set(['Harbour congress']), 'another foot is nearer to the edge');
});

test('a foot that counts the pages: beside another piece, and apart', () => {
  const foot = (counted: string, style = PLAIN, y = 760) =>
    furniture(page(at(y, 'Annex A', style, 50), at(y, counted, style, 300))).length;
  assert.deepEqual([foot('Page 12 of 14'), foot('Página 12 de 14'), foot('12/14')], [1, 1, 1]);
  assert.equal(foot('Part 12 for 14'), 0);
  assert.equal(foot('Page 12 of 14', sized(20)), 0, 'large');
});

test('page numbers: set apart, also behind a speck, but not within a title', () => {
  assert.deepEqual(furniture(page(at(780, '7'))), ['7']);
  assert.deepEqual(furniture(page(at(88, '12', PLAIN, 50))), [], 'on the text');
  assert.deepEqual(furniture(page(at(40, '7', sized(20)))), [], 'of a chapter');
  assert.deepEqual(
    furniture(page(at(40, 'Harbours', sized(8)), at(58, '7'))),
    ['Harbours', '7'],
    'under a row that may be one',
  );
  assert.deepEqual(furniture(page(at(20, '~'), at(45, '7', sized(8)))), ['~', '7']);
  assert.deepEqual(furniture(page(at(30, 'Harbours', sized(20)), at(60, '7'))), [], 'under a title');
  assert.deepEqual(
    furniture(page(at(30, 'The old light'), at(60, '7'))),
    [],
    'under a line of the text\u2019s own type',
  );
});

test('rows of one page: small and apart at the edge, but no caption, sentence or line that stands on the text', () => {
  assert.deepEqual(furniture(page(at(780, 'Harbour congress', sized(8)))), ['Harbour congress']);
  assert.deepEqual(furniture(page(at(780, 'Counted from the light.', sized(8)))), []);
  assert.deepEqual(furniture(page(at(30, 'Figure 3: Gulls', sized(8)))), []);
  assert.deepEqual(furniture([...at(40, 'Harbour congress', sized(5)), ...prose(50, 51, 14)]), []);
  const fetched = 'Downloaded from harbours.example on Monday 7';
  assert.deepEqual(furniture(page(at(780, fetched))), [fetched]);
});

test('pieces at both margins of a full page are a running head where one is a number', () => {
  const head = (left: string, right: string, to = 350) => [
    ...line(50, 80, left),
    ...line(to - right.length * 5, 80, right),
  ];
  const text = (first: string) => [...line(50, 104, first), ...prose(50, 116, 14)];
  const full = (...of: Parameters<typeof head>) => furniture([...head(...of), ...text(`The ${filled(56)}`)]).length;
  assert.equal(full('212', 'Harbours'), 1);
  assert.equal(full('Gulls', 'Harbours'), 0);
  assert.equal(full('212', 'Harbours', 250), 0, 'not at the margin');
  assert.equal(full('212', filled(53)), 0, 'not apart');
  assert.equal(furniture([...head('212', 'Harbours'), ...prose(50, 104, 5)]).length, 0, 'a page of few lines');
  const near = (first: string) => [...line(50, 92, '212'), ...line(310, 92, 'Harbours'), ...text(first)];
  assert.equal(furniture(near(filled(60))).length, 1, 'on a text that goes on from the page before');
  assert.equal(furniture(near(`The ${filled(56)}`)).length, 0, 'on a text that begins');
});

const item = (x0: number, x1: number, y: number, words: number, more = {}) => ({
  box: { x0, x1, y0: y, y1: y + 10 },
  words,
  size: 10,
  atom: false,
  ...more,
});
const ROWS = [20, 32, 44, 56, 68];
const columns = (left: (y: number) => object[], right: (y: number) => object[], rows = ROWS) =>
  cutColumns(rows.flatMap((y) => [...left(y), ...right(y)]) as ReturnType<typeof item>[]).length;

test('columns: a gutter of some width, lines that fill their column with words, more than two of them', () => {
  const right = (y: number) => [item(290, 500, y, 7)];
  assert.equal(
    columns((y) => [item(50, 265, y, 7)], right),
    2,
  );
  assert.equal(
    columns((y) => [item(50, 287, y, 7)], right),
    1,
    'no gutter',
  );
  assert.equal(
    columns(
      (y) => [item(50, 265, y, 3)],
      (y) => [item(290, 500, y, 3)],
      [20, 32],
    ),
    1,
    'two short lines',
  );
  assert.equal(
    columns((y) => [item(50, y === 20 ? 265 : 110, y, 3)], right),
    1,
    'ragged cells',
  );
  assert.equal(
    columns((y) => [item(50, 265, y, 1)], right),
    1,
    'one word a line',
  );
  const pieces = (y: number) => [item(290, 380, y, 2), item(420, 500, y, 2)];
  assert.equal(
    columns((y) => [item(50, 265, y, 7)], pieces),
    2,
    'justified lines in pieces',
  );
});

test('one line beside many is no column', () => {
  const one = [item(50, 265, 20, 7), ...[20, 32, 44].map((y) => item(290, 500, y, 7))];
  assert.equal(cutColumns(one).length, 1);
});

test('rows of cards are rows of the stream with white space between, the last may be short; single lines are columns', () => {
  /** Items by name in the order in which they are painted, and read. */
  const read = (places: Record<string, readonly [x: number, y: number, letters?: number]>) => {
    const items = Object.entries(places).map(([name, [x, y, letters = 40]], order) => ({
      ...item(x, x + 210, y, 7, { order, letters }),
      name,
    }));
    return cutColumns(items)
      .flatMap((column) => column.items.map((one) => one.name))
      .join('');
  };
  const top = { a: [50, 20], b: [50, 32], c: [290, 20], d: [290, 32] } as const;
  const row = (y: number) => ({ e: [50, y], f: [50, y + 12], g: [290, y], h: [290, y + 12] }) as const;
  assert.equal(read({ ...top, ...row(60) }), 'abcdefgh');
  assert.equal(read({ ...top, ...row(44) }), 'abefcdgh', 'no white space between');
  assert.equal(read({ ...top, ...row(60), i: [50, 100], j: [50, 112] }), 'abcdefghij', 'a short last row');
  const late = {
    a: top.a,
    b: top.b,
    c: top.c,
    e: [50, 60],
    d: [290, 32, 5],
    f: [50, 72],
    g: [290, 60],
    h: [290, 72],
  } as const;
  assert.equal(read(late), 'abcdefgh', 'a few letters painted late');
  const lines = { a: [50, 20], b: [290, 20], c: [50, 40], d: [290, 40], e: [50, 60], f: [290, 60] } as const;
  assert.equal(read(lines), 'acebdf');
});

test('a picture beside text is a column', () => {
  const picture = { ...item(50, 265, 20, 0, { atom: true, size: 0 }), box: { x0: 50, x1: 265, y0: 20, y1: 60 } };
  const words = ROWS.map((y) => item(290, 500, y, 7));
  assert.equal(cutColumns([picture, item(50, 90, 66, 1), ...words]).length, 2);
});

test('pictures: neither specks nor threads nor what lies under text; strips are one', () => {
  const figures = (...boxes: readonly (readonly [number, number, number, number])[]) => {
    const images = boxes.map(([x0, y0, x1, y1]) => ({ box: { x0, y0, x1, y1 }, pixelWidth: 9, pixelHeight: 9 }));
    return draftPages([prose(50, 100, 5)], { images }).filter((draft) => draft.kind === 'figure').length;
  };
  assert.equal(figures([100, 300, 300, 400]), 1);
  assert.equal(figures([100, 300, 130, 330]), 0, 'a speck');
  assert.equal(figures([100, 300, 500, 312]), 0, 'a thread');
  assert.equal(figures([100, 300, 300, 350], [100, 351, 300, 400]), 1, 'strips');
  assert.equal(figures([40, 80, 400, 200]), 0, 'under text');
});

test('sideways text is a stamp only beside a page of text, outside of its margins', () => {
  const stamp = (lines: number, x: number) => {
    const words = line(0, 0, 'fetched on Monday').map(
      (word, n): Word => ({
        ...word,
        direction: 270,
        box: { x0: x, x1: x + 10, y0: 500 - n * 60, y1: 550 - n * 60 },
        baseline: x + 8,
      }),
    );
    const drafts = draftPages([[...prose(50, 100, lines), ...words]]);
    return drafts.some((draft) => draft.kind === 'furniture');
  };
  assert.ok(stamp(14, 20));
  assert.ok(!stamp(4, 20));
  assert.ok(!stamp(14, 200));
});

test('a letter with one script over and one under it stays in its line', () => {
  const script = (x: number, y: number, text: string) =>
    line(x, y, text, sized(9)).map((word) => ({ ...word, box: { ...word.box, x1: x + 4 }, spaceBefore: false }));
  const words = [
    ...line(50, 200, 'that S'),
    ...script(80.5, 196, 'k'),
    ...script(80.2, 204, 'i'),
    ...script(85, 204, '=1'),
  ];
  const [first, ...more] = draftPages([[...words, ...line(92, 200, 'is the sum of all birds of the bay')]]);
  assert.deepEqual(more, []);
  assert.match(first?.kind === 'text' ? first.text : '', /^that Sik=1 is the sum/);
});
