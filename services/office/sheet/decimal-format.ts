// Shows numbers as the digit placeholders of a spreadsheet's number format ask: grouping, decimals, exponents, fractions (ECMA-376-1, 18.8.31).
import type { Section, Token } from './format-code.ts';

/** A number as the General format gives it: up to 15 significant digits, no exponent for everyday sizes. */
export function generalNumber(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const rounded = Number(value.toPrecision(15));
  const size = Math.abs(rounded);
  if (rounded !== 0 && (size >= 1e21 || size < 1e-9)) return rounded.toExponential().replace('e', 'E');
  return size < 1e-6 && rounded !== 0 ? rounded.toFixed(15).replace(/0+$/, '') : String(rounded);
}

function group(digits: string): string {
  return digits.replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** The nearest fraction with a denominator of at most so many digits, by continued fractions. */
function nearestFraction(value: number, maximum: number): [number, number] {
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

function formatFraction(section: Section, value: number): string {
  const slash = section.tokens.findIndex((token) => token.kind === 'slash');
  const after = section.tokens.slice(slash + 1).find((token) => token.kind === 'digits' || token.kind === 'literal');
  const mixed = section.tokens.slice(0, slash).filter((token) => token.kind === 'digits').length > 1;
  const fixed =
    after?.kind === 'literal'
      ? Number(
          section.tokens
            .slice(slash + 1)
            .map((token) => (token.kind === 'literal' ? token.text : ''))
            .join(''),
        )
      : 0;
  const size = Math.abs(value);
  let whole = mixed ? Math.floor(size) : 0;
  const maximum = 10 ** (after?.kind === 'digits' ? after.text.length : 1) - 1;
  let [over, under] = fixed > 0 ? [Math.round((size - whole) * fixed), fixed] : nearestFraction(size - whole, maximum);
  if (mixed && over === under && over > 0) [whole, over, under] = [whole + 1, 0, 1];
  const sign = value < 0 ? '-' : '';
  if (over === 0) return `${sign}${whole}`;
  return `${sign}${mixed && whole > 0 ? `${whole} ` : ''}${over}/${under}`;
}

/** A number by a section without date tokens; `signed` where the section does not show the sign itself. */
export function formatNumber(section: Section, value: number, signed: boolean): string {
  const { tokens } = section;
  if (tokens.some((token) => token.kind === 'slash') && tokens.some((token) => token.kind === 'digits'))
    return formatFraction(section, value);
  const placeholders = tokens.filter((token) => token.kind === 'digits');
  if (placeholders.length === 0) {
    const sign = signed && value < 0 && tokens.some((token) => token.kind === 'general') ? '-' : '';
    return (
      sign +
      tokens
        .map((token) =>
          token.kind === 'literal'
            ? token.text
            : token.kind === 'general'
              ? generalNumber(Math.abs(value))
              : token.kind === 'percent'
                ? '%'
                : token.kind === 'text'
                  ? generalNumber(value)
                  : '',
        )
        .join('')
    );
  }
  const firstDigit = tokens.findIndex((token) => token.kind === 'digits');
  const lastDigit = tokens.findLastIndex((token) => token.kind === 'digits');
  const point = tokens.findIndex((token, i) => token.kind === 'point' && i >= firstDigit - 1);
  const exponent = tokens.findIndex((token) => token.kind === 'exponent');
  const integerEnd = point >= 0 ? point : exponent >= 0 ? exponent : tokens.length;
  const isInteger = (i: number) => i < integerEnd;
  const isExponent = (i: number) => exponent >= 0 && i > exponent;
  const integerPattern = tokens.map((token, i) => (token.kind === 'digits' && isInteger(i) ? token.text : '')).join('');
  const decimalPattern = tokens
    .map((token, i) => (token.kind === 'digits' && !isInteger(i) && !isExponent(i) ? token.text : ''))
    .join('');
  const grouped = tokens.some((token, i) => token.kind === 'comma' && i > firstDigit && i < lastDigit && isInteger(i));
  // Commas behind the last digit divide by a thousand each.
  const mantissaEnd = tokens.findLastIndex((token, i) => token.kind === 'digits' && !isExponent(i));
  let scale = 0;
  for (let i = mantissaEnd + 1; tokens[i]?.kind === 'comma'; i++) scale++;
  for (let i = integerEnd - 1; point >= 0 && tokens[i]?.kind === 'comma'; i--) scale++;
  let size = Math.abs(value) / 1000 ** scale;
  for (const token of tokens) if (token.kind === 'percent') size *= 100;
  let power = 0;
  if (exponent >= 0 && size > 0) {
    const width = Math.max(1, integerPattern.length);
    power = Math.floor(Math.log10(size));
    power = width > 1 ? Math.floor(power / width) * width : power;
    size /= 10 ** power;
  }
  const shown = roundedDecimal(size, Math.min(decimalPattern.length, 30));
  let [whole = '0', decimals = ''] = shown.split('.');
  const needed = decimalPattern.replace(/[#?]+$/, '').length;
  while (decimals.length > needed && decimals.endsWith('0')) decimals = decimals.slice(0, -1);
  const required = integerPattern.replace(/[^0]/g, '').length;
  whole = whole.replace(/^0+(?=\d)/, '').padStart(required, '0');
  if (required === 0 && whole === '0') whole = '';
  const digits = grouped ? group(whole) : whole;
  const negative = signed && value < 0 && /[1-9]/.test(whole + decimals);
  return (negative ? '-' : '') + assemble(tokens, { digits, decimals, power, integerEnd, exponent, grouped });
}

interface Shown {
  digits: string;
  decimals: string;
  power: number;
  integerEnd: number;
  exponent: number;
  grouped: boolean;
}

/** Rounded half up in decimal: what counts is what was typed (1.005), not its binary neighbour below. */
function roundedDecimal(size: number, decimals: number): string {
  const typed = size.toPrecision(15);
  const scaled = typed.includes('e') ? Number.NaN : Math.round(Number(`${typed}e${decimals}`));
  const rounded = scaled <= Number.MAX_SAFE_INTEGER ? Number(`${scaled}e-${decimals}`) : size;
  const shown = rounded.toFixed(decimals);
  return shown.includes('e') ? generalNumber(size) : shown;
}

/** Puts the digits where the placeholders stand; literals inside a number (phone numbers) split them from the right. */
function assemble(tokens: Token[], { digits, decimals, power, integerEnd, exponent, grouped }: Shown): string {
  const integerTokens = tokens.flatMap((token, i) => (token.kind === 'digits' && i < integerEnd ? [i] : []));
  const parts = new Map<number, string>();
  let left = digits;
  for (let n = integerTokens.length - 1; n >= 0; n--) {
    const index = integerTokens[n] as number;
    const length = (tokens[index] as { text: string }).text.length;
    const take = n === 0 || grouped ? left.length : Math.min(length, left.length);
    parts.set(index, left.slice(left.length - take));
    left = left.slice(0, left.length - take);
  }
  let text = '';
  let decimalsLeft = decimals;
  let written = integerTokens.length === 0 ? digits : '';
  tokens.forEach((token, i) => {
    if (token.kind === 'literal') text += token.text;
    else if (token.kind === 'percent') text += '%';
    else if (token.kind === 'point') {
      text += written + (decimals === '' ? '' : '.');
      written = '';
    } else if (token.kind === 'exponent') text += `E${power < 0 ? '-' : token.sign ? '+' : ''}`;
    else if (token.kind === 'digits') {
      if (exponent >= 0 && i > exponent) text += String(Math.abs(power)).padStart(token.text.length, '0');
      else if (i < integerEnd) text += parts.get(i) ?? '';
      else {
        text += decimalsLeft.slice(0, token.text.length);
        decimalsLeft = decimalsLeft.slice(token.text.length);
      }
    }
  });
  return text;
}
