// POST /v2/parse: the checks in their order, the upload, the pipeline, the answer.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { BusUnavailableError, DeadlineError, type Transport } from '#shared/bus/bus.ts';
import { ParseError } from '#shared/contract/errors.ts';
import type { ParseOptions } from '#shared/contract/options.ts';
import { AFTER_DEADLINE_MS, finishesBy, waitForCleanup, withDeadline } from '#shared/runtime/bounded-wait.ts';
import { describeCause } from '#shared/runtime/cause.ts';
import type { Config } from '#shared/runtime/config.ts';
import type { Logger } from '#shared/runtime/log.ts';
import { creditsCharged, limitRefusals, uploadedBytes } from '#shared/runtime/metrics.ts';
import { deletePayload, type JobPayload, openPayload } from '#shared/runtime/payload.ts';
import { inSpan } from '#shared/runtime/traces.ts';
import { holdAnswer, inviteBody, isCancelled, sendAnswer, toParseError } from '../answer.ts';
import { auditParse, type ParseFacts } from '../audit.ts';
import { authenticate, requirePermission } from '../auth/bearer.ts';
import type { Key, KeySource } from '../auth/keys.ts';
import { contextOf, type RequestContext } from '../context.ts';
import { admit } from '../limits/admission.ts';
import type { Concurrency } from '../limits/concurrency.ts';
import { type CreditHold, parseCost } from '../limits/credits.ts';
import { runPipeline } from '../pipeline.ts';
import { assembleMetadata, writeAnswer } from '../record.ts';
import { checkSchema } from '../schema-check.ts';
import type { PumpLimits } from '../upload/pump.ts';
import { receiveUpload, type Upload } from '../upload/receive.ts';

export interface ParseRoute {
  config: Pick<Config, 'llm'>;
  log: Logger;
  transport: Transport;
  keys: KeySource;
  concurrency: Concurrency;
  /** For tests; REQUEST_LIMITS otherwise. */
  uploadLimits?: Partial<PumpLimits>;
}

/** How long a request waits for the checks before its body is read: a bus that works takes a few milliseconds. */
const HEAD_START_MS = 100;

/** A request whose key is known. */
interface Work {
  key: Key;
  facts: ParseFacts;
  /** The checks of its plan. */
  admission: Promise<CreditHold>;
  /** Milliseconds waited for them before the body; they count against the request's timeout. */
  checksMs: number;
  /** What must be put back after the request, and the answer to an error waits for only briefly. */
  tidying: Promise<unknown>[];
}

const LIMIT_CODES: Partial<Record<ParseError['code'], string>> = {
  PAYMENT_REQUIRED: 'credits',
  RATE_LIMIT_EXCEEDED: 'rate',
  CONCURRENCY_LIMIT_REACHED: 'concurrency',
  PAYLOAD_TOO_LARGE: 'upload_size',
  DOCUMENT_TOO_COMPLEX: 'document',
};

/** What of the options the key or this server refuses. @throws ParseError 403, 422, 400 */
function acceptOptions(options: ParseOptions, key: Key, config: Pick<Config, 'llm'>): void {
  if (options.zeroDataRetention) requirePermission(key, 'zdr');
  if (options.json?.schema) checkSchema(options.json.schema);
  if (options.json && !config.llm)
    throw new ParseError(
      'MODEL_NOT_CONFIGURED',
      'The `json` format needs a language model, and none is configured on this server (LLM_BASE_URL, LLM_MODEL); ask for `markdown` instead',
    );
}

/** The handler. @throws ParseError for whoever answers errors; CancelledError where the client left */
export function parseHandler(route: ParseRoute): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const { transport, log } = route;
  // Whoever has audit on is owed each event, whatever else is logged.
  const trail = { log: log.level === 'silent' ? log : log.child({}, { level: 'info' }), events: transport.events };
  /** The deadline came while the bus was asked: whether it is away, or had too little time, decides what the caller reads. */
  const late = (): Error =>
    transport.bus.connected()
      ? new DeadlineError('the message bus did not answer by the deadline')
      : new BusUnavailableError('the message bus is away');

  /** Takes the body in. Where the bus is away, the request's timeout runs from its start: there is nobody to wait for. */
  const receive = async (
    request: IncomingMessage,
    response: ServerResponse,
    context: RequestContext,
    { key, facts, admission }: Work,
  ): Promise<Upload> => {
    const refusal = Promise.withResolvers<never>();
    refusal.promise.catch(() => undefined);
    admission.catch(refusal.reject);
    let admitted = false;
    void admission.then(() => (admitted = true)).catch(() => undefined);
    let watch: NodeJS.Timeout | undefined;
    try {
      return await receiveUpload(request, {
        payloads: transport.payloads,
        invite: () => inviteBody(request, response),
        volatileUntilKnown: key.allow.includes('zdr'),
        accept: (options) => {
          facts.options = options;
          acceptOptions(options, key, route.config);
          const left = context.startedAt + options.timeoutMs - Date.now();
          watch = setTimeout(
            () => {
              if (!admitted || !transport.bus.connected()) refusal.reject(late());
            },
            Math.max(0, left),
          );
        },
        refusal: refusal.promise,
        ...(route.uploadLimits ? { limits: route.uploadLimits } : {}),
      });
    } finally {
      clearTimeout(watch);
    }
  };

  const convert = async (upload: Upload, work: Work, deadline: number, context: RequestContext) => {
    const { signal } = context;
    const asked = { id: context.claim, deadline, signal };
    const place = await inSpan('wait for a place', {}, () => route.concurrency.take(work.key, asked)).catch(
      (error: unknown) => {
        throw error instanceof DeadlineError ? late() : error;
      },
    );
    try {
      work.facts.queuedMs = place.waitedMs;
      const record = await runPipeline(upload, { transport, requestId: context.id, deadline, signal });
      // Who has the answer may send the next request at once, and finds this one's place free.
      await waitForCleanup(place.release());
      return record;
    } catch (error) {
      work.tidying.push(place.release());
      throw error;
    }
  };

  const parse = async (
    request: IncomingMessage,
    response: ServerResponse,
    context: RequestContext,
    work: Work,
  ): Promise<void> => {
    const { facts, tidying } = work;
    const upload = await inSpan('receive upload', {}, () => receive(request, response, context, work));
    const deadline = Date.now() + upload.options.timeoutMs - work.checksMs;
    facts.upload = upload;
    facts.uploadMs = Date.now() - context.startedAt;
    uploadedBytes.inc(upload.bytes);
    let fields: JobPayload | undefined;
    try {
      const credit = await withDeadline(work.admission, deadline, late);
      const record = await convert(upload, work, deadline, context);
      fields = record.fields;
      const { metadata, warnings } = record.head;
      const pages =
        upload.format.service === 'pdf' && typeof metadata.numPages === 'number' ? metadata.numPages : undefined;
      const creditsUsed = parseCost({ pdfPages: pages, json: upload.options.json !== undefined });
      const known = {
        fileName: upload.fileName,
        contentType: upload.format.contentType,
        creditsUsed,
        requestId: context.id,
        queuedMs: facts.queuedMs,
      };
      const whole = { metadata: assembleMetadata(metadata, known), warnings };
      const stored = await withDeadline(openPayload(transport.payloads, fields, { until: deadline }), deadline, late);
      const answer = await withDeadline(holdAnswer(writeAnswer(stored, whole)), deadline, late);
      const charge = credit.charge(creditsUsed);
      // At the deadline the answer is there and owed: the account is then settled behind it.
      if (!(await finishesBy(charge, deadline)))
        charge.catch((error: unknown) =>
          log.warn({ requestId: context.id, creditsUsed, cause: describeCause(error) }, 'credits were not charged'),
        );
      creditsCharged.inc(creditsUsed);
      facts.creditsUsed = creditsUsed;
      await sendAnswer(response, answer, context.signal);
    } finally {
      tidying.push(deletePayload(transport.payloads, upload.payload), deletePayload(transport.payloads, fields));
    }
  };

  return async (request, response) => {
    const context = contextOf(response);
    const facts: ParseFacts = {};
    const tidying: Promise<unknown>[] = [];
    let outcome = 'success';
    try {
      const key = authenticate(request, route.keys);
      context.key = key;
      requirePermission(key, 'parse');
      const admission = admit({ state: transport.state, concurrency: route.concurrency }, key, context.claim);
      const settled = admission.then(
        (credit) => () => credit.release(),
        () => () => undefined,
      );
      try {
        await finishesBy(admission, Date.now() + HEAD_START_MS);
        const checksMs = Date.now() - context.startedAt;
        await parse(request, response, context, { key, facts, admission, checksMs, tidying });
      } finally {
        tidying.push(settled.then((release) => release()));
      }
    } catch (error) {
      const known = toParseError(error);
      outcome = isCancelled(error) ? 'cancelled' : known.code;
      const reason = LIMIT_CODES[known.code];
      if (reason) limitRefusals.inc({ reason });
      throw error;
    } finally {
      const tidied = Promise.allSettled(tidying);
      // Where the bus is away there is nothing to wait for, and it may be so where the time ran out.
      if (outcome === 'REQUEST_TIMEOUT') await waitForCleanup(tidied, AFTER_DEADLINE_MS);
      else if (outcome !== 'SERVICE_UNAVAILABLE') await waitForCleanup(tidied);
      auditParse(trail, context, facts, outcome);
    }
  };
}
