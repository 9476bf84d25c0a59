// `npm run fuzz`: sends mutated documents and options to the started product, and keeps every case that it answers badly so that it can be sent again.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { EXTENSIONS, type Extension, formatByExtension } from '#shared/contract/formats.ts';
import { isRunning, processFacts } from '../bench/process-tree.ts';
import { type Answer, parse } from '../harness/client.ts';
import { sample, WORDS } from '../harness/documents.ts';
import { freePort, startNatsServer } from '../harness/nats-server.ts';
import { type Product, startProduct, type TransportName } from '../harness/product.ts';
import { BLIND } from './blind.ts';
import { AWARE } from './formats.ts';
import { askedOptions } from './options.ts';
import { randomOf } from './random.ts';
import { collectSeeds, type Seed } from './seeds.ts';
import { faultOf } from './verdict.ts';
import { Watch } from './watch.ts';

const HELP = `npm run fuzz -- [--seconds 60] [--cases N] [--seed N] [--kinds pdf,docx] [--transport memory|nats] [--jobs 2] [--out FOLDER]
  --case N        this case of the seed alone
  --replay FILE   sends a kept case (its .json) again
  CORPORA         a folder whose documents are mutated too`;
/** Past the request's own deadline by this much, the server hangs. */
const GRACE_MS = 2_000;
const PATIENCE_MS = 60_000;
const CASES_BETWEEN_LOOKS = 40;
const MOST_BYTES = 24 << 20;

interface Case {
  index: number;
  fileName: string;
  extension: Extension;
  bytes: Buffer;
  options: string;
  timeoutMs: number;
  mutations: string[];
}

interface Failure {
  what: string;
  of?: Case;
}

/** The case of this number: it depends on the seed, the kinds and the documents alone. */
function makeCase(
  seed: number,
  index: number,
  kinds: readonly Extension[],
  seeds: ReadonlyMap<Extension, Seed[]>,
): Case {
  const random = randomOf(seed, index);
  const extension = random.pick(kinds);
  const source = random.pick(seeds.get(extension) ?? []);
  const other = random.pick(seeds.get(random.once(2) ? extension : random.pick(kinds)) ?? []);
  const aware = AWARE[formatByExtension(extension)?.container ?? 'text'];
  let bytes: Buffer = source.bytes;
  const mutations: string[] = [];
  for (let count = random.once(12) ? 0 : 1 + random.below(3); count > 0; count--) {
    const mutation = random.pick(random.once(3) ? BLIND : aware);
    bytes = mutation.run(bytes, random, other.bytes);
    mutations.push(mutation.name);
    if (bytes.length > MOST_BYTES) bytes = bytes.subarray(0, MOST_BYTES);
  }
  const sentAs = random.once(15) ? random.pick(EXTENSIONS) : extension;
  const { text, timeoutMs } = askedOptions(random);
  return {
    index,
    fileName: `${basename(source.name, source.extension)}${sentAs}`,
    extension,
    bytes,
    options: text,
    timeoutMs,
    mutations,
  };
}

async function sendCase(product: Product, one: Case): Promise<{ fault?: string; status: number; ms: number }> {
  const start = performance.now();
  let answer: Answer;
  try {
    answer = await parse(product, {
      file: one.bytes,
      fileName: one.fileName,
      options: one.options,
      patienceMs: PATIENCE_MS,
    });
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    return { fault: `no answer: ${cause}`, status: 0, ms: performance.now() - start };
  }
  const ms = performance.now() - start;
  const late =
    ms > one.timeoutMs + GRACE_MS
      ? `answered after ${Math.round(ms)} ms, where the timeout is ${one.timeoutMs}`
      : undefined;
  const fault = faultOf(answer) ?? late;
  return { ...(fault === undefined ? {} : { fault }), status: answer.status, ms };
}

/** A sound document must be read as ever. */
async function soundFault(product: Product, extension: Extension): Promise<string | undefined> {
  const { bytes, fileName } = await sample(extension);
  const answer = await parse(product, { file: bytes, fileName }).catch((error: unknown) => String(error));
  if (typeof answer === 'string') return `a sound ${extension} got no answer: ${answer}`;
  const missing = WORDS.find((words) => !answer.text.includes(words));
  return answer.status === 200 && missing === undefined
    ? undefined
    : `a sound ${extension} was answered with ${answer.status}: ${answer.text.slice(0, 200)}`;
}

class Keeper {
  readonly failures: Failure[] = [];
  readonly #folder: string;
  readonly #seed: number;
  constructor(folder: string, seed: number) {
    this.#folder = folder;
    this.#seed = seed;
  }

  keep(what: string, of?: Case): void {
    this.failures.push({ what, ...(of ? { of } : {}) });
    console.error(`  FAILED ${of ? `case ${of.index} ${of.fileName} [${of.mutations}]: ` : ''}${what}`);
    if (!of) return;
    mkdirSync(this.#folder, { recursive: true });
    const name = `seed${this.#seed}-case${of.index}-${of.fileName}`;
    writeFileSync(join(this.#folder, name), of.bytes);
    const { bytes: _, ...facts } = of;
    writeFileSync(
      join(this.#folder, `${name}.json`),
      `${JSON.stringify({ what, file: name, seed: this.#seed, ...facts }, undefined, 1)}\n`,
    );
  }
}

interface Plan {
  transport: TransportName;
  jobs: number;
  /** Cases one after another; ends with undefined. */
  next(): Case | undefined;
  kinds: readonly Extension[];
}

async function runPlan(plan: Plan, keeper: Keeper): Promise<void> {
  const temporary = mkdtempSync(join(tmpdir(), 'parsemesh-fuzz-'));
  const monitor = await freePort();
  const nats = plan.transport === 'nats' ? await startNatsServer({ args: ['-m', String(monitor)] }) : undefined;
  const product = await startProduct({
    transport: plan.transport,
    ...(nats ? { natsUrl: nats.url } : {}),
    env: { TMPDIR: temporary, LOG_LEVEL: process.env.LOG_LEVEL ?? 'warn' },
  });
  const watch = new Watch(product, temporary, nats && `http://127.0.0.1:${monitor}`);
  const statuses = new Map<number, number>();
  const edge = processFacts(product.gatewayPid) ?? { pid: product.gatewayPid, startedAt: 0 };
  let sent = 0;
  let dead = false;
  const lane = async () => {
    for (let one = plan.next(); one && !dead; one = plan.next()) {
      const outcome = await sendCase(product, one);
      statuses.set(outcome.status, (statuses.get(outcome.status) ?? 0) + 1);
      // A machine that others use may be late once; what is late again is the server's own.
      const again = outcome.fault?.startsWith('answered after') ? await sendCase(product, one) : outcome;
      if (again.fault !== undefined) keeper.keep(again.fault, one);
      if (outcome.status === 0 && !isRunning(edge)) {
        dead = true;
        return;
      }
      if (++sent % CASES_BETWEEN_LOOKS !== 0) continue;
      for (const what of watch.look()) keeper.keep(what, one);
      const fault = await soundFault(product, one.extension);
      if (fault) keeper.keep(fault, one);
    }
  };
  try {
    // Cold engines are not what is judged.
    for (const kind of plan.kinds) await soundFault(product, kind);
    watch.look();
    await Promise.all(Array.from({ length: plan.jobs }, lane));
    if (dead) keeper.keep(`the edge has ended; its last words:\n${product.output().slice(-3_000)}`);
    for (const kind of dead ? [] : plan.kinds) {
      const fault = await soundFault(product, kind);
      if (fault) keeper.keep(fault);
    }
    for (const what of [...watch.look(), ...(await watch.leftPayloads())]) keeper.keep(what);
  } finally {
    const exits = await product.stop();
    for (const { service, code, signal } of exits)
      if (code !== 0) keeper.keep(`${service} ended with ${code ?? signal}`);
    await nats?.stop();
    for (const what of await watch.leftBehind()) keeper.keep(what);
    rmSync(temporary, { recursive: true, force: true });
    const errors = product
      .output()
      .split('\n')
      .filter((line) => /"level":(?:50|60)|"level":"(?:error|fatal)"/.test(line));
    if (errors.length > 0) console.error(`  logged: ${[...new Set(errors)].slice(0, 5).join('\n  ').slice(0, 3_000)}`);
  }
  const answers = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
  console.log(
    `${plan.transport}: ${sent} cases (${answers.join(', ')}); edge ${watch.edgeMiB} MiB at the end, all processes ${watch.peakTreeMiB} MiB at most`,
  );
}

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
  const wanted = values.kinds?.split(',').map((name) => `.${name.replace(/^\./, '').toLowerCase()}`);
  const kinds = EXTENSIONS.filter((extension) => !wanted || wanted.includes(extension));
  const transport = values.transport;
  if (values.help || kinds.length === 0 || (transport !== 'memory' && transport !== 'nats')) {
    console.error(HELP);
    return values.help ? 0 : 2;
  }
  const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
  const out = values.out ?? join(tmpdir(), `parsemesh-fuzz-failures-${seed}`);
  const keeper = new Keeper(out, seed);
  const plan = { transport, jobs: Math.max(1, Number(values.jobs) || 1), kinds } as const;
  if (values.replay !== undefined) {
    const kept = JSON.parse(readFileSync(values.replay, 'utf8')) as Omit<Case, 'bytes'> & { file: string };
    const cases: Case[] = [{ ...kept, bytes: readFileSync(join(dirname(values.replay), kept.file)) }];
    await runPlan({ ...plan, jobs: 1, kinds: [kept.extension], next: () => cases.pop() }, keeper);
  } else {
    const seeds = await collectSeeds(process.env.CORPORA);
    console.log(`seed ${seed}, ${[...seeds.values()].flat().length} documents, ${kinds.length} kinds, ${transport}`);
    const only = values.case === undefined ? undefined : Number(values.case);
    const most = only === undefined ? Number(values.cases ?? Number.POSITIVE_INFINITY) : only + 1;
    let index = only ?? 0;
    let until = 0;
    const next = () => {
      until ||= Date.now() + Number(values.seconds) * 1_000;
      return index >= most || Date.now() > until ? undefined : makeCase(seed, index++, kinds, seeds);
    };
    await runPlan({ ...plan, next }, keeper);
  }
  console.log(
    keeper.failures.length === 0 ? 'no failures' : `${keeper.failures.length} failures, kept in ${out} (seed ${seed})`,
  );
  return keeper.failures.length === 0 ? 0 : 1;
}

if (import.meta.main) process.exitCode = await main();
