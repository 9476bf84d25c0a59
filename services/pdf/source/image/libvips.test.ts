// Tests that libvips decodes every image in memory: a process that has no folder for temporary files can read it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { encodeImage, type ImageExtension } from '#test/harness/documents/images.ts';

const LIBVIPS = new URL('./libvips.ts', import.meta.url).href;
const EXTENSIONS: readonly ImageExtension[] = ['.png', '.jpg', '.jpeg', '.tif', '.webp', '.gif'];
const PICTURE = { width: 400, height: 300, pixels: new Uint8Array(400 * 300).fill(200) };

/** Prints the width of the image on its standard input. */
const PROGRAM = `
  import { readFileSync } from 'node:fs';
  import { loadSharp } from '${LIBVIPS}';
  const sharp = await loadSharp();
  const { info } = await sharp(readFileSync(0), { sequentialRead: true }).raw().toBuffer({ resolveWithObject: true });
  process.stdout.write(String(info.width));
`;

for (const extension of EXTENSIONS)
  test(`libvips writes no temporary file for ${extension}`, async () => {
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', PROGRAM], {
      encoding: 'utf8',
      input: await encodeImage(extension, PICTURE),
      env: { PATH: process.env.PATH, TMPDIR: '/nonexistent' },
    });
    assert.equal(stdout, String(PICTURE.width), stderr);
  });
