// The engines that read PDFs beside us: one warm process each that takes a path a line, where this machine has them.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Input } from './inputs.ts';
import { cpuOf, type Subject } from './subject.ts';

/** How to have them; none is a dependency of the project. */
export const PEER_INSTALLATION = [
  'python3 -m venv PEERS && PEERS/bin/pip install liteparse pymupdf4llm==1.28.2',
  'npm install --prefix PEERS @firecrawl/pdf-inspector@1.25',
  'PDF_PEERS=PEERS npm run bench -- pdf; PDF_PEERS=PEERS npm run quality -- pdf',
] as const;

const beside = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** A program that says `ready`, and then answers each path with a line that begins with `ok` where it was read. */
async function lineSubject(name: string, command: string, args: readonly string[]): Promise<Subject | undefined> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  // A program that died answers nothing, which is told as documents that it refused.
  child.stdin.on('error', () => undefined);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answer = async () => (await lines.next()).value as string | undefined;
  if ((await answer()) !== 'ready') return undefined;
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
    take: async (input) => {
      child.stdin.write(`${await pathOf(input)}\n`);
      return (await answer())?.startsWith('ok') === true;
    },
    cpuMs: () => cpuOf([child.pid ?? 0]),
    stop: async () => {
      child.stdin.end();
      child.kill('SIGTERM');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** PDFium's own part of the work: nobody who reads with it is faster. */
export const engineSubject = () =>
  lineSubject('PDFium alone (load, characters, boxes, objects)', process.execPath, [beside('./pdf-engine.ts')]);

export interface PdfPeer {
  name: string;
  /** A program that takes `IN` or `IN<TAB>OUT` a line. */
  command: string;
  args: string[];
  /** Hundreds of ms a page: it is measured once. */
  slow: boolean;
}

/** The peers that are installed in `folder`; those that are not are told. */
export function pdfPeers(folder: string | undefined): PdfPeer[] {
  const python = folder === undefined ? (process.env.PYTHON ?? 'python3') : join(folder, 'bin/python3');
  const peers: PdfPeer[] = [];
  const missing: string[] = [];
  for (const name of ['liteparse', 'pymupdf4llm']) {
    if (spawnSync(python, ['-c', `import ${name}`], { stdio: 'ignore' }).status === 0)
      peers.push({ name, command: python, args: [beside('./pdf-peer.py'), name], slow: name === 'pymupdf4llm' });
    else missing.push(name);
  }
  if (folder !== undefined && existsSync(join(folder, 'node_modules/@firecrawl/pdf-inspector')))
    peers.push({
      name: 'pdf-inspector',
      command: process.execPath,
      args: [beside('./pdf-inspector.ts'), folder],
      slow: false,
    });
  else missing.push('pdf-inspector');
  if (missing.length > 0)
    console.log(
      `Not measured, not installed: ${missing.join(', ')}. To have them:\n  ${PEER_INSTALLATION.join('\n  ')}`,
    );
  return peers;
}

export const peerSubject = ({ name, command, args }: PdfPeer) => lineSubject(name, command, args);
