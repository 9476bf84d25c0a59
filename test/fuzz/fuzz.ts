// Runs `npm run fuzz`: sends mutated documents and random options to the product, and saves each case that fails.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { EXTENSIONS } from '#shared/contract/formats.ts';
import { type Case, createCase } from './cases.ts';
import { FailureStore, readCase } from './failures.ts';
import { runFuzz } from './run.ts';
import { collectSeeds } from './seeds.ts';

const HELP = `npm run fuzz -- [--seconds 60] [--cases N] [--seed N] [--kinds pdf,docx] [--transport memory|nats] [--jobs 2] [--out FOLDER]
  --seconds       length of the run
  --cases         stop after this many cases
  --seed          seed of the random numbers; the run prints it
  --kinds         file extensions of the documents to mutate
  --jobs          requests at the same time
  --out           folder for the cases that fail
  --case N        only the case with this number
  --replay FILE   send a saved case (its .json file) again
  CORPORA         a folder of documents to mutate, in addition to the fixtures`;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '60' },
      cases: { type: 'string' },
      seed: { type: 'string' },
      kinds: { type: 'string' },
      transport: { type: 'string', default: 'memory' },
      jobs: { type: 'string', default: '2' },
      out: { type: 'string' },
      case: { type: 'string' },
      replay: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const selected = values.kinds?.split(',').map((name) => `.${name.replace(/^\./, '').toLowerCase()}`);
  const extensions = EXTENSIONS.filter((extension) => !selected || selected.includes(extension));
  const transport = values.transport;
  if (values.help || extensions.length === 0 || (transport !== 'memory' && transport !== 'nats')) {
    console.error(HELP);
    return values.help ? 0 : 2;
  }
  const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
  const out = values.out ?? join(tmpdir(), `parsemesh-fuzz-failures-${seed}`);
  const failures = new FailureStore(out, seed);
  const run = { transport, jobs: Math.max(1, Number(values.jobs) || 1), extensions } as const;
  if (values.replay !== undefined) {
    const saved = readCase(values.replay);
    const cases: Case[] = [saved];
    await runFuzz({ ...run, jobs: 1, extensions: [saved.extension], next: () => cases.pop() }, failures);
  } else {
    const seeds = await collectSeeds(process.env.CORPORA);
    console.log(
      `seed ${seed}, ${[...seeds.values()].flat().length} documents, ${extensions.length} extensions, ${transport}`,
    );
    const only = values.case === undefined ? undefined : Number(values.case);
    const end = only === undefined ? Number(values.cases ?? Number.POSITIVE_INFINITY) : only + 1;
    let index = only ?? 0;
    let until = 0;
    const next = () => {
      until ||= Date.now() + Number(values.seconds) * 1_000;
      return index >= end || Date.now() > until ? undefined : createCase(seed, index++, extensions, seeds);
    };
    await runFuzz({ ...run, next }, failures);
  }
  console.log(
    failures.count === 0 ? 'no failures' : `${failures.count} failures; cases saved in ${out} (seed ${seed})`,
  );
  return failures.count === 0 ? 0 : 1;
}

if (import.meta.main) process.exitCode = await main();
