// Checks the text that number formats show, with values on which Excel, LibreOffice, SSF or numfmt agree.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generalNumber } from './decimal-format.ts';
import { compileFormat } from './number-format.ts';

const cases: [code: string, value: number, shown: string][] = [
  ['General', 0.1 + 0.2, '0.3'],
  ['General', 1e21, '1E+21'],
  ['0', 2.5, '3'],
  ['0.00', 1.005, '1.01'],
  ['0.00', -0.001, '0.00'],
  ['#,##0', 1234567, '1,234,567'],
  ['#,##0.00', -1234.5, '-1,234.50'],
  ['#,##0;(#,##0)', -1234, '(1,234)'],
  ['#,##0.0##', 1234.5, '1,234.5'],
  ['0%', 0.125, '13%'],
  ['0.0%', 0.125, '12.5%'],
  ['$#,##0.00', 12, '$12.00'],
  ['[$€-407] #,##0.00', 1234.5, '€ 1,234.50'],
  ['#,##0.00 "kr"', 5, '5.00 kr'],
  ['#,##0,', 1234567, '1,235'],
  ['0.0,,"M"', 1_250_000, '1.3M'],
  ['0.00E+00', 12345, '1.23E+04'],
  ['# ?/?', 1.5, '1 1/2'],
  ['000-00-0000', 123456789, '123-45-6789'],
  ['00000', 42, '00042'],
  ['[>=1000]#,##0;[Red]0.0', 12, '12.0'],
  ['"yes";"no";"none"', 0, 'none'],
  ['"yes";"no";"none"', -1, 'no'],
  ['_(* #,##0_);_(* (#,##0);_(* "-"_)', 0, '-'],
  ['yyyy-mm-dd', 45418, '2024-05-06'],
  ['d-mmm-yy', 45418, '6-May-24'],
  ['dddd, mmmm d', 45418, 'Monday, May 6'],
  ['m/d/yyyy h:mm AM/PM', 45418.75, '5/6/2024 6:00 PM'],
  ['hh:mm:ss', 0.999999, '00:00:00'],
  ['mm:ss.0', 0.0007, '01:00.5'],
  ['[h]:mm', 1.5, '36:00'],
  ['yyyy-mm-dd', 1, '1900-01-01'],
  // Rounding adds a digit to the mantissa.
  ['0.00E+00', 99.995, '1.00E+02'],
  ['0E+0', 999.5, '1E+3'],
  ['##0.0E+0', 999.9999, '1.0E+3'],
  ['000.0E+00', 999.9999, '001.0E+03'],
  ['0.0E+0', 0, '0.0E+0'],
  ['0.0000000000', -1234567.891, '-1234567.8910000000'],
  // The decimal point is shown even if no decimals follow.
  ['0.#', 12, '12.'],
  ['0.', 12, '12.'],
  ['#.##%', 0.5, '50.%'],
  ['#.##', 0, ''],
  // Fractions.
  ['# ??/100', 0.5, '50/100'],
  ['# ?/10', 2.5, '2 5/10'],
  ['# ?/16', 1.5, '1 8/16'],
  ['0/100', 0.5, '50/100'],
  ['0 ?/?', 0.5, '0 1/2'],
  ['#,##0 ?/?', 1234.5, '1,234 1/2'],
  ['?/?', 0, '0/1'],
  ['# ?/?', 0, '0'],
  ['# ?/?', 0.9999, '1'],
  ['# ?/?;(# ?/?)', -1.5, '(1 1/2)'],
  ['"L "# ?/?" in"', -1.5, '-L 1 1/2 in'],
  // Literals between digits.
  ['#,##0"."00', 123.456, '1.23'],
  ['#,##0"."00', 1234567, '1,234,5.67'],
  ['(000) 000-0000', 1234567, '(000) 123-4567'],
  ['000 000', 1234567, '1234 567'],
  // Days 0 to 60 of the 1900 system, and rounding at midnight.
  ['yyyy-mm-dd', 0, '1900-01-00'],
  ['d-mmm-yy', 0.75, '0-Jan-00'],
  ['yyyy-mm-dd', 60.5, '1900-02-29'],
  ['dddd, mmmm d, yyyy', 59, 'Tuesday, February 28, 1900'],
  ['ddd', 61, 'Thu'],
  ['yyyy-mm-dd', 45418.999999, '2024-05-06'],
  ['yyyy-mm-dd hh:mm', 45418.999999, '2024-05-07 00:00'],
  ['mmmmmm', 45418, 'May'],
  ['mmmmm', 45418, 'M'],
  ['bbbb', 45418, '2567'],
];

for (const [code, value, shown] of cases)
  test(`${code} shows ${value} as ${JSON.stringify(shown)}`, () =>
    assert.equal(compileFormat(code, false)(value), shown));

test('counts days from 1904-01-01 in a workbook of the 1904 system', () =>
  assert.equal(compileFormat('yyyy-mm-dd', true)(43956), '2024-05-06'));

test('returns a text and does not throw for invalid format codes', () => {
  for (const code of ['[', '"', '\\', '[$', ';;;;;', '0.0.0.0', '#'.repeat(2_000), 'y'.repeat(500), '*'])
    assert.equal(typeof compileFormat(code, false)(-1234.5), 'string');
  assert.equal(generalNumber(Number.NaN), 'NaN');
});
