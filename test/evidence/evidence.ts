// Runs `npm run evidence`: checks what the documentation promises about security, and writes one dated report for an auditor.
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { billOfMaterials } from './bill-of-materials.ts';
import { busPermissions } from './bus-permissions.ts';
import { engineVersions } from './engines.ts';
import { podPermissions } from './pods.ts';
import { jsonReport, markdownReport, type Subject } from './report.ts';
import type { FinishedStep, StepResult } from './step.ts';
import { runSuite } from './suite.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

interface Options {
  only?: string | undefined;
  out: string;
  manifests: string;
  debian?: string | undefined;
}

const hardening = (name: string, claim: string) => (): Promise<StepResult> =>
  runSuite(ROOT, join(ROOT, `test/hardening/${name}.hardening.ts`), claim);

/** Every step by name, in the order of the report. The quick ones are first. */
const STEPS: Readonly<Record<string, (options: Options) => Promise<StepResult>>> = {
  engines: () => engineVersions(ROOT),
  sbom: ({ debian }) => billOfMaterials(ROOT, debian),
  pods: async ({ manifests }) => podPermissions(await readFile(manifests, 'utf8')),
  bus: () => Promise.resolve(busPermissions()),
  'zero-retention': hardening(
    'zero-retention',
    'With zero data retention, no word of a document is found on disk, in logs, metrics, traces and audit events, while the same search finds it without zero data retention.',
  ),
  egress: hardening(
    'egress',
    'While documents with external links are read, no process connects to anything but the bus.',
  ),
  hostile: hardening(
    'hostile',
    'Hostile files and requests get a documented response in time and within the memory limits, and the next request is served.',
  ),
};

const USAGE = `npm run evidence -- [options]
  --only LIST       steps, separated by commas: ${Object.keys(STEPS).join(', ')} (default: all)
  --out FOLDER      folder of the reports (evidence)
  --manifests FILE  manifests to check, for example the output of helm template with your values (k8s/base/parsemesh.yaml)
  --debian FILE     adds the Debian packages of an image: docker run --rm --entrypoint dpkg-query IMAGE -W > FILE`;

/** The command line is invalid. The message is meant for the user. */
class UsageError extends Error {
  override readonly name = 'UsageError';
}

const git = async (...args: string[]): Promise<string> =>
  (await promisify(execFile)('git', args, { cwd: ROOT })).stdout.trimEnd();

async function describeSubject(startedAt: string): Promise<Subject> {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const [commit, changes] = await Promise.all([git('rev-parse', 'HEAD'), git('status', '--porcelain')]);
  const changedFiles = changes.split('\n').flatMap((line) => (line === '' ? [] : [line.slice(3)]));
  return { version, commit, changedFiles, startedAt };
}

async function runStep(name: string, options: Options): Promise<FinishedStep> {
  const started = performance.now();
  process.stdout.write(`${name} ... `);
  const result: StepResult = await (STEPS[name]?.(options) ?? Promise.reject(new Error('unknown step'))).catch(
    (error: unknown) => ({
      claim: 'The step could not be run.',
      problems: [error instanceof Error ? error.message : String(error)],
      facts: { head: ['nothing was checked'], rows: [] },
    }),
  );
  const status = result.problems.length === 0 ? 'PASS' : 'FAIL';
  const seconds = (performance.now() - started) / 1_000;
  process.stdout.write(`${status} (${seconds.toFixed(1)} s)\n`);
  for (const problem of result.problems) process.stdout.write(`  ${problem}\n`);
  return { name, status, seconds, ...result };
}

function readOptions(args: string[]): { options: Options; names: string[] } {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({ args, options: { only: text, out: text, manifests: text, debian: text } });
  const names = values.only === undefined ? Object.keys(STEPS) : values.only.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !Object.hasOwn(STEPS, name));
  if (unknown.length > 0) throw new UsageError(`unknown step: ${unknown.join(', ')}\n${USAGE}`);
  const { out = join(ROOT, 'evidence'), manifests = join(ROOT, 'k8s/base/parsemesh.yaml'), ...rest } = values;
  return { options: { ...rest, out: resolve(out), manifests: resolve(manifests) }, names };
}

async function main(args: string[]): Promise<void> {
  const { options, names } = readOptions(args);
  const startedAt = new Date().toISOString();
  const subject = await describeSubject(startedAt);
  const steps: FinishedStep[] = [];
  for (const name of Object.keys(STEPS)) if (names.includes(name)) steps.push(await runStep(name, options));
  const leftOut = Object.keys(STEPS).filter((name) => !names.includes(name));
  const folder = join(options.out, startedAt.replaceAll(/[:.]/g, '-'));
  await mkdir(folder, { recursive: true });
  for (const { files = {} } of steps)
    for (const [file, content] of Object.entries(files)) await writeFile(join(folder, file), content);
  await writeFile(join(folder, 'report.json'), jsonReport(subject, steps, leftOut));
  await writeFile(join(folder, 'report.md'), markdownReport(subject, steps, leftOut));
  process.stdout.write(`${relative(process.cwd(), folder)}/report.md\n`);
  if (steps.some(({ status }) => status === 'FAIL')) process.exitCode = 1;
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  const isUsage = error instanceof UsageError || (error instanceof TypeError && 'code' in error);
  if (!isUsage) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
