// Tests that a full or read-only disk is a 503 and never the fault of a document, and that the product recovers by itself.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, errorBody, parse, successData } from '../harness/client.ts';
import { scannedLog } from '../harness/documents/scans.ts';
import { CONTENT, docx } from '../harness/documents.ts';
import { startNatsServer } from '../harness/nats-server.ts';
import { type Product, skipReason, startProduct, TRANSPORTS } from '../harness/product.ts';
import { noMountReason, SmallDisk } from '../harness/small-disk.ts';

const DOC = await readFile(new URL('../../fixtures/doc/report.doc', import.meta.url));
const MIB = 1024 * 1024;
/** More than the in-memory bus keeps in memory, so that a part of it needs the disk. */
const LARGE_CSV = Buffer.from(`name,length\n${'Petrel,42\n'.repeat((24 * MIB) / 10)}`);
/** `TMPDIR` is small, but large enough for LibreOffice. */
const DISK_MIB = 96;

type Fault = 'full' | 'read-only';
const FAULTS: readonly Fault[] = ['full', 'read-only'];
const begin = (disk: SmallDisk, fault: Fault): void => (fault === 'full' ? disk.fill() : disk.makeReadOnly());
const end = (disk: SmallDisk, fault: Fault): void => (fault === 'full' ? disk.empty() : disk.makeWritable());

function assertUnavailable(answer: Answer): void {
  const { error } = errorBody(answer, 503, 'SERVICE_UNAVAILABLE');
  assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/);
  assert.match(error, /disk for temporary files|folder for temporary files/);
}

const readiness = async (opsUrl: string | undefined): Promise<{ status: number; text: string }> => {
  const response = await fetch(`${opsUrl}/readyz`);
  return { status: response.status, text: await response.text() };
};

for (const transport of TRANSPORTS)
  describe(`a disk for temporary files over ${transport}`, { skip: noMountReason || skipReason(transport) }, () => {
    let product: Product;
    let disk: SmallDisk;
    before(async () => {
      disk = new SmallDisk(DISK_MIB);
      // An empty folder, so that the first start must write to it too.
      product = await startProduct({
        transport,
        env: { TMPDIR: disk.folder, NODE_COMPILE_CACHE: `${disk.folder}/cache` },
      });
    });
    after(async () => {
      await product?.stop();
      disk?.remove();
    });
    const send = (file: Uint8Array, fileName: string) => parse(product, { file, fileName });

    for (const fault of FAULTS) {
      test(`that is ${fault}: LibreOffice files get 503, other files are read, and it recovers`, async () => {
        begin(disk, fault);
        try {
          assertUnavailable(await send(DOC, 'a.doc'));
          assertUnavailable(await send(DOC, 'b.doc'));
          if (transport === 'nats') {
            const { status, text } = await readiness(product.opsUrls.get('office'));
            assert.equal(status, 503);
            assert.match(
              text,
              /libreoffice: the (?:disk|folder) for temporary files .*(?:Free space|Mount it writable)/,
            );
          }
          assert.match(successData(await send(docx(CONTENT), 'a.docx')).markdown ?? '', /seventeen herons/);
          const scan = await scannedLog(1, { lines: 6, dpi: 110 });
          assert.notEqual(successData(await send(scan.bytes, 'log.pdf')).markdown ?? '', '');
        } finally {
          end(disk, fault);
        }
        let answer = await send(DOC, 'c.doc');
        // The worker looks at the disk once a second.
        for (; answer.status === 503; answer = await send(DOC, 'c.doc')) await pause(100);
        assert.match(successData(answer).markdown ?? '', /Field report/);
        if (transport === 'nats') assert.equal((await readiness(product.opsUrls.get('office'))).status, 200);
      });

      if (transport === 'memory')
        test(`that is ${fault}: an upload that does not fit into memory gets 503, and it recovers`, async () => {
          begin(disk, fault);
          try {
            assertUnavailable(await send(LARGE_CSV, 'a.csv'));
            assertUnavailable(await send(LARGE_CSV, 'b.csv'));
          } finally {
            end(disk, fault);
          }
          assert.match(successData(await send(LARGE_CSV, 'c.csv')).markdown ?? '', /Petrel/);
        });
    }
  });

describe('one of two office workers has a full disk', { skip: noMountReason || skipReason('nats') }, () => {
  test('its jobs are done by the other worker, and it takes jobs again when it has space', async () => {
    const disk = new SmallDisk(DISK_MIB);
    const product = await startProduct({ transport: 'nats', env: { LIBREOFFICE_CONCURRENCY: '1' } });
    const natsUrl = product.natsUrl ?? '';
    const other = await startProduct({
      transport: 'nats',
      services: ['office'],
      natsUrl,
      env: { TMPDIR: disk.folder },
    });
    try {
      disk.fill();
      const send = (count: number) =>
        Promise.all(
          Array.from({ length: count }, (_, number) => parse(product, { file: DOC, fileName: `${number}.doc` })),
        );
      for (const answer of await send(8)) assert.match(successData(answer).markdown ?? '', /Field report/);
      let ready = await readiness(other.opsUrl);
      assert.equal(ready.status, 503, 'the worker with the full disk had a job and is not ready');
      disk.empty();
      for (; ready.status !== 200; ready = await readiness(other.opsUrl)) await pause(100);
      for (const answer of await send(8)) assert.match(successData(answer).markdown ?? '', /Field report/);
    } finally {
      await other.stop();
      await product.stop();
      disk.remove();
    }
  });
});

describe('an office worker that starts with a read-only disk', { skip: noMountReason || skipReason('nats') }, () => {
  test('starts, is not ready, says why, and becomes ready by itself', async () => {
    const disk = new SmallDisk(DISK_MIB);
    disk.makeReadOnly();
    const nats = await startNatsServer();
    // Creates the streams, which a worker does not.
    const gateway = await startProduct({
      transport: 'nats',
      services: ['gateway'],
      natsUrl: nats.url,
      waitFor: 'live',
    });
    const worker = await startProduct({
      transport: 'nats',
      services: ['office'],
      natsUrl: nats.url,
      env: { TMPDIR: disk.folder },
      waitFor: 'live',
    });
    try {
      let ready = await readiness(worker.opsUrl);
      for (; ready.text.includes('starting'); ready = await readiness(worker.opsUrl)) await pause(100);
      assert.equal(ready.status, 503);
      assert.match(ready.text, /libreoffice: the folder for temporary files .*Mount it writable/);
      disk.makeWritable();
      for (; ready.status !== 200; ready = await readiness(worker.opsUrl)) await pause(100);
      const answer = await parse(gateway, { file: DOC, fileName: 'a.doc' });
      assert.match(successData(answer).markdown ?? '', /Field report/);
    } finally {
      await gateway.stop();
      await worker.stop();
      await nats.stop();
      disk.remove();
    }
  });
});
