// Reads the trained model: how sure a candidate is a heading, from boosted decision trees.
import type { Features } from './features.ts';

/** A leaf's score, or a question: is the feature below the limit? */
export type Tree = number | { feature: string; limit: number; below: Tree; above: Tree };

export interface HeadingModel {
  base: number;
  trees: readonly Tree[];
}

/** Reads a tree from its text: the question, then the tree of yes, then the tree of no: `bold<0.5 -0.2 0.4`. */
export function parseTree(text: string): Tree {
  const words = text.split(' ');
  const next = (): Tree => {
    const word = words.shift() ?? '0';
    const [feature = '', limit] = word.split('<');
    return limit === undefined ? Number(word) : { feature, limit: Number(limit), below: next(), above: next() };
  };
  return next();
}

export function printTree(tree: Tree): string {
  if (typeof tree === 'number') return String(tree);
  return `${tree.feature}<${tree.limit} ${printTree(tree.below)} ${printTree(tree.above)}`;
}

export function readTree(tree: Tree, features: Features): number {
  let at = tree;
  while (typeof at !== 'number') at = (features[at.feature] ?? 0) < at.limit ? at.below : at.above;
  return at;
}

/** The logarithm of the odds that a text with these features is a heading. */
export function headingOdds(model: HeadingModel, features: Features): number {
  return model.trees.reduce<number>((sum, tree) => sum + readTree(tree, features), model.base);
}
