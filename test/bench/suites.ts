// What the bench measures, a suite a question: the edge, the formats, the bus, reading scans, large uploads, PDFs.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Extension } from '#shared/contract/formats.ts';
import { sample } from '../harness/documents.ts';
import { residentMemory } from '../harness/product.ts';
import { fleet } from './fleet.ts';
import { type Input, inputsByKind, largeDocument } from './inputs.ts';
import { costOf, type Rounds } from './measure.ts';
import { ocr } from './ocr.ts';
import { pdf } from './pdf.ts';
import { documentPeers } from './peers.ts';
import { floorSubject, inProcessSubject, productSubject, type Subject } from './subject.ts';
import type { Figures, Suite } from './suite.ts';
import { against, type Cell, printTable, ratio } from './table.ts';

const MiB = 1024 * 1024;
const LARGE_BYTES = 45_000_000;
const UPLOADS_AT_ONCE = 10;
const IDLE_SECONDS = 5;
const SMALL_TARGET = 3;
const LARGE_TARGET = 150;
const BUS_TARGET = { small: 3, large: 250 };
const LEGACY_TARGET = 200;
const ALL_TARGET = 38;
const KIND_TARGETS: Partial<Record<Extension, number>> = {
  '.html': 50,
  '.htm': 50,
  '.xhtml': 50,
  '.docx': 40,
  '.pdf': 40,
  '.csv': 5,
  '.doc': LEGACY_TARGET,
  '.xls': LEGACY_TARGET,
  '.ppt': LEGACY_TARGET,
  '.rtf': LEGACY_TARGET,
  '.xlsb': LEGACY_TARGET,
};

async function using<S extends Subject, T>(starting: Promise<S>, work: (subject: S) => Promise<T>): Promise<T> {
  const subject = await starting;
  try {
    return await work(subject);
  } finally {
    await subject.stop();
  }
}

const smallInput = async (): Promise<Input> => {
  const { fileName, extension, bytes } = await sample('.csv');
  return { name: fileName, extension, bytes };
};

const largeInput = async (): Promise<Input> => {
  const { fileName, extension, bytes } = await sample('.docx');
  return largeDocument({ name: fileName, extension, bytes }, LARGE_BYTES);
};

/** A small request's whole cost over each bus, over the converter alone and over the least server; and a cold start. */
export const gateway: Suite = async ({ rounds }) => {
  const small = await smallInput();
  const many: Rounds = { warm: 150, rounds, repeat: 150 };
  const cost = async (subject: Subject) => (await costOf(subject, [small], many)).cpuMs;
  const floor = await using(floorSubject(), cost);
  const converter = await using(inProcessSubject(), cost);
  const cold = await using(productSubject('memory'), async (subject) => {
    await subject.take(small);
    return subject.cpuMs();
  });
  const embedded = await using(productSubject('memory'), cost);
  const overhead = embedded - converter;
  printTable(
    'Small request (a CSV of 150 bytes), CPU ms',
    ['what', 'CPU ms', 'target'],
    [
      ['Express + busboy + no-op', floor, undefined],
      ['converter in process', converter, undefined],
      ['embedded, whole', embedded, undefined],
      ['overhead of edge, bus and isolation', overhead, against(overhead, SMALL_TARGET)],
      ['cold start to the first parse', cold, undefined],
    ],
  );
  return { floor, converter, embedded, overhead, cold };
};

/** Every kind: the converter alone, embedded, over NATS, and the peers that are here. */
export const formats: Suite = async ({ corpora, files, rounds }) => {
  const kinds = [...(await inputsByKind(files, corpora))];
  const perKind: Rounds = { warm: 2, rounds, repeat: 2 };
  const measured = new Map<Extension, Map<string, number>>(kinds.map(([kind]) => [kind, new Map()]));
  const refusedBy: string[] = [];
  const measure = async (subject: Subject) => {
    for (const [kind, inputs] of kinds) {
      const { cpuMs, refused } = await costOf(subject, inputs, perKind);
      if (refused === inputs.length) continue;
      if (refused > 0) refusedBy.push(`${subject.name} refused ${refused} of ${inputs.length} ${kind}`);
      measured.get(kind)?.set(subject.name, cpuMs);
    }
  };
  await using(inProcessSubject(), measure);
  await using(productSubject('memory'), measure);
  await using(productSubject('nats'), measure);
  const peers = await documentPeers();
  for (const peer of peers) await using(Promise.resolve(peer), measure);
  const row = (
    label: string,
    count: number,
    of: (name: string) => number | undefined,
    target: number | undefined,
  ): Cell[] => {
    const [inside, embedded, nats] = [of('in process'), of('embedded'), of('NATS')];
    const difference = embedded === undefined || nats === undefined ? undefined : nats - embedded;
    const others = peers.flatMap(({ name }) => [of(name), ratio(embedded, of(name))]);
    return [
      label,
      count,
      inside,
      embedded,
      nats,
      difference,
      ratio(embedded, inside),
      against(embedded, target),
      ...others,
    ];
  };
  const all = (name: string) => {
    const with_ = kinds.filter(([kind]) => measured.get(kind)?.has(name));
    const count = with_.reduce((sum, [, inputs]) => sum + inputs.length, 0);
    if (with_.length < kinds.length) return undefined;
    return with_.reduce((sum, [kind, inputs]) => sum + (measured.get(kind)?.get(name) ?? 0) * inputs.length, 0) / count;
  };
  const columns = [
    'kind',
    'files',
    'in process',
    'embedded',
    'NATS',
    'NATS - embedded',
    'embedded / in process',
    'target',
  ];
  printTable(
    'CPU ms a request, warm, one at a time',
    [...columns, ...peers.flatMap(({ name }) => [name, 'ours / it'])],
    [
      ...kinds.map(([kind, inputs]) =>
        row(kind, inputs.length, (name) => measured.get(kind)?.get(name), KIND_TARGETS[kind]),
      ),
      row(
        'all',
        kinds.reduce((sum, [, inputs]) => sum + inputs.length, 0),
        all,
        ALL_TARGET,
      ),
    ],
  );
  for (const line of refusedBy) console.log(`  ${line}`);
  return Object.fromEntries([...measured].map(([kind, costs]) => [kind, Object.fromEntries(costs)]));
};

/** CPU ms a second of a subject that nobody asks anything. */
async function idleCost(subject: Subject): Promise<number> {
  const before = subject.cpuMs();
  await sleep(IDLE_SECONDS * 1_000);
  return (subject.cpuMs() - before) / IDLE_SECONDS;
}

/** What the bus adds to a request, small and large. */
export const transport: Suite = async ({ rounds }) => {
  const [small, large] = [await smallInput(), await largeInput()];
  const measure = async (subject: Subject) => ({
    small: (await costOf(subject, [small], { warm: 150, rounds, repeat: 150 })).cpuMs,
    large: (await costOf(subject, [large], { warm: 2, rounds, repeat: 3 })).cpuMs,
    idle: await idleCost(subject),
  });
  const embedded = await using(productSubject('memory'), measure);
  const nats = await using(productSubject('nats'), measure);
  const row = (what: string, size: 'small' | 'large'): Cell[] => {
    const difference = nats[size] - embedded[size];
    return [what, embedded[size], nats[size], difference, against(difference, BUS_TARGET[size])];
  };
  printTable(
    'What the bus costs, CPU ms a request',
    ['what', 'embedded', 'NATS', 'difference', 'target'],
    [
      row('CSV of 150 bytes', 'small'),
      row('Word file of 45 MB', 'large'),
      ['idle, a second', embedded.idle, nats.idle, nats.idle - embedded.idle, undefined],
    ],
  );
  return { embedded, nats };
};

/** Large uploads: what one costs the edge and the whole, and what ten at once hold. */
export const upload: Suite = async ({ rounds }) => {
  const large = await largeInput();
  const few: Rounds = { warm: 2, rounds, repeat: 3 };
  const floor = await using(floorSubject(), async (subject) => (await costOf(subject, [large], few)).cpuMs);
  const converter = await using(inProcessSubject(), async (subject) => (await costOf(subject, [large], few)).cpuMs);
  const rows: Cell[][] = [
    ['Express + busboy + no-op', floor, undefined, undefined, undefined],
    ['converter in process', converter, undefined, undefined, undefined],
  ];
  const figures: Figures = { floor, converter };
  for (const name of ['memory', 'nats'] as const)
    await using(productSubject(name), async (subject) => {
      const { cpuMs } = await costOf(subject, [large], few);
      const before = await residentMemory(subject.product.gatewayPid);
      let peak = 0;
      const watching = setInterval(async () => {
        const { now } = await residentMemory(subject.product.gatewayPid).catch(() => ({ now: 0 }));
        peak = Math.max(peak, now);
      }, 20);
      const answers = await Promise.all(Array.from({ length: UPLOADS_AT_ONCE }, () => subject.take(large)));
      clearInterval(watching);
      const grown = (Math.max(peak, before.now) - before.now) / MiB;
      const overhead = cpuMs - converter;
      const failed = answers.filter((ok) => !ok).length;
      rows.push([
        `${subject.name}${failed > 0 ? ` (${failed} of ten failed)` : ''}`,
        cpuMs,
        overhead,
        name === 'memory' ? against(overhead, LARGE_TARGET) : undefined,
        grown,
      ]);
      figures[subject.name] = { cpuMs, overhead, restMiB: before.now / MiB, grownMiB: grown, failed };
    });
  printTable(
    'A Word file of 45 MB, CPU ms; ten at once',
    ['what', 'CPU ms', 'without the converter', 'target', 'edge grows by MiB (<= 100)'],
    rows,
  );
  return figures;
};

export const SUITES = { gateway, formats, transport, ocr, fleet, upload, pdf } as const;
