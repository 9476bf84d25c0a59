// `npm run test:hardening`. Zero data retention: one word stands in the bytes, the name and the text of files of many kinds, and is then looked for in all that the product wrote anywhere.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { Extension } from '#shared/contract/formats.ts';
import { Canary } from '../harness/canary.ts';
import { errorBody, parse, successData } from '../harness/client.ts';
import { scanOf } from '../harness/documents/scans.ts';
import { COMMITTED, CONTENT, sampleOf } from '../harness/documents.ts';
import { type NatsServer, startNatsServer } from '../harness/nats-server.ts';
import { type Product, skipReason, startProduct, TRANSPORTS } from '../harness/product.ts';
import { callsIn, pathsWritten, traced, traceSkipReason } from '../harness/traced.ts';

const MiB = 1024 * 1024;
/** As long as the word that it takes the place of in files that only LibreOffice can write. */
const STANDS_FOR = 'lighthouse';
const canary = new Canary('kookaburra');
const KINDS = [
  '.pdf',
  '.docx',
  '.doc',
  '.rtf',
  '.xls',
  '.xlsx',
  '.ppt',
  '.pptx',
  '.odt',
  '.epub',
  '.html',
  '.csv',
] as const;
const SHM = '/dev/shm';

interface Upload {
  what: string;
  fileName: string;
  file: Uint8Array;
  options?: object;
  /** Whether it can be read. */
  good: boolean;
}

const say = (text: string): string => text.replaceAll(STANDS_FOR, canary.word);
const CONTENT_WITH = { ...CONTENT, paragraphs: CONTENT.paragraphs.map(say), title: `${CONTENT.title} ${canary.word}` };

function replaced(bytes: Buffer, encoding: 'latin1' | 'utf16le'): Buffer {
  const [from, to] = [Buffer.from(STANDS_FOR, encoding), Buffer.from(canary.word, encoding)];
  for (let at = bytes.indexOf(from); at !== -1; at = bytes.indexOf(from, at)) to.copy(bytes, at);
  return bytes;
}

async function fileOf(kind: Extension): Promise<Buffer> {
  const { bytes } = await sampleOf(kind, CONTENT_WITH);
  return COMMITTED.includes(kind) ? replaced(replaced(bytes, 'latin1'), 'utf16le') : bytes;
}

/** Every kind whole, most of them broken off in the middle too (what fails is what gets logged), and some past the size that travels in a message. */
async function uploads(): Promise<Upload[]> {
  const all: Upload[] = [];
  for (const kind of KINDS) {
    const file = await fileOf(kind);
    const fileName = `${canary.word}-report${kind}`;
    all.push({ what: kind, fileName, file, good: true });
    if (kind !== '.html' && kind !== '.csv' && kind !== '.rtf')
      all.push({ what: `half a ${kind}`, fileName, file: file.subarray(0, file.length >> 1), good: false });
  }
  const rows = Array.from({ length: 60_000 }, (_, row) => `${row},${canary.word},calm sea`).join('\r\n');
  all.push({ what: 'a large .csv', fileName: `${canary.word}.csv`, file: Buffer.from(rows), good: true });
  const paragraphs = Array.from({ length: 20_000 }, (_, row) => `<p>The ${canary.word} was heard at ${row}.</p>`).join(
    '',
  );
  all.push({ what: 'a large .html', fileName: `${canary.word}.html`, file: Buffer.from(paragraphs), good: true });
  const lines = ['Harbour log', ...Array.from({ length: 12 }, () => `A ${canary.word} sat on the harbour wall`)];
  const scan = await scanOf([lines, lines], 150);
  assert.ok(scan.length > MiB / 2, 'the scan goes through the store');
  all.push({ what: 'a scan', fileName: `${canary.word}-scan.pdf`, file: scan, good: true });
  all.push({
    what: 'a redacted .html with a summary',
    fileName: `${canary.word}.html`,
    file: Buffer.from(`<p>Write to ${canary.word}@example.com, says Ann ${canary.word}.</p>`),
    options: { redactPII: true, formats: ['markdown', 'summary', 'html', 'links'] },
    good: true,
  });
  return all;
}

/** Takes in what a tracer exports, as a collector does. */
async function startCollector(): Promise<{ server: Server; url: string; bodies: Buffer[] }> {
  const bodies: Buffer[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    bodies.push(Buffer.concat(chunks));
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return { server, url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`, bodies };
}

const officeFolders = async (): Promise<string[]> =>
  (await readdir(SHM).catch(() => []))
    .filter((name) => name.startsWith('parsemesh-office-'))
    .map((name) => join(SHM, name));

for (const transport of TRANSPORTS)
  describe(`zero data retention over ${transport}`, { skip: skipReason(transport) }, () => {
    const cannotTrace = traceSkipReason();
    let folder = '';
    let temporary = '';
    let traces = '';
    let store = '';
    let nats: NatsServer | undefined;
    let product: Product;
    let collector: Awaited<ReturnType<typeof startCollector>>;
    let files: Upload[] = [];

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'parsemesh-zdr-'));
      [temporary, traces, store] = ['tmp', 'traces', 'store'].map((name) => join(folder, name)) as [
        string,
        string,
        string,
      ];
      for (const one of [temporary, traces, store]) await mkdir(one);
      collector = await startCollector();
      // A store that syncs nothing late: what it takes it writes.
      if (transport === 'nats') nats = await startNatsServer({ storeDir: store });
      product = await startProduct({
        transport,
        ...(nats ? { natsUrl: nats.url } : {}),
        env: {
          TMPDIR: temporary,
          HOME: temporary,
          LOG_LEVEL: 'trace',
          OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
          OTEL_BSP_SCHEDULE_DELAY: '200',
        },
        ...(cannotTrace ? {} : { before: traced(traces, ['openat', 'open', 'creat']) }),
      });
      files = await uploads();
    });
    after(async () => {
      await product?.stop();
      await nats?.stop();
      collector?.server.close();
      collector?.server.closeAllConnections();
      await rm(folder, { recursive: true, force: true });
    });

    const send = async (upload: Upload, zeroDataRetention: boolean, to: Product): Promise<void> => {
      const { file, fileName, options } = upload;
      const answer = await parse(to, {
        file,
        fileName,
        options: { timeout: 120_000, auditMetadata: { username: 'ann' }, zeroDataRetention, ...options },
        headers: { 'x-request-id': `ask-${fileName.length}` },
        patienceMs: 150_000,
      });
      if (!upload.good) {
        assert.ok(
          answer.status === 200 || answer.status === 422 || answer.status === 400,
          `${upload.what}: ${answer.text}`,
        );
        return;
      }
      const { markdown = '' } = successData(answer);
      assert.ok(
        markdown.includes(canary.word) || options,
        `${upload.what}: the word is not in the answer, so it proves nothing`,
      );
    };
    const all = async (zeroDataRetention: boolean, to = product, chosen = files): Promise<void> => {
      const waiting = [...chosen];
      const lane = async (): Promise<void> => {
        for (let next = waiting.shift(); next; next = waiting.shift()) await send(next, zeroDataRetention, to);
      };
      await Promise.all([lane(), lane(), lane()]);
    };
    const metrics = async (): Promise<string> =>
      (
        await Promise.all([...product.opsUrls.values()].map(async (url) => (await fetch(`${url}/metrics`)).text()))
      ).join('\n');

    test('during and after: not in the store, not in a temporary folder, not in an open for writing', async () => {
      const work = all(true);
      const seen = await canary.inFoldersDuring([store, temporary], work);
      await work;
      assert.deepEqual([...seen], []);
      if (cannotTrace) return;
      const strange = pathsWritten(await callsIn(traces)).filter(
        (path) =>
          !/^(\/dev\/(null|tty|ptmx|shm\/.*|urandom)|\/proc\/.*|(pipe|socket|anon_inode):.*|\/memfd:.*)$/.test(path),
      );
      // Beside memory only the keys file is ever opened to be written, and LibreOffice's note of when it saw its extensions.
      const known = /\/keys\.json(\.lock|\.\d+\.tmp)?( \(deleted\))?$|\/uno_packages\/cache\/stamp\.sys$/;
      const written = [...new Set(strange)].filter((path) => !known.test(path));
      assert.deepEqual(written, [], 'files that were opened to be written');
      assert.ok(
        pathsWritten(await callsIn(traces)).some((path) => path.startsWith(SHM)),
        'the trace sees who writes',
      );
    });

    test('not in the memory file system once its documents are done', async () => {
      // The office processes stay warm with their profile; what they converted is gone.
      assert.deepEqual(await canary.inFolders(await officeFolders()), []);
    });

    test('not in any output, metric, trace or audit event', async () => {
      const text = product.output();
      const events = text.split('\n').filter((line) => line.includes('"audit"'));
      assert.equal(events.length, files.length, 'one audit event a parse');
      assert.equal(canary.in(text), undefined);
      assert.equal(canary.in(await metrics()), undefined);
      assert.ok(collector.bodies.length > 0, 'traces were exported');
      for (const body of collector.bodies) assert.equal(canary.in(body), undefined);
      if (nats) {
        const connection = await connect({ servers: nats.url });
        const stream = await (await jetstreamManager(connection)).streams.get('PARSEMESH_EVENTS');
        const { messages, first_seq } = (await stream.info()).state;
        assert.equal(messages, files.length, 'one audit event a parse in the stream');
        for (let seq = first_seq; seq < first_seq + messages; seq++) {
          const event = (await stream.getMessage({ seq }))?.string() ?? '';
          assert.match(event, /"username":"ann"/);
          assert.equal(canary.in(event), undefined);
        }
        await connection.close();
      }
      // The same eyes see what is allowed to be there.
      assert.ok(new Canary('ann').in(events.join('\n')), 'the user name of the audit');
      assert.ok(new Canary('parsemesh_').in(await metrics()));
      assert.ok(collector.bodies.some((body) => new Canary('receive upload').in(body)));
    });

    test('the search can find: without zero data retention the same files are seen on a disk', async () => {
      const [otherStore, otherTemporary] = ['store-of-control', 'tmp-of-control'].map((name) => join(folder, name)) as [
        string,
        string,
      ];
      for (const one of [otherStore, otherTemporary]) await mkdir(one);
      const bus = transport === 'nats' ? await startNatsServer({ storeDir: otherStore }) : undefined;
      const control = await startProduct({
        transport,
        ...(bus ? { natsUrl: bus.url } : {}),
        env: { TMPDIR: otherTemporary, HOME: otherTemporary },
      });
      try {
        const work = all(
          false,
          control,
          files.filter(({ what }) => /large|scan|^\.(doc|docx|rtf)$/.test(what)),
        );
        const seen = [...(await canary.inFoldersDuring([otherStore, otherTemporary], work))];
        await work;
        const stored = bus ? otherStore : join(otherTemporary, 'parsemesh-payloads-');
        // In one process what fits a mebibyte stays in its memory, and larger ones go to files of their own.
        for (const place of [stored, join(otherTemporary, 'parsemesh-office-')])
          assert.ok(
            seen.some((path) => path.startsWith(place)),
            `nothing below ${place}: ${seen.join(', ')}`,
          );
        assert.equal(canary.in(control.output()), undefined, 'and even so nothing is logged');
      } finally {
        await control.stop();
        await bus?.stop();
      }
    });

    test('a key without the permission is refused, and nothing of its file is kept', async () => {
      const key = await product.createKey('--allow', 'parse');
      const asked = (async () => {
        for (const fileFirst of [false, true])
          errorBody(
            await parse(
              { ...product, key },
              { file: files[0]?.file ?? '', fileName: 'a.pdf', fileFirst, options: { zeroDataRetention: true } },
            ),
            403,
            'FORBIDDEN',
          );
      })();
      await asked;
    });
  });

test('every form that is looked for is found', async () => {
  const text = `the ${canary.word} sat`;
  const utf16 = Buffer.from(text, 'utf16le');
  for (const bytes of [
    Buffer.from(text),
    Buffer.from(text.toUpperCase()),
    utf16,
    Buffer.from(utf16).swap16(),
    Buffer.from(Buffer.from(text).toString('hex')),
    ...['', 'x', 'xy'].flatMap((lead) => [
      Buffer.from(Buffer.from(`${lead}${text}`).toString('base64')),
      Buffer.from(Buffer.concat([Buffer.from(lead), utf16]).toString('base64')),
    ]),
  ])
    assert.notEqual(canary.in(bytes), undefined, bytes.toString('latin1'));
  assert.equal(canary.in('a magpie sat'), undefined);
  const folder = await mkdtemp(join(tmpdir(), 'parsemesh-canary-'));
  assert.deepEqual(await canary.inFolders([folder]), []);
  await mkdir(join(folder, `${canary.word}.d`));
  assert.equal((await canary.inFolders([folder])).length, 1);
  await rm(folder, { recursive: true });
});
