// Watches what the product leaves and holds: processes, files, payloads, memory.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { descendants, isRunning, type ProcessFacts, processFacts } from '../bench/process-tree.ts';
import type { Product } from '../harness/product.ts';

const MiB = 1024 * 1024;
/** What the edge may hold of its own between requests, and all processes together at any time (each has a cap of its own). */
const EDGE_MIB = 700;
const TREE_MIB = 6_000;

export class Watch {
  readonly #product: Product;
  readonly #temporary: string;
  readonly #monitorUrl: string | undefined;
  readonly #seen = new Map<string, ProcessFacts>();
  peakTreeMiB = 0;
  edgeMiB = 0;

  /** @param temporary the product's TMPDIR  @param monitorUrl of nats-server, where there is one */
  constructor(product: Product, temporary: string, monitorUrl: string | undefined) {
    this.#product = product;
    this.#temporary = temporary;
    this.#monitorUrl = monitorUrl;
  }

  /** Looks at the tree as it is now. @returns what is out of bounds */
  look(): string[] {
    const below = descendants(process.pid);
    for (const facts of below) this.#seen.set(`${facts.pid}.${facts.startedAt}`, facts);
    const tree = below.reduce((sum, { residentBytes }) => sum + residentBytes, 0) / MiB;
    this.peakTreeMiB = Math.max(this.peakTreeMiB, Math.round(tree));
    this.edgeMiB = Math.round((processFacts(this.#product.gatewayPid)?.residentBytes ?? 0) / MiB);
    return [
      ...(this.edgeMiB > EDGE_MIB ? [`the edge holds ${this.edgeMiB} MiB`] : []),
      ...(tree > TREE_MIB ? [`all processes hold ${Math.round(tree)} MiB`] : []),
    ];
  }

  /** Payloads that are there although no request runs. Given a moment, since letting go is not awaited by the caller. */
  async leftPayloads(): Promise<string[]> {
    let left: string[] = [];
    for (let attempt = 0; attempt < 20; attempt++) {
      left = [...this.#payloadFiles(), ...(await this.#payloadMessages())];
      if (left.length === 0) return [];
      await sleep(250);
    }
    return left.slice(0, 5).map((name) => `a payload is left: ${name}`);
  }

  #payloadFiles(): string[] {
    return readdirSync(this.#temporary)
      .filter((name) => name.startsWith('parsemesh-payloads'))
      .flatMap((folder) => readdirSync(join(this.#temporary, folder)).map((name) => `${folder}/${name}`));
  }

  async #payloadMessages(): Promise<string[]> {
    if (!this.#monitorUrl) return [];
    const response = await fetch(`${this.#monitorUrl}/jsz?streams=1`);
    const facts = (await response.json()) as {
      account_details?: { stream_detail?: { name: string; state: { messages: number } }[] }[];
    };
    return (facts.account_details ?? [])
      .flatMap(({ stream_detail }) => stream_detail ?? [])
      .filter(({ name, state }) => /^OBJ_|_JOBS/.test(name) && state.messages > 0)
      .map(({ name, state }) => `${state.messages} messages in ${name}`);
  }

  /** What is there after the product has stopped: processes that it started, files in its temporary folder. */
  async leftBehind(): Promise<string[]> {
    await sleep(500);
    const processes = [...this.#seen.values()].filter(isRunning);
    const files = existsSync(this.#temporary) ? readdirSync(this.#temporary) : [];
    return [
      ...processes.map(({ pid, command }) => `process ${pid} (${command}) outlived the product`),
      ...files.map((name) => `${name} is left in the temporary folder`),
    ];
  }
}
