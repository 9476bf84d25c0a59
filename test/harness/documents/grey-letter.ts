// Loads the page image of fixtures/ocr/letter.pgm.gz as grey pixels, the input of the OCR service.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { GreyImage } from '#services/ocr/pixels.ts';

export function greyLetter(): GreyImage {
  const file = gunzipSync(readFileSync(new URL('../../../fixtures/ocr/letter.pgm.gz', import.meta.url)));
  const head = /^P5\s+(\d+)\s+(\d+)\s+255\s/.exec(file.subarray(0, 64).toString('latin1'));
  assert.ok(head);
  return { width: Number(head[1]), height: Number(head[2]), pixels: new Uint8Array(file.subarray(head[0].length)) };
}
