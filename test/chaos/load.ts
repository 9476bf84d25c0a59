// Sends a steady load to the gateways and checks each response: correct, a documented error in time, or a fault.
import { ERROR_CODES, type ErrorCode } from '#shared/contract/errors.ts';
import { errorResponseSchema, parseResponseSchema } from '#shared/contract/response.ts';
import { type Answer, parse } from '../harness/client.ts';
import type { Product } from '../harness/product.ts';
import { createRequest, KINDS, type LoadRequest, TOKEN } from './documents.ts';
import type { Member } from './mesh.ts';

/** How long after its timeout a request may end. */
const GRACE_MS = 1_000;
/** How long after that the client gives up. */
const HANG_MS = 10_000;
/** Errors that are expected while a process or the bus is unavailable. */
const ALLOWED: ReadonlySet<ErrorCode> = new Set(['REQUEST_TIMEOUT', 'SERVICE_UNAVAILABLE']);
const WITH_RETRY_AFTER: ReadonlySet<ErrorCode> = new Set(['SERVICE_UNAVAILABLE']);

/** Where requests are sent: the running gateways of a mesh, or the gateway of an embedded product. */
export interface LoadTarget {
  key: string;
  running(service: 'gateway'): { member: Member; product: Product }[];
}

interface LoadResult {
  /** `ok`, status and error code, `gateway killed`, `not sent`, `hung` or `no response`. */
  outcome: string;
  /** Describes a fault of the product. */
  fault?: string;
  tookMs: number;
}

/** Describes what is wrong with a response, or returns undefined. */
function findFault(answer: Answer, request: LoadRequest, allowed: ReadonlySet<ErrorCode>): string | undefined {
  const foreign = (answer.text.match(TOKEN) ?? []).filter((token) => !request.words.includes(token));
  if (foreign.length > 0) return `contains the token ${foreign[0]} of another request`;
  if (answer.status === 200) {
    if (!parseResponseSchema.safeParse(answer.body).success) return 'a 200 without the documented shape';
    const missing = request.words.find((word) => !answer.text.includes(word));
    if (missing !== undefined) return `a 200 without the text ${missing}`;
    const shown = request.absent?.find((word) => answer.text.includes(word));
    return shown === undefined ? undefined : `a 200 that contains ${shown}`;
  }
  const error = errorResponseSchema.safeParse(answer.body);
  if (!error.success) return `a ${answer.status} without the documented shape`;
  const code = error.data.code as ErrorCode;
  if (ERROR_CODES[code]?.status !== answer.status) return `a ${answer.status} with the code ${code}`;
  if (!allowed.has(code)) return `${code}: ${error.data.error}`;
  if (WITH_RETRY_AFTER.has(code) && !(Number(answer.headers['retry-after']) >= 1)) return `${code} without Retry-After`;
  return undefined;
}

/** Sends one request to one gateway and checks the response. `allowed`: expected error codes. */
export async function sendAndCheck(
  target: LoadTarget,
  member: Member,
  request: LoadRequest,
  { timeoutMs, allowed = ALLOWED }: { timeoutMs: number; allowed?: ReadonlySet<ErrorCode> },
): Promise<LoadResult> {
  const { product } = member;
  if (!product) return { outcome: 'not sent', tookMs: 0 };
  const start = performance.now();
  const took = () => Math.round(performance.now() - start);
  try {
    const answer = await parse(
      { url: product.url, key: target.key },
      {
        file: request.file,
        fileName: request.fileName,
        options: { ...request.options, timeout: timeoutMs },
        clientTimeoutMs: timeoutMs + GRACE_MS + HANG_MS,
      },
    );
    const tookMs = took();
    const late = tookMs > timeoutMs + GRACE_MS ? `${tookMs} ms with a timeout of ${timeoutMs} ms` : undefined;
    const fault = findFault(answer, request, allowed) ?? late;
    const code = (answer.body as { code?: string }).code;
    const outcome = answer.status === 200 ? 'ok' : `${answer.status} ${code}`;
    return { outcome, tookMs, ...(fault === undefined ? {} : { fault }) };
  } catch (error) {
    const tookMs = took();
    // A request may end without a response only if its gateway was killed.
    if (member.product !== product) return { outcome: 'gateway killed', tookMs };
    const name = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const hung = tookMs >= timeoutMs + GRACE_MS;
    return { outcome: hung ? 'hung' : 'no response', tookMs, fault: name };
  }
}

/** Counts the results of one phase. */
export class Tally {
  readonly counts = new Map<string, number>();
  readonly faults: string[] = [];
  slowestMs = 0;

  add(request: LoadRequest, { outcome, fault, tookMs }: LoadResult): void {
    const name = fault === undefined ? outcome : 'FAULT';
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    this.slowestMs = Math.max(this.slowestMs, tookMs);
    if (fault !== undefined) this.faults.push(`${request.kind} after ${tookMs} ms: ${fault}`);
  }

  get requests(): number {
    return [...this.counts.values()].reduce((sum, count) => sum + count, 0);
  }

  toString(): string {
    const counts = [...this.counts].sort(([a], [b]) => a.localeCompare(b)).map(([name, count]) => `${name} ${count}`);
    return `${this.requests} requests: ${counts.join(', ')}; slowest ${this.slowestMs} ms`;
  }
}

interface LoadOptions {
  /** Number of clients. Each sends one request at a time. */
  clients: number;
  timeoutMs: number;
  /** Milliseconds between two requests of a client. */
  pauseMs: number;
  kinds?: readonly string[];
  allowed?: ReadonlySet<ErrorCode>;
}

/** Starts clients that send requests to all running gateways in turn. `stop` waits for the last responses. */
export function startLoad(target: LoadTarget, tally: Tally, options: LoadOptions): { stop(): Promise<void> } {
  const kinds = options.kinds ?? KINDS;
  let stopped = false;
  let turn = 0;
  const client = async () => {
    while (!stopped) {
      turn += 1;
      const gateways = target.running('gateway');
      const gateway = gateways[turn % gateways.length];
      const request = await createRequest(kinds[turn % kinds.length] ?? 'csv');
      if (gateway) tally.add(request, await sendAndCheck(target, gateway.member, request, options));
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
