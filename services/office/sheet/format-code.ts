// Reads the code of a number format (ECMA-376-1, 18.8.31) into sections of tokens, for the writers of numbers and dates.

/** Longer codes are not compiled. */
export const CODE_LENGTH = 1_000;

export type Token =
  | { kind: 'literal'; text: string }
  | { kind: 'digits'; text: string }
  | { kind: 'point' | 'comma' | 'percent' | 'slash' | 'text' | 'general' }
  | { kind: 'exponent'; sign: boolean }
  | { kind: 'date'; unit: string; length: number }
  | { kind: 'elapsed'; unit: string; length: number }
  | { kind: 'meridiem'; text: string };

export interface Section {
  tokens: Token[];
  condition: ((value: number) => boolean) | undefined;
  date: boolean;
}

export function splitSections(code: string): string[] {
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
}

/** Reads `[...]`: a currency or locale, an elapsed time, a condition, or a colour, which has no effect on the text. */
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

export function compileSection(code: string): Section {
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
      // A space as wide as the next character.
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
  if (section.date) markMinutes(tokens);
  return section;
}

/** Changes the unit of each `m` beside hours or seconds from months (`m`) to minutes (`n`). */
function markMinutes(tokens: Token[]): void {
  const units = tokens.filter((token) => token.kind === 'date' || token.kind === 'elapsed');
  units.forEach((token, i) => {
    if (token.kind !== 'date' || token.unit !== 'm' || token.length > 2) return;
    if (units[i - 1]?.unit === 'h' || units[i + 1]?.unit === 's' || units[i - 1]?.unit === 's') token.unit = 'n';
  });
}
