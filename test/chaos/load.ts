// A steady load on the gateways, and the judgement of every answer: right, a documented error in time, or a fault.
import { ERROR_CODES, type ErrorCode } from '#shared/contract/errors.ts';
import { errorResponseSchema, parseResponseSchema } from '#shared/contract/response.ts';
import { type Answer, parse } from '../harness/client.ts';
import type { Product } from '../harness/product.ts';
import { KINDS, type Question, question, TOKEN } from './documents.ts';
import type { Member } from './mesh.ts';

/** A request may end this long after its timeout. */
const GRACE_MS = 1_000;
/** After this much more it is called hung. */
const HANG_MS = 10_000;
/** Errors that a request may end in because a part died; only poison may also blame the file. */
const ALLOWED: ReadonlySet<ErrorCode> = new Set(['REQUEST_TIMEOUT', 'SERVICE_UNAVAILABLE']);
const RETRIABLE_AFTER: ReadonlySet<ErrorCode> = new Set(['SERVICE_UNAVAILABLE']);

/** Where requests go: the gateways of a mesh that are there now, or the one of an embedded product. */
export interface Edge {
  key: string;
  of(service: 'gateway'): { member: Member; product: Product }[];
}

/** `right`, an error's code, `lost with its gateway`, `not accepted`; anything else is a fault. */
export interface Verdict {
  outcome: string;
  /** What was wrong, where that is a fault of the product. */
  fault?: string;
  tookMs: number;
}

/** What is wrong with an answer, or undefined. */
function faultOf(answer: Answer, asked: Question, allowed: ReadonlySet<ErrorCode>): string | undefined {
  const strangers = (answer.text.match(TOKEN) ?? []).filter((token) => !asked.words.includes(token));
  if (strangers.length > 0) return `holds another request's word ${strangers[0]}`;
  if (answer.status === 200) {
    if (!parseResponseSchema.safeParse(answer.body).success) return 'a 200 without the documented shape';
    const missing = asked.words.find((word) => !answer.text.includes(word));
    if (missing !== undefined) return `a 200 without its word ${missing}`;
    const shown = asked.absent?.find((word) => answer.text.includes(word));
    return shown === undefined ? undefined : `a 200 that shows ${shown}`;
  }
  const error = errorResponseSchema.safeParse(answer.body);
  if (!error.success) return `a ${answer.status} without the documented shape`;
  const code = error.data.code as ErrorCode;
  if (ERROR_CODES[code]?.status !== answer.status) return `a ${answer.status} with the code ${code}`;
  if (!allowed.has(code)) return `${code}: ${error.data.error}`;
  if (RETRIABLE_AFTER.has(code) && !(Number(answer.headers['retry-after']) >= 1)) return `${code} without Retry-After`;
  return undefined;
}

/** Sends one question to one gateway and judges what comes. `allowed`: the error codes that it may end in. */
export async function ask(
  edge: Edge,
  member: Member,
  asked: Question,
  { timeoutMs, allowed = ALLOWED }: { timeoutMs: number; allowed?: ReadonlySet<ErrorCode> },
): Promise<Verdict> {
  const { product } = member;
  if (!product) return { outcome: 'not accepted', tookMs: 0 };
  const start = performance.now();
  const took = () => Math.round(performance.now() - start);
  try {
    const answer = await parse(
      { url: product.url, key: edge.key },
      {
        file: asked.file,
        fileName: asked.fileName,
        options: { ...asked.options, timeout: timeoutMs },
        patienceMs: timeoutMs + GRACE_MS + HANG_MS,
      },
    );
    const tookMs = took();
    const late = tookMs > timeoutMs + GRACE_MS ? `${tookMs} ms for a timeout of ${timeoutMs}` : undefined;
    const fault = faultOf(answer, asked, allowed) ?? late;
    const code = (answer.body as { code?: string }).code;
    const outcome = answer.status === 200 ? 'right' : `${answer.status} ${code}`;
    return { outcome, tookMs, ...(fault === undefined ? {} : { fault }) };
  } catch (error) {
    const tookMs = took();
    // Only a gateway that was killed may leave its clients without an answer.
    if (member.product !== product) return { outcome: 'lost with its gateway', tookMs };
    const name = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const hung = tookMs >= timeoutMs + GRACE_MS;
    return { outcome: hung ? 'hung' : 'no answer', tookMs, fault: name };
  }
}

/** Verdicts counted by phase. */
export class Tally {
  readonly counts = new Map<string, number>();
  readonly faults: string[] = [];
  slowestMs = 0;

  add(asked: Question, { outcome, fault, tookMs }: Verdict): void {
    const name = fault === undefined ? outcome : 'FAULT';
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    this.slowestMs = Math.max(this.slowestMs, tookMs);
    if (fault !== undefined) this.faults.push(`${asked.kind} after ${tookMs} ms: ${fault}`);
  }

  get requests(): number {
    return [...this.counts.values()].reduce((sum, count) => sum + count, 0);
  }

  toString(): string {
    const counts = [...this.counts].sort(([a], [b]) => a.localeCompare(b)).map(([name, count]) => `${name} ${count}`);
    return `${this.requests} requests: ${counts.join(', ')}; slowest ${this.slowestMs} ms`;
  }
}

export interface LoadOptions {
  /** Clients that each send one request after the other. */
  clients: number;
  timeoutMs: number;
  /** Milliseconds between a client's requests. */
  pauseMs: number;
  kinds?: readonly string[];
  allowed?: ReadonlySet<ErrorCode>;
}

/** Keeps clients asking, over all gateways that are there in turn, until stopped; `stop` waits for every answer. */
export function startLoad(edge: Edge, tally: Tally, options: LoadOptions): { stop(): Promise<void> } {
  const kinds = options.kinds ?? KINDS;
  let stopped = false;
  let turn = 0;
  const client = async () => {
    while (!stopped) {
      turn += 1;
      const gateways = edge.of('gateway');
      const gateway = gateways[turn % gateways.length];
      const asked = await question(kinds[turn % kinds.length] ?? 'csv');
      if (gateway) tally.add(asked, await ask(edge, gateway.member, asked, options));
      await new Promise((resolve) => setTimeout(resolve, options.pauseMs));
    }
  };
  const clients = Array.from({ length: options.clients }, client);
  return {
    async stop() {
      stopped = true;
      await Promise.all(clients);
    },
  };
}
