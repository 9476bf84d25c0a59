// Holds what tells a row at the edge of one page from its text, on pages made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blocksOf, filled, line, PLAIN, prose, sized } from '#test/harness/documents/pdf-pages.ts';
import type { TextStyle, Word } from '../source/page-model.ts';
import { buildChunks } from '../text/lines.ts';
import { findFurniture } from './furniture.ts';

const furniture = (...pages: Word[][]) =>
  blocksOf(pages).flatMap((one) => (one.startsWith('~') ? [one.replace(/<[^>]+>/g, '').replace(/^~\S+ /, '')] : []));
/** Text from x = 50 to 350 and down to y = 690.2. */
const full = (...more: Word[][]) => furniture([...prose(50, 100, 50), ...more.flat()]);
const SMALL = sized(8);

test('a page number in the middle of the foot may stand nearer to the text than one elsewhere', () => {
  /** A number of 8 points, so many points under the text. */
  const under = (gap: number, x: number) => full(line(x, 690.2 + gap + 6.24, '7', SMALL)).length;
  assert.equal(under(5, 197.5), 1, 'the middle of the text');
  assert.equal(under(5, 297.5), 1, 'the middle of the page');
  assert.equal(under(5, 50), 0, 'at the margin');
  assert.equal(under(10.5, 50), 1, 'at the margin, apart');
  assert.equal(under(1.5, 197.5), 0, 'on the text');
  const over = (x: number) => furniture([...line(x, 85, '7', SMALL), ...prose(50, 100, 30)]).length;
  assert.equal(over(197.5), 0, 'at the head');
  const large = (size: number) => full(line(297.5, 760, '7', sized(size))).length;
  assert.deepEqual([large(11), large(12)], [1, 0], 'larger than the text');
});

test('type a good deal smaller than the text is furniture further in', () => {
  const at = (y: number, size: number) => full(line(200, y, 'Harbour congress', sized(size))).length;
  assert.deepEqual([at(712, 5), at(712, 8), at(780, 8), at(780, 10)], [1, 0, 1, 0]);
});

test('a stamp names its site or its day, or who made the copy', () => {
  const at = (text: string) => full(line(200, 780, text)).length;
  assert.equal(at('Downloaded from the harbour'), 0);
  assert.equal(at('Downloaded by Harbours on Monday 7'), 1);
  assert.equal(at('Digitized by Harbours'), 1);
});

test('a running head has its number in the middle or at a margin, or its middle piece in the middle', () => {
  const head = (...pieces: readonly (readonly [x: number, text: string])[]) => {
    const row = pieces.flatMap(([x, text]) => line(x, 80, text));
    return furniture([...row, ...line(50, 104, `The ${filled(56)}`), ...prose(50, 116, 14)]).length;
  };
  assert.equal(head([50, 'Gulls'], [197.5, '7']), 1);
  assert.equal(head([197.5, '7'], [310, 'Harbours']), 1);
  assert.equal(head([50, 'Gulls'], [150, '7']), 0, 'a number anywhere');
  assert.equal(head([50, 'Gulls'], [187.5, 'Terns']), 0, 'no number');
  assert.equal(head([120, 'Gulls'], [197.5, '7']), 0, 'a name anywhere');
  assert.equal(head([50, 'Gulls'], [187.5, 'Terns'], [310, 'Harbours']), 1, 'three pieces');
  assert.equal(head([50, 'Gulls'], [120, 'Terns'], [310, 'Harbours']), 0, 'the middle one at a side');
  assert.equal(head([50, 'Gulls'], [120, 'Terns'], [210, '7'], [310, 'Harbours']), 0, 'four pieces');
});

test('a repeated row that runs on into the text is text; numbers in it may differ', () => {
  const three = (text: (n: number) => string, style = PLAIN) =>
    furniture(...[1, 2, 3].map((n) => [...line(50, 88, text(n), style), ...prose(50, 100, 14)])).length;
  assert.equal(
    three(() => 'The log'),
    0,
  );
  assert.equal(
    three(() => 'The log', SMALL),
    3,
    'another size',
  );
  assert.equal(
    three((n) => `The log ${n}`, SMALL),
    3,
    'figures',
  );
  assert.equal(
    three((n) => `The log ${['x', 'xi', 'xii'][n - 1]}`, SMALL),
    3,
    'Roman numbers',
  );
  assert.equal(
    three((n) => `The log ${['gull', 'tern', 'heron'][n - 1]}`, SMALL),
    0,
    'another text',
  );
});

test('a row whose number does not run with the pages, or that is a heading, is content', () => {
  const bold = { ...PLAIN, bold: true };
  const pages = (texts: readonly string[], style: TextStyle = PLAIN, y = 60) =>
    furniture(...texts.map((text) => [...line(200, y, text, style), ...prose(50, 100, 40)])).length;
  assert.equal(pages(['Log 2', 'Log 3']), 2, 'it runs with the pages');
  assert.equal(pages(['Log 2', 'Log 5']), 0, 'it does not');
  assert.equal(pages(['Paid: 1017.00', 'Paid: 2211.50', 'Paid: 304.00'], PLAIN, 780), 0, 'amounts at the foot');
  assert.equal(pages(['Log 9-1', 'Log 9-2', 'Log 9-3']), 3, 'a number that stays and one that runs');
  assert.equal(pages(['Log 1', 'Log 2', 'Log 3'], sized(14)), 0, 'larger than the text');
  assert.equal(pages(['Log 1', 'Log 2', 'Log 3'], bold), 0, 'bold over plain text');
  assert.equal(pages(['The log', 'The log'], bold), 2, 'bold, with the same words');
  assert.equal(pages(['The log', 'The log'], sized(14)), 0, 'a title on both pages of a form');
  assert.equal(pages(['The log', 'The log', 'The log'], sized(14)), 2, 'a large head is a title on its first page');
});

test('a row that the outline names is a heading, unless the page has it twice', () => {
  const found = (twice: boolean) => {
    const pages = [0, 1].map((index) => {
      const words = [
        ...line(200, 40, 'The log'),
        ...(twice ? line(50, 90, 'The log', sized(12)) : []),
        ...prose(50, 120, 14),
      ];
      return { index, width: 600, height: 800, chunks: buildChunks(words) };
    });
    return findFurniture(pages, new Map(), (page, text) => page === 1 && text === 'The log').has(1);
  };
  assert.deepEqual([found(false), found(true)], [false, true]);
});

test('a head with the name of another section stands at the height and in the type of the others', () => {
  const pages = (head: TextStyle) =>
    furniture(
      ...['Gulls', 'Gulls', 'Gulls', 'Terns'].map((text, n) => [
        ...line(200, 60, text, n < 3 ? PLAIN : head),
        ...prose(50, 100, 40),
      ]),
    ).length;
  assert.deepEqual([pages(PLAIN), pages(sized(11))], [4, 3]);
});

test('furniture says what it is: a head, a foot, or the number of a page', () => {
  const found = blocksOf([[...line(200, 20, 'The log', SMALL), ...prose(50, 100, 50), ...line(297.5, 780, '7')]]);
  const foot = blocksOf([[...prose(50, 100, 50), ...line(200, 780, 'The log', SMALL)]]);
  const types = [...found, ...foot].flatMap((one) => /^~(\S+)/.exec(one)?.[1] ?? []);
  assert.deepEqual(types, ['page_header', 'page_number', 'page_footer']);
});

test('a row is remembered from one run of pages to the next where it stood on two pages', () => {
  const seen = new Map();
  const run = (...pages: readonly (readonly [index: number, head: string])[]) =>
    findFurniture(
      pages.map(([index, head]) => {
        const words = [...line(200, 40, head), ...prose(50, 100, 14)];
        return { index, width: 600, height: 800, chunks: buildChunks(words) };
      }),
      seen,
    ).size;
  assert.equal(run([0, 'The log'], [1, 'The log'], [2, 'Gulls']), 2);
  assert.equal(run([3, 'The log'], [4, 'Terns']), 1);
  assert.equal(run([5, 'Gulls'], [6, 'Terns']), 0, 'on one page before');
});

test('a head at both margins: of running text, in its type, apart from it, and nothing else in its row', () => {
  const row = (y: number, style: TextStyle, ...pieces: readonly (readonly [x: number, text: string])[]) =>
    pieces.flatMap(([x, text]) => line(x, y, text, style));
  const text = (y: number) => [...line(50, y, `The ${filled(56)}`), ...prose(50, y + 12, 14)];
  const both = [[50, '212'] as const, [310, 'Harbours'] as const];
  assert.equal(furniture([...row(60, PLAIN, ...both), ...text(90)]).length, 1);
  assert.equal(furniture([...row(60, PLAIN, ...both), ...text(72)]).length, 0, 'on the text');
  assert.equal(furniture([...row(60, sized(11), ...both), ...text(72)]).length, 0, 'larger, on the text');
  assert.equal(furniture([...row(60, sized(20), ...both), ...text(90)]).length, 0, 'a title');
  const labels = Array.from({ length: 14 }, (_, n) =>
    line(50, 90 + n * 14, 'Lighthousekeepersname Oratleasthisinitials'),
  ).flat();
  assert.equal(furniture([...row(60, PLAIN, [50, '212'], [245, 'Oban']), ...labels]).length, 0, 'a form');
  const at = (...pieces: readonly (readonly [x: number, text: string])[]) =>
    furniture([...row(80, PLAIN, ...pieces), ...text(104)]).length;
  assert.equal(at([197.5, '7'], [260, 'Harbours']), 0, 'a name within the text\u2019s width');
  assert.equal(at([120, '212'], [310, 'Harbours']), 0, 'a number within it');
});

test('a number alone on a page is its text; the type of the text is that of most letters', () => {
  assert.deepEqual(furniture(line(297.5, 780, '7')), []);
  const large = prose(50, 120, 14, sized(14), 18);
  assert.deepEqual(furniture([...large, ...line(297.5, 780, '7', sized(14))]), ['7']);
});

test('the type of the number: a line at the other edge in it alone is furniture, where the text has other types', () => {
  const small = { ...sized(9.6), font: 'n' };
  const page = (head: TextStyle, text = PLAIN) => [
    ...line(200, 50, 'Proceedings of the spring', head),
    ...prose(50, 100, 6, text),
    ...line(297.5, 800, '7', small),
  ];
  assert.deepEqual(furniture(page(small)), ['Proceedings of the spring', '7']);
  assert.deepEqual(furniture(page({ ...small, font: 'm' })), ['7'], 'in another face');
  assert.deepEqual(furniture(page(small, small)), ['7'], 'the type of the text');
});
