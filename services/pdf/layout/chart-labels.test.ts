// Holds which words are labels of a drawn chart, on pages made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  draftPages,
  line,
  PLAIN,
  pageOf,
  painted,
  prose,
  rows,
  rule,
  sized,
} from '#test/harness/documents/pdf-pages.ts';
import { findPlots } from '../source/charts.ts';
import type { PageContent, Ruling, Word } from '../source/page-model.ts';

const SMALL = sized(6);
const upright = (at: number, start: number, end: number): Ruling => ({ ...rule(at, start, end), horizontal: false });
const AXES = [rule(300, 100, 280), upright(100, 200, 300)];
const HEIGHTS = [30, 42, 61, 55, 80];
const BARS = HEIGHTS.map((height, n) => painted(106 + n * 34, 300 - height, 126 + n * 34, 300));
const CURVE = { slants: [130, 290, 160, 270, 190, 265, 220, 240, 250, 230] };
/** Numbers left of the axis and years under the bars, in small type. */
const SCALE = ['0', '50', '100'].flatMap((text, n) => line(97 - text.length * 5, 302 - n * 48, text, SMALL));
const YEARS = HEIGHTS.flatMap((_, n) => line(106 + n * 34, 308, `201${n}`, SMALL));
const ABOVE = prose(50, 100, 6);

/** What a page says: the texts of its paragraphs, and those of its charts' labels. */
function read(words: readonly Word[][], more: Partial<PageContent>): { text: string[]; labels: string[] } {
  const drafts = draftPages(words, more);
  return {
    text: drafts.flatMap((draft) => (draft.kind === 'text' ? [draft.text] : [])),
    labels: drafts.flatMap((draft) => (draft.kind === 'figure' && draft.labels ? [draft.html ?? ''] : [])),
  };
}

test('the numbers and years along the axes of a chart are its labels, and no paragraphs', () => {
  for (const drawn of [{ regions: BARS }, CURVE]) {
    const { text, labels } = read([[...ABOVE, ...SCALE, ...YEARS]], { rulings: AXES, ...drawn });
    assert.deepEqual(labels, ['<p>100 50 0</p><p>2010 2011 2012 2013 2014</p>']);
    assert.equal(text.length, 1);
  }
  const { labels } = read([[...ABOVE, ...YEARS]], { regions: BARS });
  assert.deepEqual(labels, ['<p>2010 2011 2012 2013 2014</p>'], 'bars without axes');
});

test('an axis at the right has labels too; a drawing that no labels stand along keeps its words', () => {
  const right = ['0', '20', '40'].flatMap((text, n) => line(284, 302 - n * 48, text, SMALL));
  const { labels } = read([[...ABOVE, ...SCALE, ...right]], { rulings: AXES, ...CURVE });
  assert.deepEqual(labels, ['<p>100 50 0</p><p>40 20 0</p>']);
  const words = [...ABOVE, ...line(150, 250, 'Gulls 40%', SMALL)];
  assert.deepEqual(read([words], { rulings: AXES, ...CURVE }).labels, []);
});

test('a title inside the axes stays', () => {
  const title = line(120, 215, 'Boats by year', sized(9));
  const { text, labels } = read([[...ABOVE, ...SCALE, ...title]], { rulings: AXES, ...CURVE });
  assert.deepEqual(labels, ['<p>100 50 0</p>']);
  assert.ok(text.includes('Boats by year'));
});

test('values over the bars and the upright name of an axis are labels too', () => {
  const values = HEIGHTS.flatMap((height, n) => line(111 + n * 34, 320 - height, String(height), SMALL));
  const name = line(0, 0, 'Boats', SMALL).map(
    (word): Word => ({ ...word, direction: 270, box: { x0: 70, x1: 76, y0: 235, y1: 260 } }),
  );
  const { labels } = read([[...ABOVE, ...SCALE, ...values, ...name]], { rulings: AXES, regions: BARS });
  assert.match(labels[0] ?? '', /80.*55|55.*80/);
  assert.match(labels[0] ?? '', /Boats/);
});

test('a paragraph and a caption close to a chart stay', () => {
  const caption = line(110, 318, 'Fig. 2: Boats in the harbour', SMALL);
  const foreign = line(110, 318, 'Рис. 2. Лодки в гавани', SMALL);
  for (const under of [caption, foreign]) {
    const { text } = read([[...ABOVE, ...SCALE, ...YEARS, ...under, ...prose(50, 330, 4)]], {
      rulings: AXES,
      regions: BARS,
    });
    assert.equal(text.length, 3);
  }
  const direct = read([[...ABOVE, ...prose(50, 309, 4)]], { rulings: AXES, regions: BARS });
  assert.deepEqual(direct.labels, [], 'text right under the axis');
  const left = [...prose(-205, 210, 9)];
  assert.deepEqual(read([left], { rulings: AXES, regions: BARS }).labels, [], 'text that ends at the axis');
});

test('shaded cells of a table and a box with a paragraph in it are no chart', () => {
  const cells = rows(
    [110, 170, 230],
    218,
    [0, 1, 2, 3].map((n) => ['Gull', `${n}1`, `${n}7`]),
    24,
  );
  const shades = [0, 1, 2, 3].flatMap((row) =>
    [100, 160, 220].map((x) => painted(x, 200 + row * 25, x + 60, 225 + row * 25)),
  );
  assert.deepEqual(findPlots(pageOf(cells, { rulings: AXES, regions: shades })), []);
  const box = read([[...ABOVE, ...prose(105, 230, 4, PLAIN)]], {
    rulings: [...AXES, rule(200, 100, 280), upright(280, 200, 300)],
    slants: [102, 201, 278, 201, 102, 299, 278, 299],
  });
  assert.deepEqual(box.labels, []);
});
