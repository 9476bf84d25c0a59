// Tests that no process connects to anything but the bus while it reads files with every kind of external link.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { parse, successData } from '../harness/client.ts';
import { documentsWithExternalLinks, flatOdf, type LinkingDocument } from '../harness/documents/external-links.ts';
import { type NatsServer, startNatsServer } from '../harness/nats-server.ts';
import { type Product, skipReason, startProduct } from '../harness/product.ts';
import { contactedAddresses, readCalls, straceCommand, straceSkipReason } from '../harness/system-calls.ts';

/** The start script of LibreOffice, which restarts it when a new profile requires that. */
const SOFFICE = '/usr/lib/libreoffice/program/soffice';
const CALLS = ['connect', 'sendto', 'sendmsg', 'sendmmsg'];
const run = promisify(execFile);

/** Creates .doc, .xls and .ppt files with the external links of an OpenDocument file. LibreOffice writes them. */
async function convertToLegacyFormats(folder: string, url: (name: string) => string): Promise<LinkingDocument[]> {
  if (!existsSync(SOFFICE)) return [];
  const profile = `-env:UserInstallation=${pathToFileURL(join(folder, 'profile')).href}`;
  const isolation = spawnSync('unshare', ['-rn', 'true']).status === 0 ? ['unshare', '-rn'] : [];
  const created: LinkingDocument[] = [];
  for (const [kind, flat, legacy] of [
    ['text', 'fodt', 'doc'],
    ['spreadsheet', 'fods', 'xls'],
    ['presentation', 'fodp', 'ppt'],
  ] as const) {
    const source = join(folder, `links.${flat}`);
    await writeFile(source, flatOdf(kind, url));
    const [program = SOFFICE, ...args] = [
      ...isolation,
      SOFFICE,
      profile,
      '--headless',
      '--norestore',
      '--convert-to',
      legacy,
      '--outdir',
      folder,
      source,
    ];
    await run(program, args, { timeout: 120_000, env: { PATH: '/usr/bin:/bin', HOME: folder } });
    created.push({
      fileName: `links.${legacy}`,
      file: await readFile(join(folder, `links.${legacy}`)),
      word: 'herons',
    });
  }
  return created;
}

/** Listens on 127.0.0.1 and counts connections of programs that follow a link. */
async function startListener(): Promise<{ server: Server; port: number; connections: () => number }> {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return { server, port: typeof address === 'object' ? (address?.port ?? 0) : 0, connections: () => connections };
}

/** Unreachable targets: a name that needs DNS, addresses for documentation (RFC 5737, RFC 3849), other schemes, a Windows share. */
const EXTERNAL: readonly ((name: string) => string)[] = [
  (name) => `http://external.example.com/${name}`,
  (name) => `https://192.0.2.7/${name}`,
  (name) => `ftp://[2001:db8::7]/${name}`,
  (name) => `file://external.example.com/share/${name}`,
  (name) => `//external.example.com/${name}`,
];

interface Setup {
  name: string;
  env: Record<string, string>;
  services?: readonly ('gateway' | 'office')[];
}

const SETUPS: readonly Setup[] = [
  { name: 'with the default setup', env: {} },
  // Without `unshare` in the PATH, LibreOffice has no network namespace of its own and is protected by its settings only.
  {
    name: 'when LibreOffice has no network namespace of its own',
    env: { PATH: '/nonexistent' },
    services: ['gateway', 'office'],
  },
];

for (const { name, env, services } of SETUPS)
  describe(`no egress ${name}`, { skip: skipReason('nats') || straceSkipReason() }, () => {
    let folder = '';
    let nats: NatsServer;
    let product: Product;
    let listener: Awaited<ReturnType<typeof startListener>>;
    let files: LinkingDocument[] = [];

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'parsemesh-egress-'));
      await mkdir(join(folder, 'traces'));
      listener = await startListener();
      const localUrl = (path: string) => `http://127.0.0.1:${listener.port}/${path}`;
      let next = 0;
      // Each link gets the next kind of target, so that a file has targets of all kinds.
      const externalUrl = (path: string) => EXTERNAL[next++ % EXTERNAL.length]?.(path) ?? localUrl(path);
      const office = /\.(docx|xlsx|od[tsp]|rtf|doc|xls|ppt)$/;
      for (const [index, url] of [localUrl, externalUrl].entries()) {
        const created = [...documentsWithExternalLinks(url), ...(await convertToLegacyFormats(folder, url))];
        files.push(...created.map((document) => ({ ...document, fileName: `${index}-${document.fileName}` })));
      }
      if (services) files = files.filter(({ fileName }) => office.test(fileName));
      nats = await startNatsServer();
      product = await startProduct({
        transport: 'nats',
        natsUrl: nats.url,
        env,
        ...(services ? { services } : {}),
        before: straceCommand(join(folder, 'traces'), CALLS),
      });
    });
    after(async () => {
      await product?.stop();
      await nats?.stop();
      listener?.server.close();
      await rm(folder, { recursive: true, force: true });
    });

    test('every file is parsed or rejected, and the processes connect to the bus only', async () => {
      const waiting = [...files];
      const client = async (): Promise<void> => {
        for (let trap = waiting.shift(); trap; trap = waiting.shift()) {
          const { fileName, file, word } = trap;
          const options = {
            timeout: 120_000,
            formats: ['markdown', 'html', 'links', 'images'],
            removeBase64Images: false,
          };
          const answer = await parse(product, { file, fileName, options, clientTimeoutMs: 150_000 });
          if (word === undefined) assert.ok([200, 400, 422].includes(answer.status), `${fileName}: ${answer.text}`);
          else
            assert.ok(
              successData(answer).markdown?.includes(word),
              `${fileName} was not read: ${answer.text.slice(0, 300)}`,
            );
        }
      };
      await Promise.all([client(), client()]);
      assert.equal(listener.connections(), 0, 'no program may follow a link');
      const contacted = [...new Set(contactedAddresses(await readCalls(join(folder, 'traces'))))];
      const bus = `127.0.0.1:${nats.port}`;
      assert.deepEqual(
        contacted.filter((one) => !one.endsWith(` ${bus}`)),
        [],
      );
      assert.ok(contacted.includes(`office: ${bus}`), 'the trace must contain the connections to the bus');
    });
  });

test('LibreOffice with its default settings follows the links, so the links in the test files work', {
  skip: straceSkipReason() || (existsSync(SOFFICE) ? false : 'SKIPPED: LibreOffice is not installed'),
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parsemesh-egress-'));
  const listener = await startListener();
  await convertToLegacyFormats(folder, (path) => `http://127.0.0.1:${listener.port}/${path}`);
  const profile = `-env:UserInstallation=${pathToFileURL(join(folder, 'profile')).href}`;
  const [program = '', ...tracer] = straceCommand(folder, CALLS)('soffice');
  const args = [...tracer, SOFFICE, profile, '--headless', '--convert-to', 'docx', '--outdir', folder];
  await run(program, [...args, join(folder, 'links.doc')], {
    timeout: 120_000,
    env: { PATH: '/usr/bin:/bin', HOME: folder },
  });
  await new Promise((resolve) => setTimeout(resolve, 500));
  const contacted = contactedAddresses(await readCalls(folder));
  assert.ok(contacted.includes(`soffice: 127.0.0.1:${listener.port}`), `the trace: ${contacted}`);
  assert.ok(listener.connections() > 0, 'the listener must count the connection');
  listener.server.close();
  await rm(folder, { recursive: true });
});

test('the trace contains a connection, a datagram and the connection of a child process', {
  skip: straceSkipReason(),
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parsemesh-egress-'));
  const script = `
    require('node:net').connect(9, '127.0.0.1').on('error', () => undefined);
    require('node:dgram').createSocket('udp4').send('x', 53, '127.0.0.2', function () { this.close?.(); process.exitCode = 0; });
    require('node:child_process').spawnSync(process.execPath, ['-e', "require('node:net').connect(7, '::1').on('error', () => undefined)"]);
    setTimeout(() => process.exit(), 300);`;
  const [program = '', ...args] = [...straceCommand(folder, CALLS)('script'), process.execPath, '-e', script];
  await run(program, args);
  // The tracer exits after the program.
  await new Promise((resolve) => setTimeout(resolve, 500));
  const contacted = contactedAddresses(await readCalls(folder));
  for (const expected of ['script: 127.0.0.1:9', 'script: 127.0.0.2:53', 'script: ::1:7'])
    assert.ok(contacted.includes(expected), `${expected} must be in ${contacted}`);
  await rm(folder, { recursive: true });
});
