// Holds which painted shapes are lines: bars, and dots in a row, across and down; not dots alone, ticks and squares.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RulingCollector } from './rulings.ts';

type Shape = readonly [x: number, y: number, width: number, height: number];
const collect = (...shapes: readonly Shape[]) => {
  const collector = new RulingCollector({ x0: 0, y0: 0, x1: 600, y1: 800 });
  for (const [x, y, width, height] of shapes)
    collector.fill([x, y, x + width, y, x + width, y + height, x, y + height], false, 0);
  const { rulings, regions } = collector.finish();
  return { regions: regions.length, lines: rulings.map((one) => [one.horizontal, one.at, one.start, one.end]) };
};
const row = (shape: (n: number) => Shape) => Array.from({ length: 40 }, (_, n) => shape(n));

test('dots in a row are a line, across or down', () => {
  const across = row((n) => [100 + n * 2, 300, 1, 1]);
  const down = row((n) => [100, 300 + n * 2, 1, 1]);
  assert.deepEqual(collect(...across), { regions: 0, lines: [[true, 300.5, 100, 179]] });
  assert.deepEqual(collect(...down), { regions: 0, lines: [[false, 100.5, 300, 379]] });
  assert.deepEqual(collect(...across, ...down).lines.length, 2, 'crossing');
  assert.deepEqual(collect(...row((n) => [100 + n * 6, 300, 1, 1])), { regions: 0, lines: [] }, 'dots far apart');
});

test('a bar is one line, ticks beside each other are none, and what is thick is an area', () => {
  assert.deepEqual(collect([100, 300, 80, 1]), { regions: 0, lines: [[true, 300.5, 100, 180]] });
  assert.deepEqual(collect([100, 300, 1, 80]), { regions: 0, lines: [[false, 100.5, 300, 380]] });
  assert.deepEqual(collect(...row((n) => [100 + n * 3, 300, 1, 3])), { regions: 0, lines: [] }, 'ticks across');
  assert.deepEqual(collect(...row((n) => [100, 300 + n * 3, 3, 1])), { regions: 0, lines: [] }, 'ticks down');
  assert.deepEqual(collect(...row((n) => [100 + n * 5, 300, 4, 4])), { regions: 40, lines: [] }, 'squares');
});
