// Shows numbers as their cells do: the number format codes of spreadsheets (ECMA-376-1, 18.8.31), compiled once a style.
import { formatDate } from './date-format.ts';
import { formatNumber, generalNumber } from './decimal-format.ts';
import { CODE_LENGTH, compileSection, type Section, splitSections } from './format-code.ts';

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
};

/** Shows a value; dates count days from the workbook's epoch. */
export type NumberFormat = (value: number) => string;

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
