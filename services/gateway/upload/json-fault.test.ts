// Tests the description of texts that are not JSON: the position and the advice for each common mistake.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import { describeJsonFault } from './json-fault.ts';

const FAULTS: readonly (readonly [text: string, position: string, advice: RegExp])[] = [
  ["{'formats':['markdown']}", "line 1, column 2 (found 'formats')", /double quotes; in Python/],
  ['{"formats":["markdown",]}', 'line 1, column 24 (found ])', /remove the comma/],
  ['{"timeout":1,\n}', 'line 2, column 1 (found })', /remove the comma/],
  ['{"blockAds": True}', 'line 1, column 14 (found True)', /Python dict; send json\.dumps/],
  ['{"integration": None}', 'line 1, column 17 (found None)', /json\.dumps/],
  ['{formats:["html"]}', 'line 1, column 2 (found formats)', /quotes around each field name/],
  ['{"timeout":1,\n blockAds:true}', 'line 2, column 2 (found blockAds)', /quotes around each field name/],
  ['@options.json', 'line 1, column 1 (found @options.json)', /options=<options\.json/],
  ['[object Object]', 'line 1, column 2 (found object)', /JSON\.stringify/],
  ['', 'line 1, column 1', /empty/],
  ['formats=markdown', 'line 1, column 1 (found formats=markdown)', /must start with \{/],
  ['{"timeout":1', 'line 1, column 13', /ends too early/],
  ['{"timeout": undefined}', 'line 1, column 13 (found undefined)', /leave the field out/],
  ['{“timeout”:1}', 'line 1, column 2 (found “timeout”)', /straight double quotes/],
  ['\'{"timeout":1}\'', "line 1, column 1 (found ')", /single quotes around/],
  ['{\\"timeout\\":1}', 'line 1, column 2 (found \\)', /backslashes/],
  ['{"timeout":1 /* ms */}', 'line 1, column 14 (found /*)', /no comments/],
  ['{"a":[1 2]}', 'line 1, column 9 (found 2)', /$/],
];

for (const [text, position, advice] of FAULTS)
  test(`names position and advice for ${JSON.stringify(text)}`, () => {
    assert.throws(() => JSON.parse(text), 'the text must not be JSON');
    const described = describeJsonFault(text);
    assert.ok(described.startsWith(position), described);
    assert.match(described, advice);
  });

test('repeats a bounded part of a long text', () => {
  const described = describeJsonFault(`{"a": ${'secret'.repeat(10_000)}}`);
  assert.ok(described.length < 100 + REQUEST_LIMITS.errorTokenLength, described);
});

test('reads a text of the largest size and depth without failing', () => {
  const { optionsBytes, optionsDepth } = REQUEST_LIMITS;
  for (const text of [
    '['.repeat(optionsDepth),
    '\n'.repeat(optionsBytes),
    '"'.repeat(optionsBytes),
    "'".repeat(optionsBytes),
  ])
    assert.match(describeJsonFault(text), /^line \d+, column \d+/);
});
