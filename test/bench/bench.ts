// `npm run bench`: what a request costs in processor time, over our files or a corpus, beside floors and peers measured in the same run.
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import type { Figures } from './suite.ts';
import { SUITES } from './suites.ts';

const HELP = `npm run bench -- [${Object.keys(SUITES).join('|')}|all] [--files 6] [--rounds 3] [--large] [--pages 40] [--out FILE]
  CORPORA   a folder of documents to measure instead of our fixtures
  TIKA_JAR  Apache Tika's server, PYTHON an interpreter with markitdown: measured too where they are there
  PDF_PEERS a folder with liteparse, pymupdf4llm and pdf-inspector, beside which pdf is measured (it says how to make it)
  --large   pdf: a document of 10,000 pages too
  --pages   fleet: pages of its scan, which one worker must read within the 300 s that a request may take
  Figures are CPU ms (user and system) of all processes together, which other work on the machine disturbs little.`;

const isSuite = (name: string): name is keyof typeof SUITES => Object.hasOwn(SUITES, name);

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      files: { type: 'string', default: '6' },
      rounds: { type: 'string', default: '3' },
      large: { type: 'boolean', default: false },
      pages: { type: 'string', default: '40' },
      out: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const asked = positionals.length === 0 || positionals.includes('all') ? Object.keys(SUITES) : positionals;
  const names = asked.filter(isSuite);
  if (values.help || names.length < asked.length) {
    console.error(HELP);
    return values.help ? 0 : 2;
  }
  const settings = {
    corpora: process.env.CORPORA,
    files: Math.max(1, Number(values.files) || 1),
    rounds: Math.max(1, Number(values.rounds) || 1),
    large: values.large,
    pages: Math.max(4, Number(values.pages) || 40),
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
