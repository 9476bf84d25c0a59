// Starts other PDF engines that are installed here, each as one process that reads a path per line, to compare them with the product.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Input } from './inputs.ts';
import { cpuMsOf, type Subject } from './subject.ts';

/** How to install the engines. None is a dependency of the project. */
const INSTALLATION = [
  'python3 -m venv PEERS && PEERS/bin/pip install liteparse pymupdf4llm==1.28.2',
  'npm install --prefix PEERS @firecrawl/pdf-inspector@1.25',
  'PDF_PEERS=PEERS npm run bench -- pdf; PDF_PEERS=PEERS npm run quality -- pdf',
] as const;

const pathTo = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/**
 * Starts a program that prints `ready`, and then for each path a line that begins with `ok` if the file was read.
 * @returns undefined if the program does not print `ready`
 */
async function lineSubject(name: string, command: string, args: readonly string[]): Promise<Subject | undefined> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  // If the program exits, the remaining documents count as rejected.
  child.stdin.on('error', () => undefined);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async () => (await lines.next()).value as string | undefined;
  if ((await nextLine()) !== 'ready') return undefined;
  const folder = await mkdtemp(join(tmpdir(), 'bench-pdf-'));
  const paths = new Map<Input, string>();
  const pathOf = async (input: Input) => {
    const known = paths.get(input);
    if (known !== undefined) return known;
    const path = join(folder, `${paths.size}.pdf`);
    await writeFile(path, input.bytes);
    paths.set(input, path);
    return path;
  };
  return {
    name,
    convert: async (input) => {
      child.stdin.write(`${await pathOf(input)}\n`);
      return (await nextLine())?.startsWith('ok') === true;
    },
    cpuMs: () => cpuMsOf([child.pid ?? 0]),
    stop: async () => {
      child.stdin.end();
      child.kill('SIGTERM');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** PDFium's part of the work: the lower bound for any reader that uses it. */
export const pdfiumSubject = () =>
  lineSubject('PDFium only (load, characters, boxes, objects)', process.execPath, [pathTo('./pdfium-process.ts')]);

interface PdfEngine {
  name: string;
  /** A program that reads lines of `IN` or `IN<TAB>OUT`. */
  command: string;
  args: string[];
  /** This engine needs hundreds of ms per page, so it is measured only once. */
  slow: boolean;
}

/** The engines that are installed in `folder`. Prints the names of the others and how to install them. */
export function installedPdfEngines(folder: string | undefined): PdfEngine[] {
  const python = folder === undefined ? (process.env.PYTHON ?? 'python3') : join(folder, 'bin/python3');
  const engines: PdfEngine[] = [];
  const missing: string[] = [];
  for (const name of ['liteparse', 'pymupdf4llm']) {
    if (spawnSync(python, ['-c', `import ${name}`], { stdio: 'ignore' }).status === 0)
      engines.push({
        name,
        command: python,
        args: [pathTo('./pdf-engine-process.py'), name],
        slow: name === 'pymupdf4llm',
      });
    else missing.push(name);
  }
  if (folder !== undefined && existsSync(join(folder, 'node_modules/@firecrawl/pdf-inspector')))
    engines.push({
      name: 'pdf-inspector',
      command: process.execPath,
      args: [pathTo('./pdf-inspector-process.ts'), folder],
      slow: false,
    });
  else missing.push('pdf-inspector');
  if (missing.length > 0)
    console.log(
      `Not measured, because not installed: ${missing.join(', ')}. To install them:\n  ${INSTALLATION.join('\n  ')}`,
    );
  return engines;
}

export const pdfEngineSubject = ({ name, command, args }: PdfEngine) => lineSubject(name, command, args);
