// Tests the quick steps of `npm run evidence`, that each check can fail, and the report that it writes.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { permissionsOf } from '#shared/bus/nats/accounts.ts';
import { readDebianPackages } from './bill-of-materials.ts';
import { busPermissions, busProblems } from './bus-permissions.ts';
import { podPermissions } from './pods.ts';
import type { StepResult } from './step.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const manifests = await readFile(join(ROOT, 'k8s/base/parsemesh.yaml'), 'utf8');
let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parsemesh-evidence-'));
});
after(() => rm(folder, { recursive: true, force: true }));

function evidence(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const command = join(ROOT, 'test/evidence/evidence.ts');
  return new Promise((done) =>
    execFile(process.execPath, [command, ...args], { cwd: ROOT }, (error, stdout, stderr) =>
      done({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    ),
  );
}

interface Report {
  result: string;
  commit: string;
  leftOut: string[];
  steps: { name: string; status: string; problems: string[]; facts: { rows: string[][] }; files: string[] }[];
}

/** The files of the only report in a folder. */
async function readReport(out: string): Promise<{ report: Report; text: string; files: string[]; at: string }> {
  const [name = '', ...others] = await readdir(out);
  assert.deepEqual(others, []);
  const at = join(out, name);
  const report = JSON.parse(await readFile(join(at, 'report.json'), 'utf8')) as Report;
  return { report, text: await readFile(join(at, 'report.md'), 'utf8'), files: (await readdir(at)).sort(), at };
}

test('writes one report with the commit, the bill of materials and the permissions of every pod', async () => {
  const debian = join(folder, 'packages.txt');
  await writeFile(debian, 'libc6\t2.36-9+deb12u10\ntini\t0.19.0-1\n');
  const out = join(folder, 'good');
  const { code, stdout } = await evidence('--only', 'pods,sbom', '--out', out, '--debian', debian);
  assert.equal(code, 0, stdout);
  const { report, text, files, at } = await readReport(out);
  assert.deepEqual(files, ['manifests.yaml', 'report.json', 'report.md', 'sbom.cdx.json']);
  assert.match(report.commit, /^[0-9a-f]{40}$/);
  assert.equal(report.result, 'PASS');
  assert.deepEqual(
    report.steps.map(({ name, status }) => [name, status]),
    [
      ['sbom', 'PASS'],
      ['pods', 'PASS'],
    ],
  );
  assert.ok(report.leftOut.includes('egress') && text.includes('Not part of this run: engines, bus, zero-retention'));
  const bill = JSON.parse(await readFile(join(at, 'sbom.cdx.json'), 'utf8')) as {
    metadata: { component: { name: string } };
    components: { name: string; version: string; purl: string }[];
  };
  assert.equal(bill.metadata.component.name, 'parsemesh');
  const names = bill.components.map(({ name }) => name);
  for (const name of ['express', 'zod', '@embedpdf/pdfium', '@nats-io/jetstream', 'libc6', 'tini'])
    assert.ok(names.includes(name), name);
  assert.equal(names.includes('typescript'), false, 'packages for development are not in the images');
  assert.ok(bill.components.some(({ purl }) => purl === 'pkg:deb/debian/libc6@2.36-9%2Bdeb12u10'));
  const pods = report.steps[1]?.facts.rows.map(([name]) => name) ?? [];
  const workloads = [...manifests.matchAll(/^kind: (?:Deployment|StatefulSet)$/gm)].length;
  assert.ok(pods.length >= workloads && workloads > 5, `${pods.length} containers of ${workloads} workloads`);
});

test('exits with 1 and names the problem if a check fails, and still writes the report', async () => {
  const file = join(folder, 'weak.yaml');
  await writeFile(file, manifests.replaceAll('readOnlyRootFilesystem: true', 'readOnlyRootFilesystem: false'));
  const out = join(folder, 'bad');
  const { code, stdout } = await evidence('--only', 'pods', '--out', out, '--manifests', file);
  assert.equal(code, 1);
  assert.match(stdout, /has a writable root file system/);
  const { report, text } = await readReport(out);
  assert.equal(report.result, 'FAIL');
  assert.match(text, /^# Evidence for Parsemesh .*: FAIL$/m);
});

test('exits with 2 and the usage for an unknown step or option, and with 1 for a file that is missing', async () => {
  const unknown = await evidence('--only', 'pods,nope');
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /unknown step: nope/);
  assert.equal((await evidence('--nope')).code, 2);
  const missing = await evidence(
    '--only',
    'pods',
    '--manifests',
    join(folder, 'none'),
    '--out',
    join(folder, 'missing'),
  );
  assert.equal(missing.code, 1);
  assert.match(missing.stdout, /ENOENT/);
});

const WEAKER: readonly (readonly [what: string, from: RegExp, to: string, problem: RegExp])[] = [
  ['runs as root', /runAsNonRoot: true/g, 'runAsNonRoot: false', /may run as root/],
  ['runs as uid 0', /runAsUser: \d+/g, 'runAsUser: 0', /runs as uid 0/],
  ['may gain privileges', /allowPrivilegeEscalation: false/g, 'allowPrivilegeEscalation: true', /may gain privileges/],
  ['keeps capabilities', /- ALL/g, '- NET_RAW', /keeps capabilities/],
  ['has no seccomp profile', /type: RuntimeDefault/g, 'type: Unconfined', /no seccomp profile/],
  ['has no NetworkPolicy', /kind: NetworkPolicy/g, 'kind: Other', /has no NetworkPolicy for Ingress/],
  [
    'has a token without need',
    /automountServiceAccountToken: false/g,
    'automountServiceAccountToken: true',
    /token of a service account/,
  ],
  [
    'uses the network of the node',
    /^ {6}automountServiceAccountToken/gm,
    '      hostNetwork: true\n      automountServiceAccountToken',
    /uses hostNetwork/,
  ],
];
for (const [what, from, to, problem] of WEAKER)
  test(`a pod that ${what} is a problem`, () => {
    const weaker = manifests.replaceAll(from, to);
    assert.notEqual(weaker, manifests, 'the manifests must contain the setting');
    assert.match(podPermissions(weaker).problems.join('\n'), problem);
  });

test('no worker has rights of others on the bus, and each right of others is a problem', () => {
  assert.deepEqual(busPermissions().problems, []);
  const rights: readonly (readonly [way: 'publish' | 'subscribe', subject: string, problem: RegExp])[] = [
    ['publish', '>', /may do everything/],
    ['publish', '$JS.API.STREAM.DELETE.PARSEMESH_EVENTS', /change or read streams/],
    ['publish', '$JS.API.CONSUMER.CREATE.PARSEMESH_JOBS_CSV.x', /change consumers/],
    ['publish', '$JS.API.CONSUMER.MSG.NEXT.PARSEMESH_JOBS_PDF.*', /jobs of another queue/],
    ['publish', '$JS.ACK.PARSEMESH_JOBS_VOLATILE_PII.>', /jobs of another queue/],
    ['publish', '$JS.API.DIRECT.GET.PARSEMESH_PAYLOADS.parsemesh.payloads.pdf.>', /read payloads of others/],
    ['publish', '$JS.API.DIRECT.GET.PARSEMESH_PAYLOADS.parsemesh.payloads.>', /read payloads of others/],
    ['publish', 'parsemesh.payloads.*.gateway.>', /as another service/],
    ['publish', '$KV.parsemesh-state.>', /shared state/],
    ['publish', 'parsemesh.events.audit', /append events/],
    ['subscribe', '_INBOX.>', /answers to other services/],
    ['subscribe', 'parsemesh.reply.gateway.>', /answers to other services/],
  ];
  for (const [way, subject, problem] of rights) {
    const permissions = permissionsOf('csv');
    permissions[way].push(subject);
    assert.match(busProblems('csv', permissions).join('\n'), problem, subject);
  }
});

test('manifests without pods, and a wrong list of Debian packages, are problems', () => {
  assert.deepEqual(podPermissions('').problems, ['the manifests contain no pods']);
  assert.throws(() => readDebianPackages('<html>'), /not a line of/);
});

/** Runs `runSuite` in a process of its own, because the test runner does not run files inside of a test. */
async function runSuite(file: string): Promise<StepResult> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const module = new URL('./suite.ts', import.meta.url).href;
  const script = join(folder, 'run-suite.mjs');
  const argument = (value: string): string => JSON.stringify(value);
  await writeFile(
    script,
    `import { runSuite } from ${argument(module)};
     process.stdout.write(JSON.stringify(await runSuite(${argument(ROOT)}, ${argument(file)}, 'claim')));`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, [script], { cwd: ROOT, env });
  return JSON.parse(stdout) as StepResult;
}

test('a suite reports passed, failed and skipped tests, and a skipped test counts as a problem', async () => {
  const file = join(folder, 'mixed.hardening.ts');
  await writeFile(
    file,
    `import { describe, test } from 'node:test';
     describe('group', () => {
       test('right', () => undefined);
       test('wrong', () => { throw new Error('not so\\nsecond line'); });
     });
     test('left out', { skip: 'no strace' }, () => undefined);`,
  );
  const { problems, facts } = await runSuite(file);
  assert.deepEqual(
    facts.rows.map(([name, result]) => [name, result]),
    [
      ['group > right', 'PASS'],
      ['group > wrong', 'FAIL'],
      ['left out', 'SKIPPED'],
    ],
  );
  assert.deepEqual(problems, ['group > wrong: not so', 'left out: not run (no strace)']);
  const empty = join(folder, 'empty.hardening.ts');
  await writeFile(empty, '');
  assert.match((await runSuite(empty)).problems.join(), /ran no test/);
});
