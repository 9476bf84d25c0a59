// Randomness that a seed repeats, so that every failure can be had again.

/** Numbers that break arithmetic, allocation and loops. */
export const ODD_NUMBERS = [
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
  /** 0 to below 1. */
  unit(): number;
  /** 0 to below `limit`; 0 where there is no room. */
  below(limit: number): number;
  /** True once in `times`. */
  once(times: number): boolean;
  pick<T>(items: readonly T[]): T;
}

/** Mulberry32 over the seed and the number of the case. */
export function randomOf(seed: number, index: number): Random {
  let state = (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(index + 1, 0xc2b2ae35)) >>> 0;
  const unit = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(unit() * Math.max(0, limit));
  return { unit, below, once: (times) => below(times) === 0, pick: (items) => items[below(items.length)]! };
}
