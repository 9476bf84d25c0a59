// Generates pseudorandom numbers from a seed, so that every failure can be repeated.

/** Numbers at the boundaries of number types, and texts that are not numbers. */
export const BOUNDARY_NUMBERS = [
  '0',
  '-1',
  '1',
  '255',
  '256',
  '65535',
  '65536',
  '2147483647',
  '-2147483648',
  '4294967295',
  '99999999999',
  '9007199254740993',
  '1e308',
  '-1e-9',
  'NaN',
  'Infinity',
  '0x10',
  '',
  ' ',
  '１２',
  '1.5.2',
  '1048577',
] as const;

export interface Random {
  /** An integer from 0 to below `limit`; 0 if `limit` is not positive. */
  below(limit: number): number;
  /** True in one of `n` cases. */
  oneIn(n: number): boolean;
  pick<T>(items: readonly T[]): T;
}

/** Creates a Mulberry32 generator for a seed and the number of a case. */
export function createRandom(seed: number, index: number): Random {
  let state = (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(index + 1, 0xc2b2ae35)) >>> 0;
  const unit = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(unit() * Math.max(0, limit));
  return { below, oneIn: (n) => below(n) === 0, pick: (items) => items[below(items.length)]! };
}
