// Writes numbers with the fraction formats of spreadsheets, such as `# ?/?` and `# ?/16` (ECMA-376-1, 18.8.31).
import type { Token } from './format-code.ts';

interface FractionPattern {
  /** The text before and after the number. */
  before: string;
  after: string;
  /** Writes the integer before the fraction (`1 1/2`, not `3/2`). */
  mixed: boolean;
  /** Writes the integer also if it is 0. */
  zero: boolean;
  grouped: boolean;
  /** A fixed denominator, or the largest number of digits of the denominator. */
  denominator: { fixed: number } | { digits: number };
}

const isDigits = (token: Token | undefined): boolean => token?.kind === 'digits';
const textOf = (tokens: readonly Token[]): string =>
  tokens.map((token) => (token.kind === 'literal' || token.kind === 'digits' ? token.text : '')).join('');

function readPattern(tokens: readonly Token[]): FractionPattern {
  const slash = tokens.findIndex((token) => token.kind === 'slash');
  const first = tokens.findIndex(isDigits);
  const integer = tokens.slice(first, slash).filter(isDigits).slice(0, -1);
  // `16` and `100` are fixed denominators. Among the tokens, 1 to 9 are literals and 0 is a placeholder.
  const rest = tokens.slice(slash + 1);
  const denominator = /^[1-9]\d*|^[0#?]*/.exec(textOf(rest))?.[0] ?? '';
  let end = 0;
  for (let length = 0; length < denominator.length; end++) length += textOf(rest.slice(end, end + 1)).length;
  return {
    before: first < slash ? textOf(tokens.slice(0, first)) : '',
    after: textOf(rest.slice(end).filter((token) => token.kind === 'literal')),
    mixed: integer.length > 0,
    zero: textOf(integer).includes('0'),
    grouped: tokens.slice(first, slash).some((token) => token.kind === 'comma'),
    denominator: /^[1-9]/.test(denominator) ? { fixed: Number(denominator) } : { digits: denominator.length || 1 },
  };
}

/** The nearest fraction with a denominator up to `maximum`, by continued fractions. */
function nearestFraction(value: number, maximum: number): [over: number, under: number] {
  let [h1, h0, k1, k0] = [1, 0, 0, 1];
  let rest = value;
  for (let i = 0; i < 24; i++) {
    const whole = Math.floor(rest);
    const [h, k] = [whole * h1 + h0, whole * k1 + k0];
    if (k > maximum) break;
    [h0, h1, k0, k1] = [h1, h, k1, k];
    if (rest - whole < 1e-10) break;
    rest = 1 / (rest - whole);
  }
  return [h1, k1];
}

/** Compiles the tokens of a section that has a slash. */
export function fractionWriter(tokens: readonly Token[]): (value: number, signed: boolean) => string {
  const { before, after, mixed, zero, grouped, denominator } = readPattern(tokens);
  return (value, signed) => {
    const size = Math.abs(value);
    let whole = mixed ? Math.floor(size) : 0;
    const part = size - whole;
    let [over, under] =
      'fixed' in denominator
        ? [Math.round(part * denominator.fixed), denominator.fixed]
        : nearestFraction(part, 10 ** denominator.digits - 1);
    if (mixed && over === under) [whole, over] = [whole + 1, 0];
    const shown = grouped ? whole.toLocaleString('en-US') : String(whole);
    const sign = signed && value < 0 && (whole > 0 || over > 0) ? '-' : '';
    const fraction = `${over}/${under}`;
    const integer = whole > 0 || zero || over === 0 ? shown : '';
    const number = !mixed ? fraction : over === 0 ? integer : `${integer} ${fraction}`.trim();
    return sign + before + number + after;
  };
}
