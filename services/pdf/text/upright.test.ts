// Holds how pages that are turned, or that hold turned text, are read and where their blocks lie as the page is shown, on pages made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { draftPages, filled, grids, line, MONO, prose, rows, rule } from '#test/harness/documents/pdf-pages.ts';
import { type Box, type QuarterTurn, turnBox } from '../source/geometry.ts';
import type { PageContent, Ruling, Word } from '../source/page-model.ts';
import type { Draft } from './blocks.ts';

const DIRECTIONS = [90, 180, 270] as const;
/** A page of 600 by 800 points on which upright text of its own frame runs in a direction. */
const frameOf = (direction: QuarterTurn) => (direction === 180 ? { w: 600, h: 800 } : { w: 800, h: 600 });
const turn = (box: Box, direction: QuarterTurn): Box => {
  const { w, h } = frameOf(direction);
  return turnBox(box, direction, w, h);
};
/** Words that are written upright, in a direction on the page of 600 by 800 points. */
const turned = (words: readonly Word[], direction: QuarterTurn): Word[] =>
  words.map((word) => ({ ...word, direction, box: turn(word.box, direction) }));
const turnedRule = (one: Ruling, direction: QuarterTurn): Ruling => {
  const box = turn(
    one.horizontal
      ? { x0: one.start, x1: one.end, y0: one.at, y1: one.at }
      : { x0: one.at, x1: one.at, y0: one.start, y1: one.end },
    direction,
  );
  const level = box.y0 === box.y1;
  return level
    ? { ...one, horizontal: true, at: box.y0, start: box.x0, end: box.x1 }
    : { ...one, horizontal: false, at: box.x0, start: box.y0, end: box.y1 };
};
const boxOf = (draft: Draft | undefined) => {
  const { x0 = 0, y0 = 0, x1 = 0, y1 = 0 } = draft?.box ?? {};
  return [x0, y0, x1, y1].map(Math.round);
};
const boundsOf = (words: readonly Word[]) =>
  [
    Math.min(...words.map((word) => word.box.x0)),
    Math.min(...words.map((word) => word.box.y0)),
    Math.max(...words.map((word) => word.box.x1)),
    Math.max(...words.map((word) => word.box.y1)),
  ].map(Math.round);
const textOf = (draft: Draft | undefined) => (draft && 'text' in draft ? draft.text : draft?.kind);
const stamps = (words: Word[], more: Partial<PageContent> = {}) =>
  draftPages([words], more).flatMap((draft) => (draft.kind === 'furniture' ? [draft.text] : []));

test('a page whose text runs sideways or stands on its head is read as if it were turned; its blocks lie where they are shown', () => {
  for (const direction of DIRECTIONS) {
    const text = turned(prose(60, 100, 6), direction);
    const [first, second] = draftPages([[...text, ...line(290, 400, 'seen')]]);
    assert.match(textOf(first) ?? '', /^the keeper counts/);
    assert.deepEqual(boxOf(first), boundsOf(text), `${direction}`);
    assert.equal(textOf(second), 'seen', 'upright words on it');
    assert.deepEqual(boxOf(second), boundsOf(line(290, 400, 'seen')));
  }
});

test('lines of a table run with its text on a page that runs sideways', () => {
  const cells = [
    ['Bird', 'Where it rests'],
    ['Gull', 'the old quay'],
    ['Tern', 'the bay'],
  ];
  const level = [88, 104, 118, 134].map((y) => rule(y, 55, 330));
  const upright = [55, 150, 330].map((x): Ruling => ({ ...rule(x, 88, 134), horizontal: false }));
  for (const direction of DIRECTIONS) {
    const words = turned([...rows([60, 155], 100, cells), ...prose(60, 200, 4)], direction);
    const rulings = [...level, ...upright].map((one) => turnedRule(one, direction));
    assert.deepEqual(grids(draftPages([words], { rulings })), [cells]);
  }
});

test('a picture, a drawing and what OCR read in one are found on a page that runs sideways', () => {
  const words = turned(prose(60, 300, 6), 90);
  const picture = { x0: 60, y0: 60, x1: 300, y1: 200 };
  const box = turn(picture, 90);
  const figure = (more: Partial<PageContent>) =>
    draftPages([words], more).find((draft) => draft.kind === 'figure') as Draft & { html?: string };
  const shown = [box.x0, box.y0, box.x1, box.y1];
  assert.deepEqual(boxOf(figure({ images: [{ box, pixelWidth: 9, pixelHeight: 9 }] })), shown);
  assert.deepEqual(boxOf(figure({ drawings: [{ box, description: 'a chart' }] })), shown);
  const read = turned(line(70, 100, 'low tide'), 90).map((word) => ({ ...word, place: { block: 0, line: 0 } }));
  const read1 = figure({ figures: [{ box, words: read, rulings: [] }] });
  assert.deepEqual(boxOf(read1), shown);
  assert.equal(read1.html, '<p>low tide</p>');
});

test('text up the side of an upright page is read after it, and lies where it is shown', () => {
  for (const direction of DIRECTIONS) {
    const aside = turned([...line(200, 150, 'seen from'), ...line(200, 162, 'the light')], direction);
    const drafts = draftPages([[...prose(50, 400, 6), ...aside]]);
    assert.deepEqual(drafts.map(textOf).slice(1), ['seen from the light']);
    assert.deepEqual(boxOf(drafts[1]), boundsOf(aside), `${direction}`);
  }
});

test('words of a table’s head that run sideways are the table’s alone', () => {
  const cells = rows([60, 160, 260], 150, [
    ['Gull', '41', '57'],
    ['Tern', '12', '9'],
    ['Coot', '3', '4'],
  ]);
  const up = (x: number, text: string) =>
    line(0, 0, text).map(
      (word): Word => ({ ...word, direction: 270, box: { x0: x, x1: x + 10, y0: 95, y1: 130 }, baseline: x + 8 }),
    );
  const rulings = [
    ...[90, 138, 154, 168, 182].map((y) => rule(y, 55, 330)),
    ...[55, 150, 250, 330].map((x): Ruling => ({ ...rule(x, 90, 182), horizontal: false })),
  ];
  const drafts = draftPages([[...line(60, 130, 'Bird'), ...up(165, 'Spring'), ...up(265, 'Autumn'), ...cells]], {
    rulings,
  });
  assert.deepEqual(
    drafts.map((draft) => draft.kind),
    ['table'],
  );
  assert.deepEqual(grids(drafts)[0]?.[0], ['Bird', 'Spring', 'Autumn']);
});

/** Words up the page at x, the first at its foot. */
const upThePage = (x: number, text: string, style = MONO): Word[] => {
  let y = 700;
  return line(0, 0, text, { ...style, monospace: style === MONO && text.includes('()') }).map((word): Word => {
    const length = word.box.x1 - word.box.x0;
    const box = { x0: x, x1: x + 10, y0: y - length, y1: y };
    y = box.y0 - 5;
    return { ...word, direction: 270, box, baseline: x + 8 };
  });
};
const STAMP = 'fetched on Monday by the harbour';

test('what runs up either outer margin of a page of text is no part of it', () => {
  const page = prose(100, 100, 12);
  assert.deepEqual(stamps([...page, ...upThePage(20, STAMP)]), [STAMP]);
  assert.deepEqual(stamps([...page, ...upThePage(570, STAMP)]), [STAMP]);
  assert.deepEqual(stamps([...page, ...upThePage(440, STAMP)]), [], 'beside a narrow column');
  assert.deepEqual(stamps([...page, ...upThePage(20, 'Ships')]), [], 'a word at an axis');
  const numbers = Array.from({ length: 12 }, (_, n) => line(100 + (n % 3) * 100, 100 + n * 40, String(n * 50))).flat();
  assert.ok(!stamps([...numbers, ...upThePage(20, STAMP)]).includes(STAMP), 'a page of numbers');
  const code = [...upThePage(20, 'lamp.fill() lamp.light()'), ...upThePage(32, 'lamp.trim() lamp.quench()')];
  assert.deepEqual(stamps([...page, ...code]), [], 'code');
});

test('over and under the text of a page that runs sideways, as it is shown, is its margin too', () => {
  for (const direction of [90, 270] as const) {
    const page = turned(prose(100, 100, 12), direction);
    // Along the page's own foot, as it is shown: upright words.
    const shown = line(100, direction === 90 ? 30 : 780, `${STAMP} ${filled(20)}`);
    assert.equal(stamps([...page, ...shown]).length, 1, `${direction}`);
  }
});
