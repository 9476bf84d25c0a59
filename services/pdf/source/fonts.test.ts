// Holds what the name of a face says about it, and when its descriptor counts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFontFace } from './fonts.ts';

/** What PDFium computes from the stems of a regular face with serifs, as Chromium measures them. */
const WIDE_STEMS = 704;
const SERIF_FLAGS = 6;

test('a stated style is believed, wide stems are not; without a stated style they count', () => {
  const bold = (name: string, weight = WIDE_STEMS, flags = SERIF_FLAGS) => readFontFace(name, flags, weight).bold;
  assert.equal(bold('AAAAAA+NotoSerif-Regular'), false);
  assert.equal(bold('AAAAAA+NotoSerif-Italic'), false);
  assert.equal(bold('Georgia,Italic'), false);
  assert.equal(bold('NotoSerif-Bold'), true);
  assert.equal(bold('NotoSerif-BoldItalic'), true);
  assert.equal(bold('F1'), true);
  assert.equal(bold('F1', 400), false);
  assert.equal(bold('NotoSerif-Light'), false);
  assert.equal(bold('Any-Regular', 400, 0x40000), true, 'forced by its descriptor');
});
