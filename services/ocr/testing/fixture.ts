// Reads the page images under fixtures/ocr for the tests of this service.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { GreyImage } from '../pixels.ts';

export function fixture(name: string): GreyImage {
  const file = gunzipSync(readFileSync(new URL(`../../../fixtures/ocr/${name}.pgm.gz`, import.meta.url)));
  const head = /^P5\s+(\d+)\s+(\d+)\s+255\s/.exec(file.subarray(0, 64).toString('latin1'));
  assert.ok(head, `${name} is no PGM`);
  return { width: Number(head[1]), height: Number(head[2]), pixels: new Uint8Array(file.subarray(head[0].length)) };
}
