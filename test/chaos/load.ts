// Sends a steady load to the gateways and checks each response: correct, a documented error in time, or a fault.
import { ERROR_CODES, type ErrorCode } from '#shared/contract/errors.ts';
import { errorResponseSchema, parseResponseSchema } from '#shared/contract/response.ts';
import { type Answer, parse } from '../harness/client.ts';
import type { Product } from '../harness/product.ts';
import { createRequest, KINDS, type LoadRequest, TOKEN } from './documents.ts';

/** How long after its timeout a request may end. */
const GRACE_MS = 1_000;
/** How long after that the client gives up. */
const HANG_MS = 10_000;
/** Errors that are expected while a process or the bus is unavailable. */
const ALLOWED: ReadonlySet<ErrorCode> = new Set(['REQUEST_TIMEOUT', 'SERVICE_UNAVAILABLE']);
const WITH_RETRY_AFTER: ReadonlySet<ErrorCode> = new Set(['SERVICE_UNAVAILABLE']);

/** A gateway that can be killed and started again. `product` is undefined in between. */
interface Gateway {
  product: Product | undefined;
}

/** Where requests are sent: the running gateways of a mesh, or the gateway of an embedded product. */
export interface LoadTarget {
  key: string;
  running(service: 'gateway'): { member: Gateway }[];
}

/**
 * How a request ended: `right` and `clear` are a correct response and an expected, documented error; `wrong` is any other
 * response; `lost` is a request without a response; `killed` is a request whose gateway the phase killed.
 */
const VERDICTS = ['right', 'clear', 'wrong', 'lost', 'killed', 'not sent'] as const;
type Verdict = (typeof VERDICTS)[number];

interface LoadResult {
  verdict: Verdict;
  /** `ok`, status and error code, `gateway killed`, `not sent`, `hung` or `no response`. */
  outcome: string;
  /** Describes a fault of the product. */
  fault?: string;
  tookMs: number;
  /** Epoch milliseconds. */
  endedAt: number;
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
  member: Gateway,
  request: LoadRequest,
  { timeoutMs, allowed = ALLOWED }: { timeoutMs: number; allowed?: ReadonlySet<ErrorCode> },
): Promise<LoadResult> {
  const { product } = member;
  if (!product) return { verdict: 'not sent', outcome: 'not sent', tookMs: 0, endedAt: Date.now() };
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
    const isOk = answer.status === 200;
    return {
      verdict: fault === undefined ? (isOk ? 'right' : 'clear') : 'wrong',
      outcome: isOk ? 'ok' : `${answer.status} ${code}`,
      tookMs,
      endedAt: Date.now(),
      ...(fault === undefined ? {} : { fault }),
    };
  } catch (error) {
    const tookMs = took();
    const ended = { tookMs, endedAt: Date.now() };
    // A request may end without a response only if its gateway was killed.
    if (member.product !== product) return { verdict: 'killed', outcome: 'gateway killed', ...ended };
    const fault = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const hung = tookMs >= timeoutMs + GRACE_MS;
    return { verdict: 'lost', outcome: hung ? 'hung' : 'no response', fault, ...ended };
  }
}

/** A request that ended this long after the end of a fault has waited longer than the fault explains, in milliseconds. */
const AFTER_FAULT_MS = 5_000;

/** Counts the results of one phase. */
export class Tally {
  readonly #verdicts = new Map<Verdict, number>();
  readonly #errors = new Map<string, number>();
  readonly #faults: string[] = [];
  readonly #ends: { name: string; startedAt: number; endedAt: number }[] = [];
  #faultEndedAt: number | undefined;
  slowestMs = 0;

  /** Adds up the counts of several phases. */
  static sum(tallies: readonly Tally[]): Tally {
    const sum = new Tally();
    const add = <Key>(counts: Map<Key, number>, key: Key, count: number) =>
      counts.set(key, (counts.get(key) ?? 0) + count);
    for (const tally of tallies) {
      for (const [verdict, count] of tally.#verdicts) add(sum.#verdicts, verdict, count);
      for (const [error, count] of tally.#errors) add(sum.#errors, error, count);
      sum.slowestMs = Math.max(sum.slowestMs, tally.slowestMs);
    }
    return sum;
  }

  add(request: LoadRequest, { verdict, outcome, fault, tookMs, endedAt }: LoadResult): void {
    this.#verdicts.set(verdict, this.count(verdict) + 1);
    if (verdict === 'clear') this.#errors.set(outcome, (this.#errors.get(outcome) ?? 0) + 1);
    this.slowestMs = Math.max(this.slowestMs, tookMs);
    if (fault !== undefined) this.fault(`${request.kind} after ${tookMs} ms: ${fault}`);
    this.#ends.push({ name: `${request.kind} (${outcome})`, startedAt: endedAt - tookMs, endedAt });
  }

  /** Adds a fault of the product that is not the result of one request. */
  fault(description: string): void {
    this.#faults.push(description);
  }

  /** The fault that the phase makes has ended now. */
  faultEnded(): void {
    this.#faultEndedAt = Date.now();
  }

  /**
   * Checks that each request that ran during the fault ended soon after it.
   * @param usualMs how long the slowest request takes without a fault
   */
  checkWaits(usualMs: number): void {
    const faultEndedAt = this.#faultEndedAt;
    if (faultEndedAt === undefined) return;
    for (const { name, startedAt, endedAt } of this.#ends)
      if (startedAt < faultEndedAt && endedAt - faultEndedAt > AFTER_FAULT_MS + usualMs)
        this.fault(`${name} ended ${endedAt - faultEndedAt} ms after the fault`);
  }

  count(verdict: Verdict): number {
    return this.#verdicts.get(verdict) ?? 0;
  }

  get faults(): readonly string[] {
    return this.#faults;
  }

  get requests(): number {
    return VERDICTS.reduce((sum, verdict) => sum + this.count(verdict), 0) - this.count('not sent');
  }

  toString(): string {
    const errors = [...this.#errors].sort(([a], [b]) => a.localeCompare(b)).map(([name, count]) => `${name} ${count}`);
    const killed = this.count('killed') > 0 ? `, gateway killed ${this.count('killed')}` : '';
    return (
      `sent ${this.requests}: right ${this.count('right')}, clear errors ${this.count('clear')}` +
      `${errors.length > 0 ? ` (${errors.join(', ')})` : ''}, wrong ${this.count('wrong')}, lost ${this.count('lost')}${killed}; slowest ${this.slowestMs} ms`
    );
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
