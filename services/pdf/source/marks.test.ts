// Holds which painted shapes are marks: small discs, circles and squares; not bars, boxes to tick, triangles and what a white pen draws.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { MarkCollector } from './marks.ts';

const BLACK = { filled: true, color: 0 } as const;
/** A circle of four Bézier curves, with their control points. */
const round = (x: number, y: number, r: number): number[] => {
  const k = r * 0.5523;
  const turn = ([dx, dy]: readonly [number, number]): [number, number] => [-dy, dx];
  let quarter: [number, number][] = [
    [r, 0],
    [r, k],
    [k, r],
  ];
  const points: number[] = [];
  for (let n = 0; n < 4; n++) {
    for (const [dx, dy] of quarter) points.push(x + dx, y + dy);
    quarter = quarter.map(turn);
  }
  return points;
};
const rectangle = (x: number, y: number, width: number, height: number): number[] => [
  ...[x, y, x + width, y],
  ...[x + width, y + height, x, y + height],
];
const collect = (...shapes: readonly Parameters<MarkCollector['add']>[]) => {
  const collector = new MarkCollector();
  for (const shape of shapes) collector.add(...shape);
  return collector.finish().map(({ shape, box }) => `${shape} ${Math.round((box.x1 - box.x0) * 10) / 10}`);
};

test('filled rounds are discs, drawn ones circles with their pen, filled squares are squares', () => {
  assert.deepEqual(collect([round(100, 100, 2), true, BLACK, false]), ['disc 4']);
  assert.deepEqual(collect([round(100, 100, 2), true, { filled: false, color: 0, width: 1 }, false]), ['circle 5']);
  assert.deepEqual(collect([rectangle(100, 100, 4, 4), false, BLACK, false]), ['square 4']);
});

test('bars, triangles, drawn squares, white and large shapes are no marks', () => {
  assert.deepEqual(
    collect(
      [rectangle(100, 100, 6, 4), false, BLACK, false],
      [[100, 100, 104, 100, 102, 104, 100, 100], false, BLACK, false],
      [rectangle(100, 100, 4, 4), false, { filled: false, color: 0, width: 1 }, false],
      [round(100, 100, 2), true, { filled: true, color: 0xffffff }, false],
      [round(100, 100, 9), true, BLACK, false],
      [round(100, 100, 0.3), true, BLACK, false],
    ),
    [],
  );
});

test('a mark that is painted in several steps is one, the largest; a page of very many has none', () => {
  assert.deepEqual(
    collect(
      [round(100, 100, 2), true, BLACK, false],
      [round(200, 100.1, 2), true, BLACK, false],
      [round(100, 100.2, 3), true, BLACK, false],
    ),
    ['disc 6', 'disc 4'],
  );
  const many = (count: number) =>
    collect(
      ...Array.from(
        { length: count },
        (_, n): Parameters<MarkCollector['add']> => [
          rectangle((n % 100) * 6, Math.floor(n / 100) * 6, 4, 4),
          false,
          BLACK,
          false,
        ],
      ),
    ).length;
  assert.equal(many(DOCUMENT_LIMITS.pdfPageMarks), DOCUMENT_LIMITS.pdfPageMarks);
  assert.equal(many(DOCUMENT_LIMITS.pdfPageMarks + 1), 0);
});
