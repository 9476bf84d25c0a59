// Sets the gauges that are measured at each scrape: the bus connection, the depth of the queues, and the memory of process trees.
import { totalmem } from 'node:os';
import type { Bus, Transport } from '../bus/bus.ts';
import { withDeadline } from './bounded-wait.ts';
import { residentMiB } from './isolation/process-memory.ts';
import {
  busConnected,
  clockSkew,
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
/** Scrapes within this time share one sample, so that frequent scrapes do not load the bus. */
const SAMPLE_MAX_AGE_MS = 1_000;
/** A queue whose depth takes longer to read is left out of the scrape. */
const DEPTH_TIMEOUT_MS = 2_000;

/** The isolated processes of one queue. */
interface ProcessSource {
  queue: string;
  memoryMiB: number;
  /** Ids of the processes that run now. */
  pids(): number[];
}

interface QueueSource {
  bus: Bus;
  queues: readonly string[];
}

const processSources = new Set<ProcessSource>();
type Connection = Pick<Transport, 'bus' | 'state'>;

const connections = new Set<Connection>();
const queueSources = new Set<QueueSource>();

async function readQueue(bus: Bus, queue: string): Promise<void> {
  const late = () => new Error('the bus did not report the queue depth in time');
  const depth = await withDeadline(bus.depth(queue), Date.now() + DEPTH_TIMEOUT_MS, late).catch(() => undefined);
  if (!depth) return;
  queueWaiting.set({ queue }, depth.pending);
  queueRunning.set({ queue }, depth.running);
  queueAge.set({ queue }, depth.oldestMs / 1_000);
  queueWorkers.set({ queue }, bus.workers(queue));
}

async function readQueues(): Promise<void> {
  for (const gauge of [queueWaiting, queueRunning, queueAge, queueWorkers]) gauge.reset();
  const connected = [...queueSources].filter(({ bus }) => bus.connected());
  await Promise.all(connected.flatMap(({ bus, queues }) => queues.map((queue) => readQueue(bus, queue))));
}

function readProcesses(): void {
  for (const { queue, memoryMiB, pids } of processSources) {
    const sizes = pids().map(residentMiB);
    isolatedProcesses.set({ queue }, sizes.length);
    isolatedMemory.set({ queue }, Math.max(0, ...sizes) * MIB);
    isolatedMemoryLimit.set({ queue }, memoryMiB * MIB);
  }
  treeMemory.set(residentMiB(process.pid) * MIB);
  const allowed = process.constrainedMemory();
  memoryLimit.set(allowed > 0 ? Math.min(allowed, totalmem()) : totalmem());
}

async function sample(): Promise<void> {
  if (connections.size > 0) busConnected.set([...connections].every(({ bus }) => bus.connected()) ? 1 : 0);
  for (const { state } of connections) clockSkew.set((Date.now() - state.now()) / 1_000);
  readProcesses();
  await readQueues();
}

let sampledAt = Number.NEGATIVE_INFINITY;
let sampling: Promise<void> | undefined;

/** The metrics in Prometheus text format. Sampled gauges are at most one second old. */
export async function scrape(): Promise<{ contentType: string; text: string }> {
  if (!sampling && performance.now() - sampledAt > SAMPLE_MAX_AGE_MS)
    sampling = sample().finally(() => {
      sampledAt = performance.now();
      sampling = undefined;
    });
  await sampling;
  return { contentType: registry.contentType, text: await registry.metrics() };
}

function register<T>(sources: Set<T>, source: T): () => void {
  sources.add(source);
  sampledAt = Number.NEGATIVE_INFINITY;
  return () => void sources.delete(source);
}

/** Samples whether this process is connected to the bus, and how much its clock differs. @returns a function that stops sampling */
export const sampleConnection = (transport: Connection): (() => void) => register(connections, transport);
/** Samples the depth of these queues. @returns a function that stops sampling */
export const sampleQueues = (bus: Bus, queues: readonly string[]): (() => void) =>
  register(queueSources, { bus, queues });
/** Samples the number and memory of a queue's isolated processes. @returns a function that stops sampling */
export const sampleProcesses = (source: ProcessSource): (() => void) => register(processSources, source);
