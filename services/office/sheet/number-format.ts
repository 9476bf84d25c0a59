// Shows numbers as their cells do: the number format codes of spreadsheets (ECMA-376-1, 18.8.31), compiled once a style.

/** Formats that files name by number only (18.8.30); 14 and 22 follow the reader's locale, so they are given as ISO 8601. */
export const BUILT_IN: Record<number, string> = {
  0: 'General',
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  5: '$#,##0;-$#,##0',
  6: '$#,##0;-$#,##0',
  7: '$#,##0.00;-$#,##0.00',
  8: '$#,##0.00;-$#,##0.00',
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  12: '# ?/?',
  13: '# ??/??',
  14: 'yyyy-mm-dd',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'yyyy-mm-dd h:mm',
  37: '#,##0;(#,##0)',
  38: '#,##0;(#,##0)',
  39: '#,##0.00;(#,##0.00)',
  40: '#,##0.00;(#,##0.00)',
  41: '#,##0;-#,##0;"-"',
  42: '$#,##0;-$#,##0;"-"',
  43: '#,##0.00;-#,##0.00;"-"',
  44: '$#,##0.00;-$#,##0.00;"-"',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss.0',
  48: '##0.0E+0',
  49: '@',
}; // prettier-ignore

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]; // prettier-ignore
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MS_PER_DAY = 86_400_000;
/** Codes longer than this are not formats. */
const CODE_LENGTH = 1_000;

type Token =
  | { kind: 'literal'; text: string }
  | { kind: 'digits'; text: string }
  | { kind: 'point' | 'comma' | 'percent' | 'slash' | 'text' | 'general' }
  | { kind: 'exponent'; sign: boolean }
  | { kind: 'date'; unit: string; length: number }
  | { kind: 'elapsed'; unit: string; length: number }
  | { kind: 'meridiem'; text: string };

interface Section {
  tokens: Token[];
  condition: ((value: number) => boolean) | undefined;
  date: boolean;
}

/** Shows a value; dates count days from the workbook's epoch. */
export type NumberFormat = (value: number) => string;

/** A number as the General format gives it: up to 15 significant digits, no exponent for everyday sizes. */
export function generalNumber(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const rounded = Number(value.toPrecision(15));
  const size = Math.abs(rounded);
  if (rounded !== 0 && (size >= 1e21 || size < 1e-9)) return rounded.toExponential().replace('e', 'E');
  return size < 1e-6 && rounded !== 0 ? rounded.toFixed(15).replace(/0+$/, '') : String(rounded);
}

function splitSections(code: string): string[] {
  const sections: string[] = [];
  let current = '';
  for (let i = 0; i < code.length; i++) {
    const at = code.charAt(i);
    if (at === '"') {
      const end = code.indexOf('"', i + 1);
      const stop = end < 0 ? code.length : end;
      current += code.slice(i, stop + 1);
      i = stop;
    } else if (at === '\\') {
      current += code.slice(i, i + 2);
      i++;
    } else if (at === ';') {
      sections.push(current);
      current = '';
    } else current += at;
  }
  sections.push(current);
  return sections;
}

function comparison(operator: string, limit: number): (value: number) => boolean {
  switch (operator) {
    case '<':
      return (value) => value < limit;
    case '<=':
      return (value) => value <= limit;
    case '>':
      return (value) => value > limit;
    case '>=':
      return (value) => value >= limit;
    case '<>':
      return (value) => value !== limit;
    default:
      return (value) => value === limit;
  }
} // prettier-ignore

/** `[...]`: a currency or locale, an elapsed time, a condition, or a colour, which says nothing in text. */
function readBracket(inside: string, section: Section): void {
  const currency = /^\$([^-]*)(?:-.*)?$/.exec(inside);
  if (currency) {
    if (currency[1]) section.tokens.push({ kind: 'literal', text: currency[1] });
    return;
  }
  const elapsed = /^(h+|m+|s+)$/i.exec(inside)?.[1];
  if (elapsed) {
    section.tokens.push({ kind: 'elapsed', unit: elapsed.charAt(0).toLowerCase(), length: elapsed.length });
    section.date = true;
    return;
  }
  const condition = /^(<=|>=|<>|<|>|=)(-?\d+(?:\.\d+)?)$/.exec(inside);
  if (condition) section.condition = comparison(condition[1] as string, Number(condition[2]));
}

function compileSection(code: string): Section {
  const section: Section = { tokens: [], condition: undefined, date: false };
  const { tokens } = section;
  for (let i = 0; i < code.length; ) {
    const rest = code.slice(i);
    const at = rest.charAt(0);
    const meridiem = /^(?:AM\/PM|A\/P)/i.exec(rest)?.[0];
    const general = /^general/i.exec(rest)?.[0];
    const digits = /^[0#?]+/.exec(rest)?.[0];
    const unit = /^(?:y+|m+|d+|h+|s+|e+(?![+-])|g+|b+|a{3,4})/i.exec(rest)?.[0];
    if (at === '"') {
      const end = rest.indexOf('"', 1);
      tokens.push({ kind: 'literal', text: rest.slice(1, end < 0 ? undefined : end) });
      i += end < 0 ? rest.length : end + 1;
    } else if (at === '\\') {
      tokens.push({ kind: 'literal', text: rest.charAt(1) });
      i += 2;
    } else if (at === '_') {
      // Room as wide as the next character.
      tokens.push({ kind: 'literal', text: ' ' });
      i += 2;
    } else if (at === '*') i += 2;
    else if (at === '[') {
      const end = rest.indexOf(']');
      readBracket(rest.slice(1, end < 0 ? undefined : end), section);
      i += end < 0 ? rest.length : end + 1;
    } else if (meridiem) {
      tokens.push({ kind: 'meridiem', text: meridiem });
      section.date = true;
      i += meridiem.length;
    } else if (general) {
      tokens.push({ kind: 'general' });
      i += general.length;
    } else if (digits) {
      tokens.push({ kind: 'digits', text: digits });
      i += digits.length;
    } else if (/^E[+-]/i.test(rest)) {
      tokens.push({ kind: 'exponent', sign: rest.charAt(1) === '+' });
      i += 2;
    } else if (unit) {
      tokens.push({ kind: 'date', unit: unit.charAt(0).toLowerCase(), length: unit.length });
      section.date = true;
      i += unit.length;
    } else {
      const kind = ({ '.': 'point', ',': 'comma', '%': 'percent', '/': 'slash', '@': 'text' } as const)[at];
      tokens.push(kind ? { kind } : { kind: 'literal', text: at });
      i++;
    }
  }
  if (section.date) minutesApart(tokens);
  return section;
}

/** `m` beside hours or seconds is minutes, else months. */
function minutesApart(tokens: Token[]): void {
  const units = tokens.filter((token) => token.kind === 'date' || token.kind === 'elapsed');
  units.forEach((token, i) => {
    if (token.kind !== 'date' || token.unit !== 'm' || token.length > 2) return;
    if (units[i - 1]?.unit === 'h' || units[i + 1]?.unit === 's' || units[i - 1]?.unit === 's') token.unit = 'n';
  });
}

/** The moment of a serial day (1900 epoch with its false leap day, or 1904). */
export function serialDate(value: number, date1904: boolean): Date {
  const days = date1904 ? value + 1462 : value < 60 ? value + 1 : value;
  return new Date(Math.round((days - 25_569) * MS_PER_DAY));
}

function formatDate(section: Section, value: number, date1904: boolean): string {
  const fraction = section.tokens.findIndex(
    (token, i) => token.kind === 'digits' && section.tokens[i - 1]?.kind === 'point',
  );
  const decimals = fraction >= 0 ? (section.tokens[fraction] as { text: string }).text.length : 0;
  const precision = 10 ** decimals;
  // What is not shown is rounded away first, so that 59.9999 seconds make a minute.
  const seconds = Math.round(value * 86_400 * precision) / precision;
  const date = serialDate(seconds / 86_400, date1904);
  if (Number.isNaN(date.getTime())) return generalNumber(value);
  const twelve = section.tokens.some((token) => token.kind === 'meridiem');
  const pad = (number: number, length: number) => String(number).padStart(length >= 2 ? 2 : 1, '0');
  let text = '';
  section.tokens.forEach((token, i) => {
    if (token.kind === 'literal') text += token.text;
    else if (token.kind === 'meridiem')
      text += token.text.length === 3 ? (date.getUTCHours() < 12 ? 'A' : 'P') : date.getUTCHours() < 12 ? 'AM' : 'PM';
    else if (token.kind === 'elapsed') {
      const whole = token.unit === 'h' ? seconds / 3600 : token.unit === 'm' ? seconds / 60 : seconds;
      text += String(Math.floor(whole + 1e-9)).padStart(token.length, '0');
    } else if (token.kind === 'date') {
      const month = date.getUTCMonth();
      switch (token.unit) {
        case 'y':
        case 'e':
          text +=
            token.length <= 2 && token.unit === 'y'
              ? pad(date.getUTCFullYear() % 100, 2)
              : String(date.getUTCFullYear());
          break;
        case 'm':
          text +=
            token.length === 5
              ? (MONTHS[month] ?? '').charAt(0)
              : token.length === 4
                ? MONTHS[month]
                : token.length === 3
                  ? MONTHS[month]?.slice(0, 3)
                  : pad(month + 1, token.length);
          break;
        case 'd':
          text +=
            token.length >= 4
              ? DAYS[date.getUTCDay()]
              : token.length === 3
                ? DAYS[date.getUTCDay()]?.slice(0, 3)
                : pad(date.getUTCDate(), token.length);
          break;
        case 'a':
          text += token.length >= 4 ? DAYS[date.getUTCDay()] : DAYS[date.getUTCDay()]?.slice(0, 3);
          break;
        case 'h':
          text += pad(twelve ? date.getUTCHours() % 12 || 12 : date.getUTCHours(), token.length);
          break;
        case 'n':
          text += pad(date.getUTCMinutes(), token.length);
          break;
        case 's':
          text += pad(date.getUTCSeconds(), token.length);
          break;
        default:
          break;
      }
    } else if (token.kind === 'point' && i === fraction - 1) text += '.';
    else if (token.kind === 'digits' && i === fraction)
      text += String(Math.round((((seconds % 1) + 1) % 1) * precision)).padStart(decimals, '0');
    else if (token.kind === 'point') text += '.';
    else if (token.kind === 'comma') text += ',';
    else if (token.kind === 'slash') text += '/';
  }); // prettier-ignore
  return text.trim();
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
      : 0; // prettier-ignore
  const size = Math.abs(value);
  let whole = mixed ? Math.floor(size) : 0;
  const maximum = 10 ** (after?.kind === 'digits' ? after.text.length : 1) - 1;
  let [over, under] = fixed > 0 ? [Math.round((size - whole) * fixed), fixed] : nearestFraction(size - whole, maximum);
  if (mixed && over === under && over > 0) [whole, over, under] = [whole + 1, 0, 1];
  const sign = value < 0 ? '-' : '';
  if (over === 0) return `${sign}${whole}`;
  return `${sign}${mixed && whole > 0 ? `${whole} ` : ''}${over}/${under}`;
}

function formatNumber(section: Section, value: number, signed: boolean): string {
  const { tokens } = section;
  if (tokens.some((token) => token.kind === 'slash') && tokens.some((token) => token.kind === 'digits'))
    return formatFraction(section, value); // prettier-ignore
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
    ); // prettier-ignore
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
    .join(''); // prettier-ignore
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

/** Compiles a format code. Never throws; a code that makes no sense shows numbers as General does. */
export function compileFormat(code: string, date1904: boolean): NumberFormat {
  const trimmed = code.trim();
  if (trimmed === '' || trimmed.length > CODE_LENGTH || /^general$/i.test(trimmed) || trimmed === '@')
    return generalNumber;
  const sections = splitSections(trimmed).map(compileSection);
  const numeric = sections.slice(0, 3);
  return (value) => {
    const { section, signed } = choose(numeric, value);
    if (!section) return generalNumber(value);
    if (section.date) return formatDate(section, value, date1904);
    return formatNumber(section, value, signed).replace(/\s+/g, ' ').trim();
  };
}

/** Positive; negative; zero - unless conditions say otherwise. A section of its own for negatives shows its own sign. */
function choose(sections: Section[], value: number): { section: Section | undefined; signed: boolean } {
  const [first, second, third] = sections;
  if (sections.some((section) => section.condition)) {
    const section = sections.find((one) => one.condition?.(value)) ?? sections.find((one) => !one.condition) ?? first;
    return { section, signed: section === first || sections.length < 3 };
  }
  if (value < 0 && second) return { section: second, signed: false };
  if (value === 0 && third) return { section: third, signed: false };
  return { section: first, signed: true };
}
