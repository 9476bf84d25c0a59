// Reads PDF files with @firecrawl/pdf-inspector from the folder of its argument, with the protocol of pdf-engine-process.py.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

interface PdfInspector {
  processPdf(bytes: Buffer): { markdown?: string };
}

const require = createRequire(join(process.argv[2] ?? '', 'package.json'));
const inspector = require('@firecrawl/pdf-inspector') as PdfInspector;

function read(source: string, target: string | undefined): boolean {
  try {
    const { markdown } = inspector.processPdf(readFileSync(source));
    if (target && markdown !== undefined) writeFileSync(target, markdown);
    return markdown !== undefined;
  } catch {
    return false;
  }
}

console.log('ready');
for await (const line of createInterface({ input: process.stdin })) {
  const [source = '', target] = line.split('\t');
  const start = performance.now();
  console.log(`${read(source, target) ? 'ok' : 'err'} ${((performance.now() - start) / 1_000).toFixed(4)}`);
}
