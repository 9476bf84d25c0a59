// Checks that pictures are detected by their bytes, and that a damaged header does not stop the conversion.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import sharp from 'sharp';
import { pictureType } from './picture-type.ts';

const image = () => sharp({ create: { width: 30, height: 20, channels: 3, background: '#3060a0' } });
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

test('detects the type and size of raster pictures', async () => {
  for (const [bytes, mimeType, extension, sized] of [
    [await image().png().toBuffer(), 'image/png', 'png', true],
    [await image().jpeg().toBuffer(), 'image/jpeg', 'jpg', true],
    [await image().gif().toBuffer(), 'image/gif', 'gif', true],
    [await image().webp().toBuffer(), 'image/webp', 'webp', true],
    [await image().tiff().toBuffer(), 'image/tiff', 'tif', false],
    [await image().avif().toBuffer(), 'image/avif', 'avif', false],
  ] as const)
    assert.deepEqual(pictureType(bytes), { mimeType, extension, ...(sized ? { width: 30, height: 20 } : {}) });
});

test('detects EMF, WMF, BMP and SVG', () => {
  const types = [
    [`\x01\0\0\0${'\0'.repeat(36)} EMF`, 'image/emf'],
    ['\xd7\xcd\xc6\x9a\0\0', 'image/wmf'],
    ['\x01\0\x09\0\0\x03', 'image/wmf'],
    [`BM${'\0'.repeat(12)}\x28\0\0\0`, 'image/bmp'],
    ['<?xml version="1.0"?><!-- drawn --><svg width="4">', 'image/svg+xml'],
    ['\xef\xbb\xbf<svg:svg xmlns:svg="x">', 'image/svg+xml'],
  ] as const;
  for (const [bytes, mimeType] of types) assert.equal(pictureType(latin1(bytes))?.mimeType, mimeType, mimeType);
});

test('detects a picture with a damaged header, without its size', () => {
  assert.deepEqual(pictureType(latin1('\xff\xd8\xff\xe0')), { mimeType: 'image/jpeg', extension: 'jpg' });
  assert.deepEqual(pictureType(latin1('\x89PNG\r\n\x1a\n')), { mimeType: 'image/png', extension: 'png' });
});

test('detects no picture in other bytes', () => {
  for (const bytes of ['', 'BMW drives', 'words', '<html><p>An &lt;svg', '%PDF-1.4', '\0\0\0\0'])
    assert.equal(pictureType(latin1(bytes)), undefined, bytes);
});
