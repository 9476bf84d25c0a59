// No egress by default: files that link to elsewhere in every way their kinds know are read while each process is watched, and none of them asks the network for anything but its bus.
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
import { flatOdf, type Trap, traps } from '../harness/documents/traps.ts';
import { type NatsServer, startNatsServer } from '../harness/nats-server.ts';
import { type Product, skipReason, startProduct } from '../harness/product.ts';
import { addressesAsked, callsIn, traced, traceSkipReason } from '../harness/traced.ts';

/** The script that starts it again where a new profile asks for that. */
const SOFFICE = '/usr/lib/libreoffice/program/soffice';
const CALLS = ['connect', 'sendto', 'sendmsg', 'sendmmsg'];
const run = promisify(execFile);

/** Legacy files with the links of an OpenDocument in them, as LibreOffice itself writes them. */
async function legacyTraps(folder: string, url: (name: string) => string): Promise<Trap[]> {
  if (!existsSync(SOFFICE)) return [];
  const profile = `-env:UserInstallation=${pathToFileURL(join(folder, 'profile')).href}`;
  const alone = spawnSync('unshare', ['-rn', 'true']).status === 0 ? ['unshare', '-rn'] : [];
  const made: Trap[] = [];
  for (const [kind, flat, legacy] of [
    ['text', 'fodt', 'doc'],
    ['spreadsheet', 'fods', 'xls'],
    ['presentation', 'fodp', 'ppt'],
  ] as const) {
    const source = join(folder, `links.${flat}`);
    await writeFile(source, flatOdf(kind, url));
    const [program = SOFFICE, ...args] = [
      ...alone,
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
    made.push({ fileName: `links.${legacy}`, file: await readFile(join(folder, `links.${legacy}`)), word: 'herons' });
  }
  return made;
}

/** Hears whoever follows a link to this machine. */
async function startEar(): Promise<{ server: Server; port: number; heard: () => number }> {
  let heard = 0;
  const server = createServer((socket) => {
    heard += 1;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return { server, port: typeof address === 'object' ? (address?.port ?? 0) : 0, heard: () => heard };
}

/** What no machine answers to: a name to be looked up, addresses for documentation (RFC 5737, RFC 3849), other schemes, a Windows share. */
const ELSEWHERE: readonly ((name: string) => string)[] = [
  (name) => `http://trap.example.com/${name}`,
  (name) => `https://192.0.2.7/${name}`,
  (name) => `ftp://[2001:db8::7]/${name}`,
  (name) => `file://trap.example.com/share/${name}`,
  (name) => `//trap.example.com/${name}`,
];

interface Round {
  what: string;
  env: Record<string, string>;
  services?: readonly ('gateway' | 'office')[];
}

const rounds: readonly Round[] = [
  { what: 'with everything at hand', env: {} },
  // Where no process may have a network namespace of its own, LibreOffice has its settings alone.
  {
    what: 'where LibreOffice cannot be shut off from the network',
    env: { PATH: '/nonexistent' },
    services: ['gateway', 'office'],
  },
];

for (const { what, env, services } of rounds)
  describe(`no egress ${what}`, { skip: skipReason('nats') || traceSkipReason() }, () => {
    let folder = '';
    let nats: NatsServer;
    let product: Product;
    let ear: Awaited<ReturnType<typeof startEar>>;
    let files: Trap[] = [];

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'parsemesh-egress-'));
      await mkdir(join(folder, 'traces'));
      ear = await startEar();
      const here = (name: string) => `http://127.0.0.1:${ear.port}/${name}`;
      let next = 0;
      // Each link of a file goes another way, so that every file has all of them.
      const elsewhere = (name: string) => ELSEWHERE[next++ % ELSEWHERE.length]?.(name) ?? here(name);
      const office = /\.(docx|xlsx|od[tsp]|rtf|doc|xls|ppt)$/;
      for (const [index, url] of [here, elsewhere].entries()) {
        const made = [...traps(url), ...(await legacyTraps(folder, url))];
        files.push(...made.map((trap) => ({ ...trap, fileName: `${index}-${trap.fileName}` })));
      }
      if (services) files = files.filter(({ fileName }) => office.test(fileName));
      nats = await startNatsServer();
      product = await startProduct({
        transport: 'nats',
        natsUrl: nats.url,
        env,
        ...(services ? { services } : {}),
        before: traced(join(folder, 'traces'), CALLS),
      });
    });
    after(async () => {
      await product?.stop();
      await nats?.stop();
      ear?.server.close();
      await rm(folder, { recursive: true, force: true });
    });

    test('every such file is read, or refused, and nothing is asked for', async () => {
      const waiting = [...files];
      const lane = async (): Promise<void> => {
        for (let trap = waiting.shift(); trap; trap = waiting.shift()) {
          const { fileName, file, word } = trap;
          const options = {
            timeout: 120_000,
            formats: ['markdown', 'html', 'links', 'images'],
            removeBase64Images: false,
          };
          const answer = await parse(product, { file, fileName, options, patienceMs: 150_000 });
          if (word === undefined) assert.ok([200, 400, 422].includes(answer.status), `${fileName}: ${answer.text}`);
          else
            assert.ok(
              successData(answer).markdown?.includes(word),
              `${fileName} was not read: ${answer.text.slice(0, 300)}`,
            );
        }
      };
      await Promise.all([lane(), lane()]);
      assert.equal(ear.heard(), 0, 'somebody followed a link');
      const asked = [...new Set(addressesAsked(await callsIn(join(folder, 'traces'))))];
      const bus = `127.0.0.1:${nats.port}`;
      assert.deepEqual(
        asked.filter((one) => !one.endsWith(` ${bus}`)),
        [],
      );
      assert.ok(asked.includes(`office: ${bus}`), 'the trace sees connections');
    });
  });

test('these files are traps: LibreOffice as it comes follows their links', {
  skip: traceSkipReason() || (existsSync(SOFFICE) ? false : 'SKIPPED: LibreOffice is not installed'),
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parsemesh-egress-'));
  const ear = await startEar();
  await legacyTraps(folder, (name) => `http://127.0.0.1:${ear.port}/${name}`);
  const profile = `-env:UserInstallation=${pathToFileURL(join(folder, 'profile')).href}`;
  const [program = '', ...watch] = traced(folder, CALLS)('soffice');
  const args = [...watch, SOFFICE, profile, '--headless', '--convert-to', 'docx', '--outdir', folder];
  await run(program, [...args, join(folder, 'links.doc')], {
    timeout: 120_000,
    env: { PATH: '/usr/bin:/bin', HOME: folder },
  });
  await new Promise((resolve) => setTimeout(resolve, 500));
  const asked = addressesAsked(await callsIn(folder));
  assert.ok(asked.includes(`soffice: 127.0.0.1:${ear.port}`), `the trace: ${asked}`);
  assert.ok(ear.heard() > 0, 'and the ear hears it');
  ear.server.close();
  await rm(folder, { recursive: true });
});

test('the watch sees a connection, a lookup and what a child does', { skip: traceSkipReason() }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parsemesh-egress-'));
  const script = `
    require('node:net').connect(9, '127.0.0.1').on('error', () => undefined);
    require('node:dgram').createSocket('udp4').send('x', 53, '127.0.0.2', function () { this.close?.(); process.exitCode = 0; });
    require('node:child_process').spawnSync(process.execPath, ['-e', "require('node:net').connect(7, '::1').on('error', () => undefined)"]);
    setTimeout(() => process.exit(), 300);`;
  const [program = '', ...args] = [...traced(folder, CALLS)('script'), process.execPath, '-e', script];
  await run(program, args);
  // The watcher ends after what it watches.
  await new Promise((resolve) => setTimeout(resolve, 500));
  const asked = addressesAsked(await callsIn(folder));
  for (const wanted of ['script: 127.0.0.1:9', 'script: 127.0.0.2:53', 'script: ::1:7'])
    assert.ok(asked.includes(wanted), `${wanted} in ${asked}`);
  await rm(folder, { recursive: true });
});
