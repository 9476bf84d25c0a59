// Holds when two parts are one table, and when a break went through a row, on parts made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kinds } from '#test/harness/documents/pdf-pages.ts';
import type { Draft, TableDraft } from '../text/blocks.ts';
import { mergeTables } from './continuation.ts';

const HEAD = ['Bird', 'Spring', 'Autumn'];
const UPPER = [HEAD, ['Gull', '41', '57'], ['Tern', '12', '9']];
const LOWER = [
  ['Coot', '3', '4'],
  ['Rail', '5', '6'],
];
const PLACE = { x0: 50, x1: 250, y0: 600, y1: 700 };

interface Part {
  page?: number;
  box?: Partial<TableDraft['box']>;
  headerRows?: number;
  source?: TableDraft['source'];
}

/** A part of a table; `>` before a text has its cell span two columns, `_` two rows. */
const part = (
  cells: readonly (readonly string[])[],
  { page = 0, box = {}, headerRows = 1, source = 'aligned' }: Part = {},
): TableDraft => {
  const rows = cells.map((row) => {
    let column = 0;
    return row.map((raw) => {
      const text = raw.replace(/^[>_]/, '');
      const colspan = raw.startsWith('>') ? 2 : 1;
      const cell = { html: text, text, column, colspan, rowspan: raw.startsWith('_') ? 2 : 1 };
      column += colspan;
      return cell;
    });
  });
  return {
    kind: 'table',
    pageIndex: page,
    box: { ...PLACE, ...box },
    ocr: null,
    grid: { rows, columns: cells[0]?.length ?? 0, headerRows },
    source,
    size: 10,
    letters: 100,
  };
};
const merged = (...drafts: Draft[]): string[][][] =>
  mergeTables(drafts, new Set()).flatMap((draft) =>
    draft.kind === 'table' ? [draft.grid.rows.map((row) => row.map((cell) => cell.text))] : [],
  );
const count = (...drafts: Draft[]) => merged(...drafts).length;
const foot = {
  kind: 'furniture',
  role: 'page_number',
  pageIndex: 0,
  box: PLACE,
  ocr: null,
  html: '7',
  text: '7',
} as const;

test('a part on the next page, in the same place and as wide, goes on without its head, past the feet of pages alone', () => {
  const next = part(LOWER, { page: 1 });
  const whole = [[...UPPER, ...LOWER]];
  assert.deepEqual(merged(part(UPPER), next), whole);
  assert.deepEqual(merged(part(UPPER), foot, next), whole);
  assert.deepEqual(kinds(mergeTables([part(UPPER), foot, next], new Set())), ['table', 'furniture']);
  const text = { ...foot, kind: 'paragraph' } as unknown as Draft;
  assert.equal(count(part(UPPER), text, next), 2, 'text between them');
  assert.equal(count(part(UPPER), part(LOWER, { page: 2 })), 2, 'two pages on');
  assert.equal(count(part(UPPER), part(LOWER)), 2, 'on one page');
  assert.equal(count(part(UPPER), part(LOWER, { page: 1, box: { x0: 57, x1: 257 } })), 2, 'in another place');
  assert.equal(count(part(UPPER), part(LOWER, { page: 1, box: { x0: 55.5, x1: 255.5 } })), 1, 'a little beside it');
  assert.equal(count(part(UPPER), part(LOWER, { page: 1, box: { x1: 264 } })), 2, 'wider');
  assert.equal(count(part(UPPER), part(LOWER, { page: 1, box: { x1: 261 } })), 1, 'a little wider');
  assert.equal(count(part(UPPER), part(LOWER, { page: 1, source: 'ruled' })), 2, 'found otherwise');
  const two = LOWER.map((row) => row.slice(0, 2));
  assert.equal(count(part(UPPER), part(two, { page: 1 })), 2, 'fewer columns');
  assert.deepEqual(merged(part(UPPER), next, part(LOWER, { page: 2 })), [[...UPPER, ...LOWER, ...LOWER]]);
});

test('words alone over rows of figures are the head of another table', () => {
  const other = [['Port', 'North', 'South'], ...LOWER];
  assert.equal(count(part(UPPER), part(other, { page: 1 })), 2);
  assert.equal(count(part(UPPER), part([['Port', '7', 'South'], ...LOWER], { page: 1 })), 1, 'a figure');
  const words = [HEAD, ['Gull', 'many', 'few']];
  assert.equal(count(part(words), part(other, { page: 1 })), 1, 'words over words');
});

test('a head that comes again is left out, in all its rows, and joins parts that lie elsewhere', () => {
  const moved = { page: 1, box: { x0: 90, x1: 290 } };
  assert.deepEqual(merged(part(UPPER), part([HEAD, ...LOWER], moved)), [[...UPPER, ...LOWER]]);
  assert.deepEqual(merged(part(UPPER), part([['BIRD', 'Spr ing', 'Autumn'], ...LOWER], moved)), [[...UPPER, ...LOWER]]);
  const tall = [HEAD, ['', 'seen', 'seen'], ...UPPER.slice(1)];
  const again = (second: string[]) => count(part(tall, { headerRows: 2 }), part([HEAD, second, ...LOWER], moved));
  assert.equal(again(['', 'seen', 'seen']), 1);
  assert.equal(again(['', 'heard', 'seen']), 2, 'half of it');
  assert.equal(count(part(UPPER), part([HEAD], moved)), 2, 'nothing but the head');
  assert.equal(count(part([[''], ['1']]), part([[''], ['2']], moved)), 2, 'an empty head');
  const body = [['1', '2', '3'], ...LOWER];
  assert.deepEqual(merged(part(body, { headerRows: 0 }), part(body, moved)), [[...body, ...LOWER]]);
});

test('a part in the next column begins higher, or as high where it is no longer', () => {
  const again = [HEAD, ...LOWER];
  const beside = (box: Part['box'], cells: string[][] = again) => count(part(UPPER), part(cells, { box }));
  const next = { x0: 300, x1: 500 };
  assert.equal(beside({ ...next, y0: 100, y1: 200 }), 1, 'higher');
  assert.equal(beside({ ...next, y0: 100, y1: 760 }), 1, 'higher and longer');
  assert.equal(beside({ ...next }), 1, 'as high and as long');
  assert.equal(beside({ ...next, y1: 650 }), 1, 'shorter');
  assert.equal(beside({ ...next, y1: 720 }), 2, 'longer');
  assert.equal(beside({ ...next, y0: 620, y1: 690 }), 2, 'lower');
  assert.equal(beside({ x0: 200, x1: 400, y0: 100, y1: 200 }), 2, 'not beside it');
  assert.equal(beside({ x0: 50, x1: 250, y0: 100, y1: 200 }), 2, 'above it');
  assert.equal(beside({ ...next, y0: 100, y1: 200 }, LOWER), 2, 'without the head');
  assert.equal(count(part(UPPER), part(again, { page: 2, box: { ...next, y0: 100, y1: 200 } })), 2, 'pages on');
});

/** Rows of a table of words whose last row is `above`, and whose next part begins with `below`. */
const broken = (above: readonly string[], below: readonly string[], head: readonly string[][] = [HEAD]) => {
  const [table = []] = merged(
    part([...head, above], { headerRows: head.length }),
    part([below, ['Rail', 'few', 'none']], { page: 1 }),
  );
  return table.length === head.length + 3 ? 'two rows' : table[head.length]?.join('|');
};

test('a break went through a row whose next cells read on from those above, most of them, the label always', () => {
  const gull = ['Gull of the bay', 'seen in each', 'all of them'];
  assert.equal(broken(gull, ['', 'month', '']), 'Gull of the bay|seen in each month|all of them');
  assert.equal(broken(gull, ['', 'Month', '']), 'two rows', 'a capital');
  assert.equal(broken(gull, ['', '(month)', '']), 'Gull of the bay|seen in each (month)|all of them');
  assert.equal(broken(['Gull of the bay', '', 'all'], ['', 'month', '']), 'two rows', 'no text above');
  assert.equal(broken(['Gull of the bay', '', 'all of them'], ['', 'month', 'there']), 'two rows', 'none above one');
  assert.equal(broken(gull, ['', 'month', 'Here']), 'Gull of the bay|seen in each month|all of them Here');
  assert.equal(broken(['Gull', 'seen in each', 'All.'], ['', 'month', 'Here']), 'two rows', 'after its end');
  assert.equal(broken(['Gull', 'seen in each', 'All.'], ['', 'month', 'here']), 'Gull|seen in each month|All. here');
  assert.equal(broken(gull, ['Tern', 'month', 'here']), 'two rows', 'a label of its own');
  assert.equal(broken(gull, ['islands', 'month', '']), 'Gull of the bay islands|seen in each month|all of them');
  const long = [[...HEAD, 'Winter', 'Year']];
  const five = ['Gull', 'seen in each', 'all of them', 'now and', 'then and'];
  assert.equal(broken(five, ['', 'month', 'Here', 'There', ''], long), 'two rows', 'one of three');
  assert.equal(broken(['Gull', 'seen in', 'all'], ['', 'month', 'here']), 'two rows', 'words too few to break');
  assert.equal(broken(['Gull', 'seen in', 'All of them'], ['', 'month', 'Here']), 'two rows', 'the few read on');
});

test('no row with a spanning cell was broken, and no head', () => {
  const gull = ['Gull', 'seen in each'];
  const month = ['', 'month'];
  const head = [['Bird', 'Seen']];
  assert.equal(broken(gull, month, head), 'Gull|seen in each month');
  assert.equal(broken(['_Gull', 'seen in each'], month, head), 'two rows', 'a tall cell above');
  assert.equal(broken(gull, ['', '_month'], head), 'two rows', 'a tall cell below');
  assert.equal(broken(gull, ['', '>month'], head), 'two rows', 'a wide cell');
  const alone = merged(part([['Bird', 'seen in each']]), part([month, ['Rail', 'few']], { page: 1 }));
  assert.deepEqual(alone, [[['Bird', 'seen in each'], month, ['Rail', 'few']]]);
});

test('a word that a break parted is whole again, in its text and its HTML', () => {
  const above = part([HEAD, ['Gull', 'seen by light-', 'x']]);
  const cell = above.grid.rows[1]?.[1];
  if (cell) cell.html = 'seen by <strong>light-</strong>';
  const [table] = mergeTables(
    [
      above,
      part(
        [
          ['', 'houses', ''],
          ['Rail', 'few', 'none'],
        ],
        { page: 1 },
      ),
    ],
    new Set(),
  );
  const joined = table?.kind === 'table' ? table.grid.rows[1]?.[1] : undefined;
  assert.equal(joined?.text, 'seen by lighthouses');
  assert.equal(joined?.html, 'seen by <strong>light</strong>houses');
});

test('a hyphen that belongs to its word stays where a break went through it, in its text and its HTML', () => {
  const below = part(
    [
      ['', 'style of 2', ''],
      ['Rail', 'few', 'none'],
    ],
    { page: 1 },
  );
  const [table] = mergeTables([part([HEAD, ['Gull', 'painted in 1914-', 'x']]), below], new Set());
  const joined = table?.kind === 'table' ? table.grid.rows[1]?.[1] : undefined;
  assert.deepEqual([joined?.text, joined?.html], ['painted in 1914-style of 2', 'painted in 1914-style of 2']);
});

test('a part of a drawn table whose columns are partly empty goes on the table', () => {
  const wide: TableDraft = part([HEAD, ['Gull', '41', '57']], { source: 'ruled' });
  wide.grid.drawn = [true, true, true];
  const narrow: TableDraft = part([['Coot', '4']], { page: 1, source: 'ruled' });
  narrow.grid.drawn = [true, false, true];
  assert.deepEqual(merged(wide, narrow), [[HEAD, ['Gull', '41', '57'], ['Coot', '', '4']]]);
  narrow.grid.drawn = [true, true];
  assert.equal(count(wide, narrow), 2, 'other columns');
});

test('a part set by white space goes on the table with its cells under those above, where a column is empty on its page', () => {
  const places = (...xs: number[]) => xs.map((x) => ({ x0: x, x1: x + 20 }));
  const wide: TableDraft = part(UPPER);
  wide.grid.extents = places(50, 100, 150);
  const narrow = (page: number, ...xs: number[]): TableDraft => {
    const table = part([['Coot', '4']], { page });
    table.grid.extents = places(...xs);
    return table;
  };
  assert.deepEqual(merged(wide, narrow(1, 45, 160)), [[...UPPER, ['Coot', '', '4']]]);
  assert.equal(count(wide, narrow(1, 45, 125)), 2, 'between two columns');
  assert.equal(count(wide, narrow(1, 45, 140)), 1, 'over one edge');
  assert.equal(count(wide, narrow(1, 45, 155), narrow(2, 45, 160)), 1, 'two pages on');
  assert.equal(count(wide, narrow(1, 52, 58)), 2, 'two columns under one');
  const apart = merged(wide, { ...narrow(1, 45, 160), box: { ...PLACE, x0: 70, x1: 270 } });
  assert.deepEqual(apart[1], [['Coot', '4']], 'a table of its own keeps its columns');
});

test('a table that ends long before its page does is whole; a figure in the head of each page ends none', () => {
  const above = part(UPPER);
  const next = part([HEAD, ...LOWER], { page: 1 });
  const lower = part(UPPER, { page: 2, box: { y1: 1000 } });
  assert.equal(count(above, next), 1);
  assert.equal(count(above, next, lower), 3, 'pages that end lower');
  const mark = (pageIndex: number): Draft => ({
    kind: 'figure',
    pageIndex,
    box: { ...PLACE, y0: 20, y1: 50 },
    ocr: null,
  });
  assert.equal(count(mark(0), above, mark(1), next), 1);
  assert.equal(count(above, mark(1), next), 2, 'a figure of one page');
});
