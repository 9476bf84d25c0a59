// Trains boosted decision trees for a yes-or-no question. The same rows give the same trees.
import type { Features } from '#services/pdf/layout/headings/features.ts';
import { type HeadingModel, readTree, type Tree } from '#services/pdf/layout/headings/model.ts';

export interface Row {
  features: Features;
  /** 1 for yes. */
  label: number;
  weight: number;
}

interface BoostingOptions {
  trees: number;
  depth: number;
  /** Share of a tree's answer that is added. */
  rate: number;
  /** Least weight of the rows of a leaf, counted as in a logistic regression. */
  leafWeight: number;
  /** How strongly leaves are drawn to 0. */
  ridge: number;
}

/** A feature is cut at so many places at most, which are quantiles of its values. */
const MOST_CUTS = 48;
/** A split that gains less is not worth its bytes. */
const LEAST_GAIN = 1e-3;

/** One feature: its limits, and for each row how many of them it reaches. */
interface Column {
  name: string;
  cuts: number[];
  bins: Uint8Array;
}

const rounded = (value: number, digits: number) => Number(value.toPrecision(digits));

function makeColumn(name: string, rows: readonly Row[]): Column {
  const values = rows.map((row) => row.features[name] ?? 0);
  const sorted = Float64Array.from(values).sort();
  const distinct = [...new Set(sorted)];
  const cuts = new Set<number>();
  if (distinct.length <= MOST_CUTS)
    for (let n = 1; n < distinct.length; n++) cuts.add(rounded(((distinct[n - 1] ?? 0) + (distinct[n] ?? 0)) / 2, 4));
  else for (let n = 1; n < MOST_CUTS; n++) cuts.add(rounded(sorted[Math.floor((n * rows.length) / MOST_CUTS)] ?? 0, 4));
  const limits = [...cuts].sort((a, b) => a - b);
  const bins = Uint8Array.from(values, (value) => limits.filter((limit) => value >= limit).length);
  return { name, cuts: limits, bins };
}

/** Slope and curvature of the loss at each row. */
interface Gradients {
  slope: Float64Array;
  curve: Float64Array;
}

interface Split {
  column: Column;
  cut: number;
  gain: number;
}

function bestSplit(
  rows: readonly number[],
  columns: readonly Column[],
  { slope, curve }: Gradients,
  { leafWeight, ridge }: BoostingOptions,
): Split | undefined {
  let slopes = 0;
  let curves = 0;
  for (const row of rows) {
    slopes += slope[row] as number;
    curves += curve[row] as number;
  }
  let best: Split | undefined;
  for (const column of columns) {
    const { length } = column.cuts;
    const slopeOf = new Float64Array(length + 1);
    const curveOf = new Float64Array(length + 1);
    for (const row of rows) {
      const bin = column.bins[row] as number;
      slopeOf[bin] = (slopeOf[bin] as number) + (slope[row] as number);
      curveOf[bin] = (curveOf[bin] as number) + (curve[row] as number);
    }
    let below = 0;
    let weight = 0;
    for (let cut = 0; cut < length; cut++) {
      below += slopeOf[cut] as number;
      weight += curveOf[cut] as number;
      if (weight < leafWeight || curves - weight < leafWeight) continue;
      const gain =
        below ** 2 / (weight + ridge) +
        (slopes - below) ** 2 / (curves - weight + ridge) -
        slopes ** 2 / (curves + ridge);
      if (gain > (best?.gain ?? LEAST_GAIN)) best = { column, cut, gain };
    }
  }
  return best;
}

function growTree(
  rows: readonly number[],
  depth: number,
  columns: readonly Column[],
  gradients: Gradients,
  options: BoostingOptions,
): Tree {
  const split = depth > 0 ? bestSplit(rows, columns, gradients, options) : undefined;
  if (split) {
    const { column, cut } = split;
    const grow = (side: (bin: number) => boolean) =>
      growTree(
        rows.filter((row) => side(column.bins[row] as number)),
        depth - 1,
        columns,
        gradients,
        options,
      );
    return {
      feature: column.name,
      limit: column.cuts[cut] as number,
      below: grow((bin) => bin <= cut),
      above: grow((bin) => bin > cut),
    };
  }
  let slope = 0;
  let curve = 0;
  for (const row of rows) {
    slope += gradients.slope[row] as number;
    curve += gradients.curve[row] as number;
  }
  return rounded((options.rate * slope) / (curve + options.ridge), 3);
}

export function trainTrees(rows: readonly Row[], options: BoostingOptions): HeadingModel {
  const names = Object.keys(rows[0]?.features ?? {});
  const columns = names.map((name) => makeColumn(name, rows));
  const weight = rows.reduce((sum, row) => sum + row.weight, 0);
  const yes = rows.reduce((sum, row) => sum + row.weight * row.label, 0);
  const base = rounded(Math.log(yes / (weight - yes)), 4);
  const odds = new Float64Array(rows.length).fill(base);
  const gradients = { slope: new Float64Array(rows.length), curve: new Float64Array(rows.length) };
  const all = rows.map((_, n) => n);
  const trees: Tree[] = [];
  for (let n = 0; n < options.trees; n++) {
    for (const [row, { label, weight: one }] of rows.entries()) {
      const chance = 1 / (1 + Math.exp(-(odds[row] as number)));
      gradients.slope[row] = one * (label - chance);
      gradients.curve[row] = one * Math.max(1e-6, chance * (1 - chance));
    }
    const tree = growTree(all, options.depth, columns, gradients, options);
    trees.push(tree);
    for (const [row, { features }] of rows.entries()) odds[row] = (odds[row] as number) + readTree(tree, features);
  }
  return { base, trees };
}

/** How much the weights of a logistic regression are drawn to 0. */
const RIDGE = 0.02;
const STEPS = 2000;
const STEP = 0.5;

/** Weights without a constant: for rows that say of a pair which of the two is the higher one. */
export function trainWeights(rows: readonly { values: readonly number[]; label: number; weight: number }[]): number[] {
  const size = rows[0]?.values.length ?? 0;
  const total = rows.reduce((sum, row) => sum + row.weight, 0);
  const weights = new Float64Array(size);
  for (let step = 0; step < STEPS; step++) {
    const slope = new Float64Array(size);
    for (const { values, label, weight } of rows) {
      const score = values.reduce((sum, value, n) => sum + value * (weights[n] as number), 0);
      const miss = weight * (label - 1 / (1 + Math.exp(-score)));
      for (const [n, value] of values.entries()) slope[n] = (slope[n] as number) + miss * value;
    }
    for (const [n, value] of slope.entries())
      weights[n] = (weights[n] as number) + STEP * (value / total - RIDGE * 0.1 * (weights[n] as number));
  }
  return [...weights].map((value) => rounded(value, 3));
}
