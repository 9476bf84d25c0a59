// Writes words that stand as a formula in LaTeX: fractions by their bars, limits, roots, and scripts by size and baseline.
// Formulas made by hand that need its rules: latex.test.ts.
import { type Box, boundingBox, overlap } from '../source/geometry.ts';
import type { Ruling, Word } from '../source/page-model.ts';
import { isLargeOperator, latexSymbol } from './latex-symbols.ts';

/** A script is smaller than this share of its base, and shifted by this share of it. */
const SCRIPT_SIZE = 0.87;
const SCRIPT_SHIFT = 0.1;
/** How far a fraction's bar reaches up and down, in type sizes. */
const BAR_REACH = 2.6;
/** Formulas within formulas. */
const MAX_DEPTH = 8;

interface Piece {
  latex: string;
  box: Box;
  baseline: number;
  size: number;
  /** A sum, an integral, a limit: small type above and below it are its limits. */
  large: boolean;
  root: boolean;
}

/** @param bars level rulings among the words */
export function formulaLatex(words: readonly Word[], bars: readonly Ruling[]): string {
  const pieces = words.map((word): Piece => {
    const large = isLargeOperator(word);
    return {
      latex: latexSymbol(word),
      box: word.box,
      baseline: word.baseline,
      size: word.style.size,
      large,
      root: /√$/.test(word.text),
    };
  });
  return tidy(build(foldBars(pieces, bars), 0));
}

function tidy(latex: string): string {
  return latex
    .replace(/\s+/g, ' ')
    .replace(/ ([_^}])/g, '$1')
    .replace(/ ?([()[\],/|!;]) ?/g, '$1')
    .replace(/,(?=\S)/g, ', ')
    .replace(/\{ /g, '{')
    .trim();
}

/** Fractions and roots become one piece each, the narrowest bar first, so that the wider ones hold them. */
function foldBars(pieces: readonly Piece[], bars: readonly Ruling[]): Piece[] {
  let rest = [...pieces];
  for (const bar of [...bars].sort((a, b) => a.end - a.start - (b.end - b.start))) {
    const under = rest.filter((piece) => {
      const middle = (piece.box.x0 + piece.box.x1) / 2;
      return (
        middle > bar.start - 1 && middle < bar.end + 1 && Math.abs(piece.baseline - bar.at) < piece.size * BAR_REACH
      );
    });
    const above = under.filter((piece) => piece.baseline <= bar.at + piece.size * 0.1);
    const below = under.filter((piece) => piece.baseline > bar.at + piece.size * 0.1);
    if (below.length === 0) continue;
    const size = Math.max(...below.map((piece) => piece.size));
    const root = rest.find(
      (piece) => piece.root && Math.abs(piece.box.x1 - bar.start) < size * 0.4 && !below.includes(piece),
    );
    const inner = root ? below : above.length > 0 ? [...above, ...below] : [];
    if (inner.length === 0) continue;
    const taken = new Set(root ? [root, ...inner] : inner);
    const latex = root ? `\\sqrt{${build(below, 1)}}` : `\\frac{${build(above, 1)}}{${build(below, 1)}}`;
    const main = Math.max(...inner.map((piece) => piece.size));
    rest = rest.filter((piece) => !taken.has(piece));
    rest.push({
      latex,
      box: boundingBox([...taken].map((piece) => piece.box)),
      baseline: root ? mainBaseline(below) : bar.at + main * 0.25,
      size: main,
      large: false,
      root: false,
    });
  }
  return rest;
}

function mainSize(pieces: readonly Piece[]): number {
  return Math.max(...pieces.filter((piece) => !piece.large).map((piece) => piece.size));
}

function mainBaseline(pieces: readonly Piece[]): number {
  const size = mainSize(pieces);
  const base = pieces.filter((piece) => !piece.large && piece.size > size * SCRIPT_SIZE);
  const sorted = base.map((piece) => piece.baseline).sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}

function build(pieces: readonly Piece[], depth: number): string {
  const sorted = [...pieces].sort((a, b) => a.box.x0 - b.box.x0);
  if (depth > MAX_DEPTH) return sorted.map((piece) => piece.latex).join(' ');
  const size = mainSize(sorted);
  const baseline = mainBaseline(sorted);
  const isScript = (piece: Piece) =>
    !piece.large && piece.size < size * SCRIPT_SIZE && Math.abs(piece.baseline - baseline) > size * SCRIPT_SHIFT;
  let scripts = sorted.filter(isScript);
  const out: string[] = [];
  const limits = new Map<Piece, { above: Piece[]; below: Piece[] }>();
  for (const operator of sorted.filter((piece) => piece.large)) {
    const above = limitOf(operator, scripts, (piece) => piece.baseline < baseline - size * 0.55);
    const below = limitOf(operator, scripts, (piece) => piece.baseline > baseline + size * 0.35);
    limits.set(operator, { above, below });
    const taken = new Set([...above, ...below]);
    scripts = scripts.filter((piece) => !taken.has(piece));
  }
  const isLimit = new Set([...limits.values()].flatMap(({ above, below }) => [...above, ...below]));
  const isLoose = new Set(scripts);
  for (let n = 0; n < sorted.length; n++) {
    const piece = sorted[n] as Piece;
    if (isLimit.has(piece)) continue;
    if (!isLoose.has(piece)) {
      const limit = limits.get(piece);
      out.push(piece.latex + (limit ? scriptsLatex(limit.above, limit.below, depth) : ''));
      continue;
    }
    const up: Piece[] = [];
    const down: Piece[] = [];
    for (; n < sorted.length; n++) {
      const script = sorted[n] as Piece;
      if (isLimit.has(script)) continue;
      if (!isLoose.has(script)) break;
      (script.baseline < baseline ? up : down).push(script);
    }
    n--;
    out.push(scriptsLatex(up, down, depth));
  }
  return out.join(' ');
}

function scriptsLatex(up: readonly Piece[], down: readonly Piece[], depth: number): string {
  const primes = up.every((piece) => /^'+$/.test(piece.latex));
  const above = primes ? up.map((piece) => piece.latex).join('') : `^{${build(up, depth + 1)}}`;
  return (down.length === 0 ? '' : `_{${build(down, depth + 1)}}`) + above;
}

/** The small type that stands above or below an operator, with what runs on from it to both sides. */
function limitOf(operator: Piece, scripts: readonly Piece[], side: (piece: Piece) => boolean): Piece[] {
  const near = scripts.filter(side);
  const { x0, x1 } = operator.box;
  const width = Math.max(x1 - x0, operator.size * 0.4);
  const taken = new Set(
    near.filter((piece) => overlap(x0 - width * 0.2, x1 + width * 0.6, piece.box.x0, piece.box.x1) > 0),
  );
  for (let grown = taken.size > 0; grown; ) {
    grown = false;
    for (const piece of near) {
      if (taken.has(piece)) continue;
      const touches = [...taken].some(
        (one) => overlap(one.box.x0, one.box.x1, piece.box.x0, piece.box.x1) > -one.size * 0.35,
      );
      if (touches) {
        taken.add(piece);
        grown = true;
      }
    }
  }
  return [...taken];
}
