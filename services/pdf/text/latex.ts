// Writes words that stand as a formula in LaTeX: fractions by their bars, limits, roots, and scripts by size and baseline.
// Formulas made by hand that need its rules: latex.test.ts.
import type { Atom } from '#shared/document/formula/atom.ts';
import { BLANK } from '#shared/document/formula/atom.ts';
import { fraction, root, scripts } from '#shared/document/formula/builder.ts';
import { writeLatex } from '#shared/document/formula/latex.ts';
import { type Box, boundingBox, overlap } from '../source/geometry.ts';
import type { Ruling, Word } from '../source/page-model.ts';
import { isLargeOperator, wordAtoms } from './latex-symbols.ts';

/** A script is smaller than this share of its base, and shifted by this share of it. */
const SCRIPT_SIZE = 0.87;
const SCRIPT_SHIFT = 0.1;
/** How far a fraction's bar reaches up and down, in type sizes. */
const BAR_REACH = 2.6;
/** Formulas within formulas. */
const MAX_DEPTH = 8;

interface Piece {
  atoms: Atom[];
  /** The text at its left and its right edge; '' for a fraction, a root, or scripts. */
  starts: string;
  ends: string;
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
      atoms: wordAtoms(word),
      starts: word.text,
      ends: word.text,
      box: word.box,
      baseline: word.baseline,
      size: word.style.size,
      large,
      root: /√$/.test(word.text),
    };
  });
  return writeLatex(build(foldBars(pieces, bars), 0));
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
    const radical = rest.find(
      (piece) => piece.root && Math.abs(piece.box.x1 - bar.start) < size * 0.4 && !below.includes(piece),
    );
    const inner = radical ? below : above.length > 0 ? [...above, ...below] : [];
    if (inner.length === 0) continue;
    const taken = new Set(radical ? [radical, ...inner] : inner);
    const atoms = radical ? root(build(below, 1)) : fraction(build(above, 1), build(below, 1));
    const main = Math.max(...inner.map((piece) => piece.size));
    rest = rest.filter((piece) => !taken.has(piece));
    rest.push({
      atoms,
      starts: '',
      ends: '',
      box: boundingBox([...taken].map((piece) => piece.box)),
      baseline: radical ? mainBaseline(below) : bar.at + main * 0.25,
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

function build(pieces: readonly Piece[], depth: number): Atom[] {
  const sorted = [...pieces].sort((a, b) => a.box.x0 - b.box.x0);
  if (depth > MAX_DEPTH) return joinPieces(sorted);
  const size = mainSize(sorted);
  const baseline = mainBaseline(sorted);
  const isScript = (piece: Piece) =>
    !piece.large && piece.size < size * SCRIPT_SIZE && Math.abs(piece.baseline - baseline) > size * SCRIPT_SHIFT;
  let loose = sorted.filter(isScript);
  const limits = new Map<Piece, { above: Piece[]; below: Piece[] }>();
  for (const operator of sorted.filter((piece) => piece.large)) {
    const above = limitOf(operator, loose, (piece) => piece.baseline < baseline - size * 0.55);
    const below = limitOf(operator, loose, (piece) => piece.baseline > baseline + size * 0.35);
    limits.set(operator, { above, below });
    const taken = new Set([...above, ...below]);
    loose = loose.filter((piece) => !taken.has(piece));
  }
  const isLimit = new Set([...limits.values()].flatMap(({ above, below }) => [...above, ...below]));
  const rest = sorted.filter((piece) => !isLimit.has(piece));
  const isLoose = new Set(loose);
  const out: Piece[] = [];
  for (let n = 0; n < rest.length; n++) {
    const piece = rest[n] as Piece;
    if (!isLoose.has(piece)) {
      const limit = limits.get(piece);
      out.push(limit ? withScripts(piece, limit.above, limit.below, depth) : piece);
      continue;
    }
    let end = n;
    while (end < rest.length && isLoose.has(rest[end] as Piece)) end++;
    const run = rest.slice(n, end);
    const up = run.filter((script) => script.baseline < baseline);
    const down = run.filter((script) => script.baseline >= baseline);
    out.push(withScripts(out.pop() ?? { ...piece, atoms: [] }, up, down, depth));
    n = end - 1;
  }
  return joinPieces(out);
}

/** Scripts belong to the last sign of a word. */
function withScripts(piece: Piece, up: readonly Piece[], down: readonly Piece[], depth: number): Piece {
  if (up.length === 0 && down.length === 0) return piece;
  const sub = down.length === 0 ? [] : build(down, depth + 1);
  const sup = up.length === 0 ? [] : build(up, depth + 1);
  return { ...piece, ends: '', atoms: [...piece.atoms.slice(0, -1), ...scripts(piece.atoms.slice(-1), sub, sup)] };
}

/** The atoms of pieces in a row, with a space between a word or a number and what stands beside it. */
function joinPieces(pieces: readonly Piece[]): Atom[] {
  return pieces.flatMap((piece, n) => {
    const before = pieces[n - 1];
    return before && areApart(before.ends, piece.starts) ? [BLANK, ...piece.atoms] : piece.atoms;
  });
}

function areApart(before: string, after: string): boolean {
  if (!/(?:^|[\p{L}\p{N}])$/u.test(before) || !/^(?:$|[\p{L}\p{N}])/u.test(after)) return false;
  const isWord = /[\p{L}\p{N}]{2}$/u.test(before) || /^[\p{L}\p{N}]{2}/u.test(after);
  return isWord || (/\p{N}$/u.test(before) && /^\p{N}/u.test(after));
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
