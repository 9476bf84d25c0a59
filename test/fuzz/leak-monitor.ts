// Measures the memory of the product, and finds processes, files and payloads that it does not release.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { descendants, isRunning, type ProcessFacts, processFacts } from '../bench/process-tree.ts';
import type { Product } from '../harness/product.ts';

const MiB = 1024 * 1024;
const MAX_GATEWAY_MIB = 700;
/** Limit of all processes together. Each process also has its own limit. */
const MAX_TOTAL_MIB = 6_000;

export class LeakMonitor {
  readonly #product: Product;
  readonly #temporary: string;
  readonly #natsMonitorUrl: string | undefined;
  /** All processes that were found, by pid and start time. */
  readonly #seen = new Map<string, ProcessFacts>();
  peakTotalMiB = 0;
  gatewayMiB = 0;

  /**
   * @param temporary TMPDIR of the product
   * @param natsMonitorUrl monitoring endpoint of nats-server, if the product uses one
   */
  constructor(product: Product, temporary: string, natsMonitorUrl: string | undefined) {
    this.#product = product;
    this.#temporary = temporary;
    this.#natsMonitorUrl = natsMonitorUrl;
  }

  /** Measures all processes. @returns the limits that are exceeded */
  measure(): string[] {
    const processes = descendants(process.pid);
    for (const facts of processes) this.#seen.set(`${facts.pid}.${facts.startedAt}`, facts);
    const totalMiB = Math.round(processes.reduce((sum, { residentBytes }) => sum + residentBytes, 0) / MiB);
    this.peakTotalMiB = Math.max(this.peakTotalMiB, totalMiB);
    this.gatewayMiB = Math.round((processFacts(this.#product.gatewayPid)?.residentBytes ?? 0) / MiB);
    return [
      ...(this.gatewayMiB > MAX_GATEWAY_MIB ? [`the gateway uses ${this.gatewayMiB} MiB`] : []),
      ...(totalMiB > MAX_TOTAL_MIB ? [`all processes use ${totalMiB} MiB`] : []),
    ];
  }

  /** Payloads that exist although no request runs. Waits up to 5 s, because the gateway deletes payloads after it has responded. */
  async findLeakedPayloads(): Promise<string[]> {
    let leaked: string[] = [];
    for (let attempt = 0; attempt < 20; attempt++) {
      leaked = [...this.#payloadFiles(), ...(await this.#payloadMessages())];
      if (leaked.length === 0) return [];
      await sleep(250);
    }
    return leaked.slice(0, 5).map((name) => `a payload was not deleted: ${name}`);
  }

  #payloadFiles(): string[] {
    return readdirSync(this.#temporary)
      .filter((name) => name.startsWith('parsemesh-payloads'))
      .flatMap((folder) => readdirSync(join(this.#temporary, folder)).map((name) => `${folder}/${name}`));
  }

  async #payloadMessages(): Promise<string[]> {
    if (!this.#natsMonitorUrl) return [];
    const response = await fetch(`${this.#natsMonitorUrl}/jsz?streams=1`);
    const report = (await response.json()) as {
      account_details?: { stream_detail?: { name: string; state: { messages: number } }[] }[];
    };
    return (report.account_details ?? [])
      .flatMap(({ stream_detail }) => stream_detail ?? [])
      .filter(({ name, state }) => /_PAYLOADS|_JOBS/.test(name) && state.messages > 0)
      .map(({ name, state }) => `${state.messages} messages in ${name}`);
  }

  /** Processes and temporary files that exist after the product has stopped. */
  async findRemains(): Promise<string[]> {
    await sleep(500);
    const processes = [...this.#seen.values()].filter(isRunning);
    const files = existsSync(this.#temporary) ? readdirSync(this.#temporary) : [];
    return [
      ...processes.map(({ pid, command }) => `process ${pid} (${command}) still runs after the product has stopped`),
      ...files.map((name) => `${name} is still in the temporary folder`),
    ];
  }
}
