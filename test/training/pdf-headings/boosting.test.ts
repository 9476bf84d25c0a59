// Holds the trainer of the heading model to answers that are known.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headingOdds, parseTree, printTree } from '#services/pdf/layout/headings/model.ts';
import { trainTrees, trainWeights } from './boosting.ts';

const OPTIONS = { trees: 20, depth: 2, rate: 0.3, leafWeight: 0.1, ridge: 1 };
const rows = Array.from({ length: 80 }, (_, n) => {
  const features = { bold: n % 2, size: (n % 5) / 10, noise: (n * 7) % 11 };
  return { features, label: Number(features.bold === 1 && features.size > 0.15), weight: 1 };
});

test('trees learn a rule of two features, and the same rows give the same trees', () => {
  const model = trainTrees(rows, OPTIONS);
  for (const { features, label } of rows) assert.equal(headingOdds(model, features) > 0, label === 1);
  assert.deepEqual(trainTrees(rows, OPTIONS), model);
  for (const tree of model.trees) assert.deepEqual(parseTree(printTree(tree)), tree);
});

test('weights learn which of two is the higher one', () => {
  const pairs = [1, -1, 0.5, -0.5].map((value) => ({ values: [value, 0.1], label: Number(value > 0), weight: 1 }));
  const [first = 0, second = 0] = trainWeights(pairs);
  assert.ok(first > 1 && Math.abs(second) < first / 2);
});
