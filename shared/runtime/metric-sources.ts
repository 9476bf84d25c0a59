// Figures that nobody counts as they happen but that are looked up when Prometheus asks: queues on the bus, memory of process trees.
import { totalmem } from 'node:os';
import type { Bus } from '../bus/bus.ts';
import { residentMiB } from './isolation/process-memory.ts';
import {
  busConnected,
  isolatedMemory,
  isolatedMemoryLimit,
  isolatedProcesses,
  memoryLimit,
  queueAge,
  queueRunning,
  queueWaiting,
  queueWorkers,
  registry,
  treeMemory,
} from './metrics.ts';

const MIB = 1024 * 1024;
/** Scrapes within this time share one look, so that nobody makes the bus work by asking often. */
const FRESH_MS = 1_000;
/** A bus that does not tell in this time is left out of the answer. */
const PATIENCE_MS = 2_000;

/** A queue's isolated processes, as the pool knows them. */
export interface ProcessSource {
  queue: string;
  memoryMiB: number;
  /** Of each process that is there. */
  pids(): number[];
}

interface QueueSource {
  bus: Bus;
  queues: readonly string[];
}

const pools = new Set<ProcessSource>();
const connections = new Set<Bus>();
const queueSources = new Set<QueueSource>();

function within<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

async function lookAtQueue(bus: Bus, queue: string): Promise<void> {
  const depth = await within(bus.depth(queue), PATIENCE_MS).catch(() => undefined);
  if (!depth) return;
  queueWaiting.set({ queue }, depth.pending);
  queueRunning.set({ queue }, depth.running);
  queueAge.set({ queue }, depth.oldestMs / 1_000);
  queueWorkers.set({ queue }, bus.workers(queue));
}

async function lookAtQueues(): Promise<void> {
  for (const gauge of [queueWaiting, queueRunning, queueAge, queueWorkers]) gauge.reset();
  const asked = [...queueSources].filter(({ bus }) => bus.connected());
  await Promise.all(asked.flatMap(({ bus, queues }) => queues.map((queue) => lookAtQueue(bus, queue))));
}

function lookAtProcesses(): void {
  for (const { queue, memoryMiB, pids } of pools) {
    const sizes = pids().map(residentMiB);
    isolatedProcesses.set({ queue }, sizes.length);
    isolatedMemory.set({ queue }, Math.max(0, ...sizes) * MIB);
    isolatedMemoryLimit.set({ queue }, memoryMiB * MIB);
  }
  treeMemory.set(residentMiB(process.pid) * MIB);
  const allowed = process.constrainedMemory();
  memoryLimit.set(allowed > 0 ? Math.min(allowed, totalmem()) : totalmem());
}

async function look(): Promise<void> {
  if (connections.size > 0) busConnected.set([...connections].every((bus) => bus.connected()) ? 1 : 0);
  lookAtProcesses();
  await lookAtQueues();
}

let lookedAt = Number.NEGATIVE_INFINITY;
let looking: Promise<void> | undefined;

/** The text for Prometheus, with every looked-up figure as of now (a second ago at most). */
export async function scrape(): Promise<{ contentType: string; text: string }> {
  if (!looking && performance.now() - lookedAt > FRESH_MS)
    looking = look().finally(() => {
      lookedAt = performance.now();
      looking = undefined;
    });
  await looking;
  return { contentType: registry.contentType, text: await registry.metrics() };
}

const remember = <T>(all: Set<T>, one: T): (() => void) => {
  all.add(one);
  lookedAt = Number.NEGATIVE_INFINITY;
  return () => void all.delete(one);
};

/** Tells whether this process has its way to the others, until the function given back is called. */
export const showConnection = (bus: Bus): (() => void) => remember(connections, bus);
/** Tells how deep the queues of the whole mesh are. */
export const showQueues = (bus: Bus, queues: readonly string[]): (() => void) =>
  remember(queueSources, { bus, queues });
/** Tells how many isolated processes there are, and how large. */
export const showProcesses = (source: ProcessSource): (() => void) => remember(pools, source);
