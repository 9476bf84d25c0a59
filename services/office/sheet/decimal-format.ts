// Writes numbers with the digit placeholders of a number format: grouping, decimals and exponents (ECMA-376-1, 18.8.31).
import type { Section, Token } from './format-code.ts';
import { fractionWriter } from './fraction-format.ts';

/** Spreadsheets keep this many significant digits. */
const SIGNIFICANT_DIGITS = 15;
const MAX_DECIMALS = 30;

/** A number in the General format: up to 15 significant digits, with an exponent only if it is very large or very small. */
export function generalNumber(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const rounded = Number(value.toPrecision(SIGNIFICANT_DIGITS));
  const size = Math.abs(rounded);
  if (rounded !== 0 && (size >= 1e21 || size < 1e-9)) return rounded.toExponential().replace('e', 'E');
  return size < 1e-6 && rounded !== 0 ? rounded.toFixed(15).replace(/0+$/, '') : String(rounded);
}

/**
 * Compiles a section that has no date tokens.
 * `signed`, a parameter of the returned function: whether to write the minus sign of a negative number. It is false for a
 * section that is only for negative numbers, because such a section contains its own sign.
 */
export function numberWriter({ tokens }: Section): (value: number, signed: boolean) => string {
  if (!tokens.some((token) => token.kind === 'digits'))
    return (value, signed) => formatWithoutDigits(tokens, value, signed);
  if (tokens.some((token) => token.kind === 'slash')) return fractionWriter(tokens);
  const places = findPlaces(tokens);
  return (value, signed) => {
    const rounded = roundToPlaces(Math.abs(value), places, places.exponent < tokens.length);
    const negative = signed && value < 0 && /[1-9]/.test(rounded.whole + rounded.decimals);
    return (negative ? '-' : '') + assemble(tokens, places, rounded);
  };
}

function formatWithoutDigits(tokens: readonly Token[], value: number, signed: boolean): string {
  const sign = signed && value < 0 && tokens.some((token) => token.kind === 'general') ? '-' : '';
  const parts = tokens.map((token) => {
    if (token.kind === 'literal') return token.text;
    if (token.kind === 'general') return generalNumber(Math.abs(value));
    if (token.kind === 'text') return generalNumber(value);
    return token.kind === 'percent' ? '%' : '';
  });
  return sign + parts.join('');
}

/** The positions of the parts of a number among the tokens of its section, and the scale of its value. */
interface Places {
  /** Index of the first token after the integer digits. */
  integerEnd: number;
  /** Index of the exponent; the number of tokens if there is none. */
  exponent: number;
  integerPattern: string;
  decimalPattern: string;
  /** A comma between integer digits groups them by thousands. */
  grouped: boolean;
  /** Each `%` multiplies the value by 100. */
  percents: number;
  /** Each comma after the digits divides the value by 1,000. */
  thousands: number;
}

function findPlaces(tokens: readonly Token[]): Places {
  const isDigits = (token: Token | undefined): boolean => token?.kind === 'digits';
  const firstDigit = tokens.findIndex(isDigits);
  const point = tokens.findIndex((token, i) => token.kind === 'point' && i >= firstDigit - 1);
  const found = tokens.findIndex((token) => token.kind === 'exponent');
  const exponent = found < 0 ? tokens.length : found;
  const integerEnd = point < 0 ? exponent : point;
  const pattern = (from: number, to: number): string =>
    tokens.map((token, i) => (token.kind === 'digits' && i >= from && i < to ? token.text : '')).join('');
  const lastInteger = tokens.findLastIndex((token, i) => isDigits(token) && i < integerEnd);
  let thousands = 0;
  const lastMantissa = tokens.findLastIndex((token, i) => isDigits(token) && i < exponent);
  for (let i = lastMantissa + 1; tokens[i]?.kind === 'comma'; i++) thousands++;
  for (let i = integerEnd - 1; point >= 0 && tokens[i]?.kind === 'comma'; i--) thousands++;
  return {
    integerEnd,
    exponent,
    integerPattern: pattern(0, integerEnd),
    decimalPattern: pattern(integerEnd, exponent),
    grouped: tokens.some((token, i) => token.kind === 'comma' && i > firstDigit && i < lastInteger),
    percents: tokens.filter((token) => token.kind === 'percent').length,
    thousands,
  };
}

interface Rounded {
  whole: string;
  decimals: string;
  /** The power of ten that the exponent shows. */
  power: number;
}

function roundToPlaces(size: number, places: Places, hasExponent: boolean): Rounded {
  const { integerPattern, decimalPattern, percents, thousands } = places;
  const scaled = (size * 100 ** percents) / 1000 ** thousands;
  const count = Math.min(decimalPattern.length, MAX_DECIMALS);
  const { shown, power } = hasExponent
    ? roundWithExponent(scaled, count, Math.max(1, integerPattern.length))
    : { shown: roundDecimal(scaled, count), power: 0 };
  let [whole = '0', decimals = ''] = shown.split('.');
  const needed = decimalPattern.replace(/[#?]+$/, '').length;
  while (decimals.length > needed && decimals.endsWith('0')) decimals = decimals.slice(0, -1);
  const required = integerPattern.replace(/[^0]/g, '').length;
  whole = whole.replace(/^0+(?=\d)/, '').padStart(required, '0');
  return { whole: required === 0 && whole === '0' ? '' : whole, decimals, power };
}

/** @param width the number of integer digits; the power is a multiple of it */
function roundWithExponent(size: number, count: number, width: number): { shown: string; power: number } {
  if (size === 0) return { shown: roundDecimal(0, count), power: 0 };
  let power = Math.floor(Math.floor(Math.log10(size)) / width) * width;
  let shown = roundDecimal(size / 10 ** power, count);
  if (Number(shown) >= 10 ** width) {
    // Rounding has added a digit: 99.995 is 1.00E+02 and not 10.00E+01.
    power += width;
    shown = roundDecimal(size / 10 ** power, count);
  }
  return { shown, power };
}

/** Rounds half up in decimal: 1.005 becomes 1.01, although its binary form is a little smaller than 1.005. */
function roundDecimal(size: number, count: number): string {
  const typed = size.toPrecision(SIGNIFICANT_DIGITS);
  if (typed.includes('e')) {
    const fixed = size.toFixed(count);
    return fixed.includes('e') ? generalNumber(size) : fixed;
  }
  const scaled = Math.round(Number(`${typed}e${count}`));
  if (scaled <= Number.MAX_SAFE_INTEGER) return Number(`${scaled}e-${count}`).toFixed(count);
  // The value has fewer significant digits than places, so nothing is rounded.
  const [whole = '0', decimals = ''] = typed.split('.');
  return `${whole}.${decimals.padEnd(count, '0').slice(0, count)}`;
}

/** Puts the digits into their placeholders, with the literals between them, as in a phone number. */
function assemble(tokens: readonly Token[], places: Places, { whole, decimals, power }: Rounded): string {
  const { integerEnd, exponent, grouped } = places;
  const parts = splitInteger(tokens, integerEnd, whole, grouped);
  const hasInteger = parts.size > 0;
  const empty = whole === '' && decimals === '';
  let text = '';
  let left = decimals;
  tokens.forEach((token, i) => {
    if (token.kind === 'literal') text += token.text;
    else if (token.kind === 'percent') text += '%';
    else if (token.kind === 'point' && i === integerEnd) text += (hasInteger ? '' : whole) + (empty ? '' : '.');
    else if (token.kind === 'point') text += '.';
    else if (token.kind === 'exponent') text += `E${power < 0 ? '-' : token.sign ? '+' : ''}`;
    else if (token.kind === 'digits' && i > exponent) text += String(Math.abs(power)).padStart(token.text.length, '0');
    else if (token.kind === 'digits' && i < integerEnd) text += parts.get(i) ?? '';
    else if (token.kind === 'digits') {
      text += left.slice(0, token.text.length);
      left = left.slice(token.text.length);
    }
  });
  return text;
}

/** The integer digits of each token, by its index. Tokens are filled from the right; the first one gets all remaining digits. */
function splitInteger(tokens: readonly Token[], end: number, whole: string, grouped: boolean): Map<number, string> {
  const indexes = tokens.flatMap((token, i) => (token.kind === 'digits' && i < end ? [i] : []));
  const parts = new Map<number, string>();
  let left = whole.length;
  for (const index of indexes.reverse()) {
    const token = tokens[index];
    const width = token?.kind === 'digits' ? token.text.length : 0;
    const from = index === indexes.at(-1) ? 0 : Math.max(0, left - width);
    parts.set(index, grouped ? groupDigits(whole, from, left) : whole.slice(from, left));
    left = from;
  }
  return parts;
}

/** The digits `from` to `to` of an integer, with the commas of the integer. */
function groupDigits(whole: string, from: number, to: number): string {
  let text = '';
  for (let i = from; i < to; i++) text += (i > 0 && (whole.length - i) % 3 === 0 ? ',' : '') + whole.charAt(i);
  return text;
}
