// Runs `npm run bench`: measures the CPU time of requests, of baselines and of other tools in the same run.
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import type { Figures } from './suite.ts';
import { fairness } from './suites/fairness.ts';
import { fleet } from './suites/fleet.ts';
import { formats } from './suites/formats.ts';
import { gateway } from './suites/gateway.ts';
import { loop } from './suites/loop.ts';
import { memory } from './suites/memory.ts';
import { ocr } from './suites/ocr.ts';
import { pdf } from './suites/pdf.ts';
import { transport } from './suites/transport.ts';
import { upload } from './suites/upload.ts';

const SUITES = { gateway, loop, formats, transport, ocr, fleet, fairness, upload, pdf, memory } as const;

const HELP = `npm run bench -- [${Object.keys(SUITES).join('|')}|all] [--files 6] [--rounds 3] [--large] [--pages 40] [--only TEXT] [--out FILE]
  gateway   a small request: baseline server, converter only, entire product, cold start
  loop      hostile requests: the longest delay of the gateway's event loop by each
  formats   one request of each file format, in process, in memory and over NATS, and other tools
  transport cost of the bus for a small and a large request, and when idle
  ocr       a page of a scan, and native tesseract
  fleet     one scan on 1, 2 and 4 OCR workers, and on two workers of which one is killed
  fairness  a small PDF of one team while another team has 200 PDFs in the queue: time and throughput
  upload    a Word file of 45 MB, and ten at the same time
  pdf       a page of a PDF, other engines, and documents of growing length
  memory    CPU and peak memory of all processes for one large CSV, workbook or RTF file
  CORPORA   a folder of documents to measure instead of the fixtures
  TIKA_JAR  path of the server jar of Apache Tika; Tika is measured if this is set
  PYTHON    path of a Python interpreter (default python3); markitdown is measured if it is installed there
  PDF_PEERS a folder with liteparse, pymupdf4llm and pdf-inspector for the pdf suite. The suite prints how to install them.
  --large   pdf: also a document of 10,000 pages; memory: also documents that take minutes
  --pages   fleet: pages of its scan; one worker must read them within the 300 s limit of a request
  --only    memory, loop: only the documents or requests whose name contains TEXT
  --out     write the results to FILE as JSON
  Results are CPU ms (user and system) of all processes together, because other work on the machine affects them little.`;

const isSuite = (name: string): name is keyof typeof SUITES => Object.hasOwn(SUITES, name);

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      files: { type: 'string', default: '6' },
      rounds: { type: 'string', default: '3' },
      large: { type: 'boolean', default: false },
      pages: { type: 'string', default: '40' },
      only: { type: 'string', default: '' },
      out: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const requested = positionals.length === 0 || positionals.includes('all') ? Object.keys(SUITES) : positionals;
  const names = requested.filter(isSuite);
  if (values.help || names.length < requested.length) {
    console.error(HELP);
    return values.help ? 0 : 2;
  }
  const settings = {
    corpora: process.env.CORPORA,
    files: Math.max(1, Number(values.files) || 1),
    rounds: Math.max(1, Number(values.rounds) || 1),
    large: values.large,
    pages: Math.max(4, Number(values.pages) || 40),
    only: values.only,
  };
  console.log(
    `Node ${process.version}, ${cpus().length} cores (${cpus()[0]?.model}), median of ${settings.rounds} rounds`,
  );
  const figures: Record<string, Figures> = {};
  for (const name of names) {
    figures[name] = await SUITES[name](settings);
    if (values.out)
      writeFileSync(values.out, `${JSON.stringify({ node: process.version, settings, figures }, undefined, 1)}\n`);
  }
  return 0;
}

if (import.meta.main) process.exitCode = await main();
