// Compiles number format codes of spreadsheets (ECMA-376-1, 18.8.31) into functions that write values as cells show them.
import { dateWriter } from './date-format.ts';
import { generalNumber, numberWriter } from './decimal-format.ts';
import { CODE_LENGTH, compileSection, type Section, splitSections } from './format-code.ts';

/** The formats that files refer to by number only (18.8.30). 14 and 22 depend on the reader's locale, so this table uses ISO 8601. */
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

/** The text that a cell shows for a value; dates count days from the epoch of the workbook. */
export type NumberFormat = (value: number) => string;

interface CompiledSection {
  condition: Section['condition'];
  write: (value: number, signed: boolean) => string;
}

/** Compiles a format code. Neither this function nor the returned function throws, even for an invalid code. */
export function compileFormat(code: string, date1904: boolean): NumberFormat {
  const trimmed = code.trim();
  if (trimmed === '' || trimmed.length > CODE_LENGTH || /^general$/i.test(trimmed) || trimmed === '@')
    return generalNumber;
  const sections = splitSections(trimmed)
    .slice(0, 3)
    .map((text): CompiledSection => {
      const section = compileSection(text);
      if (section.date) return { condition: section.condition, write: dateWriter(section, date1904) };
      const write = numberWriter(section);
      return {
        condition: section.condition,
        write: (value, signed) => write(value, signed).replace(/\s+/g, ' ').trim(),
      };
    });
  return (value) => {
    const { section, signed } = chooseSection(sections, value);
    return section ? section.write(value, signed) : generalNumber(value);
  };
}

/**
 * Chooses the section for a value. Without conditions the sections are for positive, negative and zero values.
 * `signed` is false if the section writes the sign of a negative value itself.
 */
function chooseSection(
  sections: readonly CompiledSection[],
  value: number,
): { section: CompiledSection | undefined; signed: boolean } {
  const [first, second, third] = sections;
  if (sections.some((section) => section.condition)) {
    const section = sections.find((one) => one.condition?.(value)) ?? sections.find((one) => !one.condition) ?? first;
    return { section, signed: section === first || sections.length < 3 };
  }
  if (value < 0 && second) return { section: second, signed: false };
  if (value === 0 && third) return { section: third, signed: false };
  return { section: first, signed: true };
}
