// POST /v2/parse: the checks in their order, the upload, the pipeline, the answer.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Transport } from '#shared/bus/bus.ts';
import { ParseError } from '#shared/contract/errors.ts';
import type { ParseOptions } from '#shared/contract/options.ts';
import { waitBriefly } from '#shared/runtime/brief-wait.ts';
import type { Config } from '#shared/runtime/config.ts';
import type { Logger } from '#shared/runtime/log.ts';
import { creditsCharged, limitRefusals, uploadedBytes } from '#shared/runtime/metrics.ts';
import { type JobPayload, openPayload, releasePayload } from '#shared/runtime/payload.ts';
import { inSpan } from '#shared/runtime/traces.ts';
import { holdAnswer, inviteBody, isCancelled, sendAnswer, toParseError } from '../answer.ts';
import { auditParse, type ParseFacts } from '../audit.ts';
import { authenticate, requirePermission } from '../auth/bearer.ts';
import type { Key, KeySource } from '../auth/keys.ts';
import { contextOf, type RequestContext } from '../context.ts';
import type { Concurrency } from '../limits/concurrency.ts';
import { type CreditHold, claimCredit, parseCost } from '../limits/credits.ts';
import { takeRate } from '../limits/rate.ts';
import { runPipeline } from '../pipeline.ts';
import { assembleMetadata, writeAnswer } from '../record.ts';
import { checkSchema } from '../schema-check.ts';
import type { PumpLimits } from '../upload/pump.ts';
import { receiveUpload, type Upload, type UploadRules } from '../upload/receive.ts';

export interface ParseRoute {
  config: Pick<Config, 'llm'>;
  log: Logger;
  transport: Transport;
  keys: KeySource;
  concurrency: Concurrency;
  /** For tests; REQUEST_LIMITS otherwise. */
  uploadLimits?: Partial<PumpLimits>;
}

/** A request that the checks before its body let in. */
interface Work {
  key: Key;
  credit: CreditHold;
  facts: ParseFacts;
  /** Milliseconds that the checks took (a bus that is away makes them wait); they count against the request's timeout. */
  checksMs: number;
}

/** The limit behind a refusal, as the metric calls it. */
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

  const convert = async (upload: Upload, work: Work, context: RequestContext, deadline: number) => {
    const { key, facts } = work;
    const { signal } = context;
    const place = await inSpan('wait for a place', {}, () =>
      route.concurrency.take(key, { id: context.claim, deadline, signal }),
    );
    try {
      facts.queuedMs = place.waitedMs;
      return await runPipeline(upload, { transport, requestId: context.id, deadline, signal });
    } finally {
      await waitBriefly(place.release());
    }
  };

  const parse = async (
    request: IncomingMessage,
    response: ServerResponse,
    context: RequestContext,
    work: Work,
  ): Promise<void> => {
    const { key, credit, facts } = work;
    const receive = {
      payloads: transport.payloads,
      invite: () => inviteBody(request, response),
      volatileUntilKnown: key.allow.includes('zdr'),
      accept: (options: ParseOptions) => {
        facts.options = options;
        acceptOptions(options, key, route.config);
      },
      ...(route.uploadLimits ? { limits: route.uploadLimits } : {}),
    } satisfies UploadRules;
    const upload = await inSpan('receive upload', {}, () => receiveUpload(request, receive));
    facts.upload = upload;
    facts.uploadMs = Date.now() - context.startedAt;
    uploadedBytes.inc(upload.bytes);
    let fields: JobPayload | undefined;
    const deadline = Date.now() + upload.options.timeoutMs - work.checksMs;
    try {
      const record = await convert(upload, work, context, deadline);
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
      const stored = await openPayload(transport.payloads, fields, { until: deadline });
      const answer = await holdAnswer(writeAnswer(stored, { metadata: assembleMetadata(metadata, known), warnings }));
      await credit.charge(creditsUsed);
      creditsCharged.inc(creditsUsed);
      facts.creditsUsed = creditsUsed;
      await sendAnswer(response, answer, context.signal);
    } finally {
      await releasePayload(transport.payloads, upload.payload);
      await releasePayload(transport.payloads, fields);
    }
  };

  return async (request, response) => {
    const context = contextOf(response);
    const facts: ParseFacts = {};
    let outcome = 'success';
    let credit: CreditHold | undefined;
    try {
      const key = authenticate(request, route.keys);
      context.key = key;
      requirePermission(key, 'parse');
      credit = await claimCredit(transport.state, key, context.claim);
      await takeRate(transport.state, key.id, key.rate);
      await route.concurrency.check(key);
      const checksMs = Date.now() - context.startedAt;
      await parse(request, response, context, { key, credit, facts, checksMs });
    } catch (error) {
      const known = toParseError(error);
      outcome = isCancelled(error) ? 'cancelled' : known.code;
      const reason = LIMIT_CODES[known.code];
      if (reason) limitRefusals.inc({ reason });
      throw error;
    } finally {
      if (credit) await waitBriefly(credit.release());
      auditParse(log, context, facts, outcome);
    }
  };
}
