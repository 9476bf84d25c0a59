// Tests selections of pages: which texts are valid, and which pages of a document they select.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { REQUEST_LIMITS } from './limits.ts';
import { describePagesPastEnd, PAGE_RANGES_PATTERN, parsePageRanges, selectPages } from './page-ranges.ts';

const select = (text: string, pageCount: number, most = 10_000): number[] => {
  const ranges = parsePageRanges(text);
  assert.ok(ranges, text);
  return selectPages(ranges, pageCount, most).map((index) => index + 1);
};

describe('a selection selects', () => {
  const rows: readonly (readonly [text: string, pageCount: number, pages: number[]])[] = [
    ['1-3,7', 10, [1, 2, 3, 7]],
    ['7,1-3', 10, [1, 2, 3, 7]],
    ['2-4,3-5,4', 10, [2, 3, 4, 5]],
    ['1-9,2-3,5', 10, [1, 2, 3, 4, 5, 6, 7, 8, 9]],
    ['8-', 10, [8, 9, 10]],
    ['8-,9', 10, [8, 9, 10]],
    ['5-5', 10, [5]],
    [' 1 - 2 , 4 ', 10, [1, 2, 4]],
    ['9-12,20', 10, [9, 10]],
    ['11,12-', 10, []],
    ['9999999', 10, []],
  ];
  for (const [text, pageCount, pages] of rows)
    test(`of ${pageCount} pages with "${text}": ${pages.join(' ') || 'none'}`, () => {
      assert.deepEqual(select(text, pageCount), pages);
      assert.match(text, new RegExp(PAGE_RANGES_PATTERN));
    });

  test('at most the given number of pages', () => assert.deepEqual(select('2-4,8-', 10, 5), [2, 3, 4, 8, 9]));

  test('the pages of a long document once, however many ranges overlap', () => {
    const ranges = Array.from({ length: REQUEST_LIMITS.pageRanges }, () => '1-').join(',');
    assert.equal(select(ranges, 1_000_000, 2_000_000).length, 1_000_000);
  });
});

describe('is no selection:', () => {
  const { pageRanges, pageRangesLength } = REQUEST_LIMITS;
  const texts = [
    ...[
      '',
      ' ',
      ',',
      '1,',
      ',1',
      '1,,2',
      '0',
      '0-3',
      '1-0',
      '3-1',
      '-3',
      '-',
      '--',
      '1--2',
      '1-2-3',
      '1.5',
      '1e3',
      '+1',
    ],
    ...[
      'all',
      'last',
      '1–3',
      '１',
      '01',
      '1;2',
      '1 2',
      '[1,2]',
      '12345678',
      '1-12345678',
      'NaN',
      'Infinity',
      '1\u00002',
    ],
    Array.from({ length: pageRanges + 1 }, () => '1').join(','),
    `1${' '.repeat(pageRangesLength)}`,
  ];
  for (const text of texts)
    test(JSON.stringify(text).slice(0, 40), () => {
      assert.equal(parsePageRanges(text), undefined);
      // The pattern has no limits and does not compare numbers.
      if (text.length < 20 && text !== '3-1') assert.doesNotMatch(text, new RegExp(PAGE_RANGES_PATTERN));
    });
});

test('the parts past the end are named, and counted from the sixth', () => {
  const past = (text: string, pageCount: number) => describePagesPastEnd(parsePageRanges(text) ?? [], pageCount);
  assert.equal(past('1-3,5-', 5), '');
  assert.equal(past('1-3,7', 5), '7');
  assert.equal(past('3-9,12,20-', 5), '6-9, 12, 20-');
  assert.equal(past('5-6', 5), '6');
  assert.equal(past('6,7,8,9,10,11,12', 5), '6, 7, 8, 9, 10 and 2 more');
});
