// Checks how the ZIP reader finds entries, and that it rejects decompression bombs and damaged containers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zipOf } from '#test/harness/zip.ts';
import { DOCUMENT_LIMITS } from '../contract/limits.ts';
import { openZip, type ZipContainer } from './zip.ts';

async function streamed(zip: ZipContainer, name: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of zip.stream(name)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

test('reads stored and deflated entries by name, without regard to case', async () => {
  const zip = await openZip(
    zipOf([
      { name: 'mimetype', content: 'application/epub+zip', method: 0 },
      { name: 'Word\\Document.xml', content: '\uFEFF<a>å</a>' },
    ]),
  );
  assert.deepEqual(zip.names(), ['mimetype', 'Word/Document.xml']);
  assert.equal(zip.text('mimetype'), 'application/epub+zip');
  assert.equal(zip.text('word/document.xml'), '<a>å</a>');
  assert.equal(zip.has('word/other.xml'), false);
  assert.throws(() => zip.read('word/other.xml'), { code: 'DOCUMENT_CORRUPT' });
});

test('keeps names that look like paths outside the container', async () => {
  const zip = await openZip(
    zipOf([
      { name: '../../etc/passwd', content: 'x' },
      { name: '/abs', content: 'y' },
    ]),
  );
  assert.deepEqual(zip.names(), ['../../etc/passwd', '/abs']);
  assert.equal(zip.text('/abs'), 'y');
});

test('reports an encrypted entry', async () => {
  const zip = await openZip(zipOf([{ name: 'a', content: 'x', flags: 1 }]));
  assert.throws(() => zip.read('a'), { code: 'DOCUMENT_ENCRYPTED' });
});

test('rejects an entry that inflates to more than the ratio allows', async () => {
  const zip = await openZip(zipOf([{ name: 'a', content: new Uint8Array(DOCUMENT_LIMITS.zipRatioFloorBytes + 1) }]));
  assert.throws(() => zip.read('a'), { code: 'DOCUMENT_TOO_COMPLEX' });
});

test('rejects entries whose total size is too large, and counts each entry once', async () => {
  const content = new Uint8Array(DOCUMENT_LIMITS.zipRatioFloorBytes);
  const count = DOCUMENT_LIMITS.zipTotalBytes / content.length + 1;
  const stored = zipOf(Array.from({ length: count }, (_, i) => ({ name: `${i}`, content: i === 0 ? content : 'x' })));
  const zip = await openZip(stored);
  for (let i = 0; i < count; i++) zip.read('0');
  assert.equal(zip.read('0').length, content.length, 'an entry that is read twice counts once');
  const bomb = await openZip(zipOf(Array.from({ length: count }, (_, i) => ({ name: `${i}`, content }))));
  assert.throws(
    () => {
      for (let i = 0; i < count; i++) bomb.read(`${i}`);
    },
    { code: 'DOCUMENT_TOO_COMPLEX' },
  );
});

test('streams entries in chunks, with the limits of entries that are read at once', async () => {
  const random = Buffer.from(Array.from({ length: 1_000_003 }, (_, i) => (Math.imul(i, 2654435761) >>> 24) & 0xff));
  const text = `<?xml version="1.0"?><a>${'å日😀'.repeat(100_000)}</a>`;
  const zip = await openZip(
    zipOf([
      { name: 'stored', content: random, method: 0 },
      { name: 'deflated', content: random },
      { name: 'text', content: text },
      { name: 'utf16', content: Buffer.from(`\ufeff${text}`, 'utf16le') },
      { name: 'encrypted', content: 'x', flags: 1 },
      { name: 'bomb', content: new Uint8Array(DOCUMENT_LIMITS.zipRatioFloorBytes + 1) },
    ]),
  );
  for (const name of ['stored', 'deflated']) assert.ok((await streamed(zip, name)).equals(random), name);
  for (const name of ['text', 'utf16']) {
    let pieces = '';
    for await (const piece of zip.textStream(name)) pieces += piece;
    assert.equal(pieces, text, name);
  }
  await assert.rejects(streamed(zip, 'missing'), { code: 'DOCUMENT_CORRUPT' });
  await assert.rejects(streamed(zip, 'encrypted'), { code: 'DOCUMENT_ENCRYPTED' });
  await assert.rejects(streamed(zip, 'bomb'), { code: 'DOCUMENT_TOO_COMPLEX' });
});

test('counts streamed entries for the total size, each once', async () => {
  const content = new Uint8Array(DOCUMENT_LIMITS.zipRatioFloorBytes);
  const count = DOCUMENT_LIMITS.zipTotalBytes / content.length + 1;
  const zip = await openZip(zipOf(Array.from({ length: count }, (_, i) => ({ name: `${i}`, content }))));
  for (let i = 0; i < 3; i++) for await (const _chunk of zip.stream('0'));
  for (let i = 0; i < count - 1; i++) for await (const _chunk of zip.stream(`${i}`));
  await assert.rejects(streamed(zip, `${count - 1}`), { code: 'DOCUMENT_TOO_COMPLEX' });
});

test('rejects too many entries before it lists them', async () => {
  const parts = Array.from({ length: DOCUMENT_LIMITS.zipEntries + 1 }, (_, i) => ({ name: `${i}`, content: '' }));
  await assert.rejects(openZip(zipOf(parts)), { code: 'DOCUMENT_TOO_COMPLEX' });
});

test('reports damaged containers as corrupt', async () => {
  const good = zipOf([{ name: 'a', content: 'some text that deflates' }]);
  await assert.rejects(openZip(good.subarray(0, 40)), { code: 'DOCUMENT_CORRUPT' });
  await assert.rejects(openZip(new Uint8Array(0)), { code: 'DOCUMENT_CORRUPT' });
  const scrambled = Buffer.from(good);
  scrambled.fill(0xff, 31, 45);
  const zip = await openZip(scrambled);
  assert.throws(() => zip.read('a'), { code: 'DOCUMENT_CORRUPT' });
  await assert.rejects(streamed(zip, 'a'), { code: 'DOCUMENT_CORRUPT' });
  const odd = await openZip(zipOf([{ name: 'a', content: 'x', method: 99 }]));
  assert.throws(() => odd.read('a'), { code: 'DOCUMENT_CORRUPT' });
});
