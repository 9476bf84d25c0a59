// Lists the versions of the programs and packages that read documents, on the machine of the run.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { release } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { StepResult } from './step.ts';

const PROGRAMS: readonly (readonly [name: string, program: string, args: readonly string[]])[] = [
  ['LibreOffice', 'soffice', ['--version']],
  ['Tesseract', 'tesseract', ['--version']],
  ['nats-server', 'nats-server', ['--version']],
];
const PACKAGES = [
  '@embedpdf/pdfium',
  'pdfjs-dist',
  'tesseract.js-core',
  'sharp',
  'express',
  'busboy',
  'parse5',
  'yauzl',
];

/** The first line that a program prints, or undefined if it cannot be started. */
async function versionOf(program: string, args: readonly string[]): Promise<string | undefined> {
  const env = { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin` };
  const output = await promisify(execFile)(program, [...args], { env, timeout: 60_000 }).catch(() => undefined);
  return output && `${output.stdout}${output.stderr}`.trim().split('\n', 1)[0];
}

export async function engineVersions(root: string): Promise<StepResult> {
  const rows = [
    ['Node.js', process.version],
    ['kernel', release()],
  ];
  const system = await readFile('/etc/os-release', 'utf8').catch(() => '');
  rows.push(['system', /^PRETTY_NAME="(.*)"$/m.exec(system)?.[1] ?? process.platform]);
  for (const name of PACKAGES) {
    const { version } = JSON.parse(await readFile(join(root, 'node_modules', name, 'package.json'), 'utf8')) as {
      version: string;
    };
    rows.push([name, version]);
  }
  const problems: string[] = [];
  for (const [name, program, args] of PROGRAMS) {
    const version = await versionOf(program, args);
    rows.push([name, version ?? 'not installed']);
    if (version === undefined) problems.push(`${name} is not installed, so it was not tested`);
  }
  return {
    claim: 'These versions were installed where this report was made.',
    problems,
    facts: { head: ['software', 'version'], rows },
  };
}
