// Tests zero data retention: a unique word is in the content and the name of each file, and must not be in anything that the product writes.
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
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import { errorBody, parse, successData } from '../harness/client.ts';
import { printedPage, toSharp } from '../harness/documents/images.ts';
import { picturesDocx, pngOf } from '../harness/documents/pictures.ts';
import { scanOf } from '../harness/documents/scans.ts';
import { COMMITTED, CONTENT, imagePdf, sampleOf } from '../harness/documents.ts';
import { MarkerWord } from '../harness/marker-word.ts';
import { type NatsServer, startNatsServer } from '../harness/nats-server.ts';
import { type Product, skipReason, startProduct, TRANSPORTS } from '../harness/product.ts';
import { readCalls, straceCommand, straceSkipReason, writtenPaths } from '../harness/system-calls.ts';

const MiB = 1024 * 1024;
/** The word of the fixtures that is replaced. It has as many letters as the unique word, because binary files are edited in place. */
const REPLACED_WORD = 'lighthouse';
const marker = new MarkerWord('kookaburra');
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
  '.png',
  '.jpg',
  '.tiff',
  '.webp',
  '.gif',
  '.bmp',
] as const;
const SHM = '/dev/shm';

interface Upload {
  what: string;
  fileName: string;
  file: Uint8Array;
  options?: object;
  /** Whether the product can read it. */
  valid: boolean;
}

const withMarker = (text: string): string => text.replaceAll(REPLACED_WORD, marker.word);
const CONTENT_WITH = {
  ...CONTENT,
  paragraphs: CONTENT.paragraphs.map(withMarker),
  title: `${CONTENT.title} ${marker.word}`,
};

function replaceWord(bytes: Buffer, encoding: 'latin1' | 'utf16le'): Buffer {
  const [from, to] = [Buffer.from(REPLACED_WORD, encoding), Buffer.from(marker.word, encoding)];
  for (let at = bytes.indexOf(from); at !== -1; at = bytes.indexOf(from, at)) to.copy(bytes, at);
  return bytes;
}

async function fileOf(kind: Extension): Promise<Buffer> {
  const { bytes } = await sampleOf(kind, CONTENT_WITH);
  return COMMITTED.includes(kind) ? replaceWord(replaceWord(bytes, 'latin1'), 'utf16le') : bytes;
}

/** Files of every format, truncated files (failures are logged), and files that are too large for a message. */
async function createUploads(): Promise<Upload[]> {
  const all: Upload[] = [];
  for (const kind of KINDS) {
    const file = await fileOf(kind);
    const fileName = `${marker.word}-report${kind}`;
    all.push({ what: kind, fileName, file, valid: true });
    if (kind !== '.html' && kind !== '.csv' && kind !== '.rtf')
      all.push({ what: `a truncated ${kind}`, fileName, file: file.subarray(0, file.length >> 1), valid: false });
  }
  const rows = Array.from({ length: 60_000 }, (_, row) => `${row},${marker.word},calm sea`).join('\r\n');
  all.push({ what: 'a large .csv', fileName: `${marker.word}.csv`, file: Buffer.from(rows), valid: true });
  // On the memory bus, only payloads over this limit are stored in files.
  const cell = `${marker.word} ${'calm sea '.repeat(7_000)}`;
  const huge = `${cell}\r\n`.repeat(Math.ceil(TRANSPORT_LIMITS.memoryPayloadBytes / cell.length) + 1);
  all.push({ what: 'a very large .csv', fileName: `${marker.word}.csv`, file: Buffer.from(huge), valid: true });
  const paragraphs = Array.from({ length: 20_000 }, (_, row) => `<p>The ${marker.word} called at ${row}.</p>`).join('');
  all.push({ what: 'a large .html', fileName: `${marker.word}.html`, file: Buffer.from(paragraphs), valid: true });
  const lines = ['Harbour log', ...Array.from({ length: 12 }, () => `A ${marker.word} sat on the harbour wall`)];
  const scan = await scanOf([lines, lines], 150);
  assert.ok(scan.length > MiB / 2, 'the scan must be too large for a message');
  all.push({ what: 'a scan', fileName: `${marker.word}-scan.pdf`, file: scan, valid: true });
  // libvips can use a temporary file for a picture of this size that is not stored row by row.
  const printed = await printedPage(CONTENT_WITH);
  const [width, height] = [printed.width * 8, printed.height * 8];
  const interlaced = await toSharp(printed).resize(width, height).png({ progressive: true }).toBuffer();
  all.push({ what: 'a large .png', fileName: `${marker.word}.png`, file: interlaced, valid: true });
  all.push({
    what: 'a redacted .html with a summary',
    fileName: `${marker.word}.html`,
    file: Buffer.from(`<p>Write to ${marker.word}@example.com, says Ann ${marker.word}.</p>`),
    options: { redactPII: true, formats: ['markdown', 'summary', 'html', 'links'] },
    valid: true,
  });
  const embedded = { formats: ['markdown', { type: 'images', embedded: true }] };
  // The bytes after the end of a picture are passed on with it.
  const picture = Buffer.concat([await pngOf(400, 300, 'green'), Buffer.from(marker.word)]);
  const { file } = picturesDocx({ alt: marker.word, boat: picture, map: picture });
  all.push({ what: 'a .docx with pictures', fileName: `${marker.word}.docx`, file, options: embedded, valid: true });
  all.push({
    what: 'a .pdf with pictures',
    fileName: `${marker.word}.pdf`,
    file: await imagePdf([picture]),
    options: { ...embedded, parsers: [{ type: 'pdf', mode: 'fast' }] },
    valid: true,
  });
  return all;
}

/** Receives exported traces and keeps their bytes. */
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

/** The private folders of isolated processes that are in memory. */
const memoryFolders = async (): Promise<string[]> =>
  (await readdir(SHM).catch(() => []))
    .filter((name) => /^parse-[0-9a-f]{4}-\d+-/.test(name))
    .map((name) => join(SHM, name));

for (const transport of TRANSPORTS)
  describe(`zero data retention over ${transport}`, { skip: skipReason(transport) }, () => {
    const noTracing = straceSkipReason();
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
        ...(noTracing ? {} : { before: straceCommand(traces, ['openat', 'open', 'creat']) }),
      });
      files = await createUploads();
    });
    after(async () => {
      await product?.stop();
      await nats?.stop();
      collector?.server.close();
      collector?.server.closeAllConnections();
      await rm(folder, { recursive: true, force: true });
    });

    const sendUpload = async (upload: Upload, zeroDataRetention: boolean, to: Product): Promise<void> => {
      const { file, fileName, options } = upload;
      const answer = await parse(to, {
        file,
        fileName,
        options: { timeout: 120_000, auditMetadata: { username: 'ann' }, zeroDataRetention, ...options },
        headers: { 'x-request-id': `request-${fileName.length}` },
        clientTimeoutMs: 150_000,
      });
      if (!upload.valid) {
        assert.ok(
          answer.status === 200 || answer.status === 422 || answer.status === 400,
          `${upload.what}: ${answer.text}`,
        );
        return;
      }
      const { markdown = '' } = successData(answer);
      assert.ok(
        markdown.includes(marker.word) || options,
        `${upload.what}: the response must contain the word, because otherwise the test could not fail`,
      );
    };
    const sendAll = async (zeroDataRetention: boolean, to = product, uploads = files): Promise<void> => {
      const waiting = [...uploads];
      const client = async (): Promise<void> => {
        for (let next = waiting.shift(); next; next = waiting.shift()) await sendUpload(next, zeroDataRetention, to);
      };
      await Promise.all([client(), client(), client()]);
    };
    const readMetrics = async (): Promise<string> =>
      (
        await Promise.all([...product.opsUrls.values()].map(async (url) => (await fetch(`${url}/metrics`)).text()))
      ).join('\n');

    test('no document content is in the store or a temporary folder during the requests, and no file is opened for writing', async () => {
      const work = sendAll(true);
      const seen = await marker.findInFoldersDuring([store, temporary], work);
      await work;
      assert.deepEqual([...seen], []);
      if (noTracing) return;
      const paths = writtenPaths(await readCalls(traces)).filter(
        (path) =>
          !/^(\/dev\/(null|tty|ptmx|shm\/.*|urandom)|\/proc\/.*|(pipe|socket|anon_inode):.*|\/memfd:.*)$/.test(path),
      );
      // Only the keys file is written, and the time stamp of LibreOffice's extensions.
      const allowed = /\/keys\.json(\.lock|\.\d+\.tmp)?( \(deleted\))?$|\/uno_packages\/cache\/stamp\.sys$/;
      const written = [...new Set(paths)].filter((path) => !allowed.test(path));
      assert.deepEqual(written, [], 'files that were opened for writing');
      assert.ok(
        writtenPaths(await readCalls(traces)).some((path) => path.startsWith(SHM)),
        'the trace must contain files that are opened for writing',
      );
    });

    test('no document content is in the memory file system after the requests', async () => {
      // The LibreOffice processes keep running with their profile, but their documents must be deleted.
      const folders = await memoryFolders();
      assert.ok(folders.length > 0, 'isolated processes must have private folders in memory');
      assert.deepEqual(await marker.findInFolders(folders), []);
    });

    test('no document content is in the output, metrics, traces and audit events', async () => {
      const text = product.output();
      const events = text.split('\n').filter((line) => line.includes('"audit"') && line.includes('"event":"parse"'));
      assert.equal(events.length, files.length, 'one audit event for each parse');
      assert.equal(marker.findIn(text), undefined);
      assert.equal(marker.findIn(await readMetrics()), undefined);
      assert.ok(collector.bodies.length > 0, 'traces must be exported');
      for (const body of collector.bodies) assert.equal(marker.findIn(body), undefined);
      if (nats) {
        const connection = await connect({ servers: nats.url });
        const stream = await (await jetstreamManager(connection)).streams.get('PARSEMESH_EVENTS');
        const { messages, first_seq } = (await stream.info()).state;
        let parses = 0;
        for (let seq = first_seq; seq < first_seq + messages; seq++) {
          const event = (await stream.getMessage({ seq }))?.string() ?? '';
          if (event.includes('"event":"parse"')) {
            parses += 1;
            assert.match(event, /"username":"ann"/);
          } else assert.match(event, /"event":"key-/);
          assert.equal(marker.findIn(event), undefined);
        }
        assert.equal(parses, files.length, 'one audit event in the stream for each parse');
        await connection.close();
      }
      // This user name is allowed in audit events, so it shows that the search works.
      assert.ok(new MarkerWord('ann').findIn(events.join('\n')), 'the user name of the audit event');
      assert.ok(new MarkerWord('parsemesh_').findIn(await readMetrics()));
      assert.ok(collector.bodies.some((body) => new MarkerWord('receive upload').findIn(body)));
    });

    test('without zero data retention, the search finds the content of the same files on disk', async () => {
      const [otherStore, otherTemporary] = ['control-store', 'control-tmp'].map((name) => join(folder, name)) as [
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
        const searchDuring = async (folders: readonly string[], pattern: RegExp): Promise<string[]> => {
          const work = sendAll(
            false,
            control,
            files.filter(({ what }) => pattern.test(what)),
          );
          const seen = await marker.findInFoldersDuring(folders, work);
          await work;
          return [...seen];
        };
        // Two searches, because LibreOffice's files exist for a moment only: reading the large payloads again and again would miss them.
        const payloads = await searchDuring([otherStore, otherTemporary], /large|scan/);
        const officeFiles = await searchDuring([otherTemporary], /^\.(doc|docx|rtf)$/);
        // LibreOffice's folder is inside the private folder of its isolated process.
        for (const [place, seen] of [
          [bus ? `${otherStore}/` : join(otherTemporary, 'parsemesh-payloads-'), payloads],
          ['/parsemesh-office-', officeFiles],
        ] as const)
          assert.ok(
            seen.some((path) => path.startsWith(folder) && path.includes(place)),
            `the word must be in a file below ${place}, but is in ${seen.join(', ')}`,
          );
        assert.equal(marker.findIn(control.output()), undefined, 'content is never logged');
      } finally {
        await control.stop();
        await bus?.stop();
      }
    });

    test('returns 403 for a key without the permission, with options before and after the file', async () => {
      const key = await product.createKey('--allow', 'parse');
      for (const fileFirst of [false, true])
        errorBody(
          await parse(
            { ...product, key },
            { file: files[0]?.file ?? '', fileName: 'a.pdf', fileFirst, options: { zeroDataRetention: true } },
          ),
          403,
          'FORBIDDEN',
        );
    });
  });

test('the search finds the word in UTF-8, UTF-16, hexadecimal, base64 and file names', async () => {
  const text = `the ${marker.word} sat`;
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
    assert.notEqual(marker.findIn(bytes), undefined, bytes.toString('latin1'));
  assert.equal(marker.findIn('a magpie sat'), undefined);
  const folder = await mkdtemp(join(tmpdir(), 'parsemesh-marker-'));
  assert.deepEqual(await marker.findInFolders([folder]), []);
  await mkdir(join(folder, `${marker.word}.d`));
  assert.equal((await marker.findInFolders([folder])).length, 1);
  await rm(folder, { recursive: true });
});
