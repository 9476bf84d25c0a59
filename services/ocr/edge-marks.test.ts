// Lines at the edge of a page, by where they lie and how surely they were read; specks, by their height.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PixelBox } from '#shared/contract/jobs.ts';
import { withoutEdgeMarks, withoutSpecks } from './edge-marks.ts';
import type { ReadLine } from './engine.ts';

const IMAGE = { width: 1000, height: 1400 };

const line = (...words: [text: string, box: PixelBox, confidence: number][]): ReadLine => ({
  box: words[0]![1],
  height: 20,
  block: 0,
  words: words.map(([text, box, confidence]) => ({ text, box, confidence })),
});

const CASES: [what: string, line: ReadLine, kept: boolean][] = [
  ['a smear down the right edge', line(['vin', [978, 560, 1000, 592], 0.29]), false],
  ['two smears above each other', line(['Wa', [985, 96, 999, 127], 0.43], ['aie', [985, 63, 1000, 73], 0.2]), false],
  ['a smear at the foot', line(['___', [300, 1380, 640, 1399], 0.4]), false],
  ['print that is cut close, read surely', line(['File', [0, 1, 60, 22], 0.93]), true],
  ['a line that begins at the edge', line(['o', [0, 300, 12, 320], 0.3], ['the', [30, 300, 70, 320], 0.5]), true],
  ['an unsure line inside the page', line(['vin', [900, 560, 922, 592], 0.29]), true],
];

for (const [what, read, kept] of CASES)
  test(`${what} is ${kept ? 'kept' : 'no line'}`, () => {
    assert.equal(withoutEdgeMarks([read], IMAGE, 1).length, kept ? 1 : 0);
  });

test('a speck that was read as a letter is none; low letters and marks of punctuation stay', () => {
  const specked = line(
    ['sea', [100, 300, 130, 313], 0.9],
    ['d', [220, 308, 222, 310], 0.9],
    ['-', [240, 305, 248, 307], 0.9],
  );
  const [kept] = withoutSpecks([specked]);
  assert.deepEqual(
    kept?.words.map(({ text }) => text),
    ['sea', '-'],
  );
  assert.deepEqual(withoutSpecks([line(['i', [220, 308, 222, 310], 0.9])]), []);
  const whole = line(['noun', [100, 300, 150, 309], 0.9]);
  assert.equal(withoutSpecks([whole])[0], whole);
});
