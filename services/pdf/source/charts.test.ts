// Holds what tells a chart from a table on lines and pictures made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageOf } from '#test/harness/documents/pdf-pages.ts';
import { holdsCurve, liesOnPicture } from './charts.ts';

const BOX = { x0: 100, x1: 300, y0: 100, y1: 200 };

test('a curve is many slanting strokes over a good part of the box', () => {
  const curve = (count: number, step: number, x = 110, y = 150) =>
    holdsCurve(pageOf([], { slants: Array.from({ length: count }, (_, n) => [x + n * step, y]).flat() }), BOX);
  assert.ok(curve(20, 8));
  assert.ok(curve(12, 15));
  assert.ok(!curve(6, 20), 'an arrow or two');
  assert.ok(!curve(8, 20), 'two arrows');
  assert.ok(curve(20, 3.2), 'a third of it');
  assert.ok(!curve(20, 2.1), 'a fifth of it');
  assert.ok(!curve(20, 1), 'in one spot');
  assert.ok(!curve(20, 8, 310), 'right of it');
  assert.ok(!curve(20, 8, -100), 'left of it');
  assert.ok(!curve(20, 8, 110, 90), 'above it');
  assert.ok(!curve(20, 8, 110, 210), 'below it');
});

test('a picture under most of the box makes its words labels, the ground of the page does not', () => {
  const lies = (...xs: readonly (readonly [number, number])[]) =>
    liesOnPicture(
      pageOf([], {
        images: xs.map(([x0, x1]) => ({ box: { x0, x1, y0: 50, y1: 250 }, pixelWidth: 9, pixelHeight: 9 })),
      }),
      BOX,
    );
  assert.ok(lies([100, 300]));
  assert.ok(lies([100, 200], [200, 300]), 'in strips');
  assert.ok(lies([100, 240]), 'two thirds of it');
  assert.ok(!lies([100, 200]), 'half of it');
  const high = (y1: number) => {
    const image = { box: { x0: 0, x1: 600, y0: 0, y1 }, pixelWidth: 9, pixelHeight: 9 };
    return liesOnPicture(pageOf([], { images: [image] }), BOX);
  };
  assert.deepEqual([320, 480, 800].map(high), [true, false, false]);
});
