// Runs one request that parses a file, for every route that does so: checks the request, receives the upload, runs the pipeline, sends the response and cleans up.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Bus, BusUnavailableError, DeadlineError, type Transport } from '#shared/bus/bus.ts';
import { ParseError } from '#shared/contract/errors.ts';
import type { RecordReport } from '#shared/contract/jobs.ts';
import type { ParseOptions } from '#shared/contract/options.ts';
import type { Stage } from '#shared/contract/progress.ts';
import { AFTER_DEADLINE_MS, finishesBy, waitForCleanup, withDeadline } from '#shared/runtime/bounded-wait.ts';
import { describeCause } from '#shared/runtime/cause.ts';
import type { Config } from '#shared/runtime/config.ts';
import type { Logger } from '#shared/runtime/log.ts';
import { creditsCharged, limitRefusals, uploadedBytes } from '#shared/runtime/metrics.ts';
import { deletePayload, openPayload } from '#shared/runtime/payload.ts';
import { inSpan } from '#shared/runtime/traces.ts';
import type { Handler } from './app.ts';
import { type AuditTrail, auditParse, type ParseFacts } from './audit.ts';
import { authenticate, requirePermission } from './auth/bearer.ts';
import type { Key, KeySource } from './auth/keys.ts';
import { contextOf, type RequestContext } from './context.ts';
import type { ConcurrencyLimiter } from './limits/concurrency.ts';
import { type CreditHold, parseCost } from './limits/credits.ts';
import { checkPlan } from './limits/plan.ts';
import { type ParsedRecord, runPipeline } from './pipeline.ts';
import { type BufferedBody, bufferBody, sendBody } from './responses/body.ts';
import { isCancelled, sendContinue, toParseError } from './responses/error.ts';
import { EventStream } from './responses/event-stream.ts';
import { buildMetadata } from './responses/record.ts';
import { checkSchema } from './schema-check.ts';
import { StageClock, serverTiming } from './stages.ts';
import type { Upload, UploadRules } from './upload/receive.ts';
import type { UploadLimits } from './upload/request-body.ts';

export interface ParseDependencies {
  config: Pick<Config, 'llm'>;
  log: Logger;
  transport: Transport;
  keys: KeySource;
  concurrency: ConcurrencyLimiter;
  /** For tests. The default is REQUEST_LIMITS. */
  uploadLimits?: Partial<UploadLimits>;
}

/** How the success response of a request is written. */
export interface ResponseFormat {
  contentType: string;
  /** The body is the last of several events, which show the progress before it. Then it must be JSON. */
  isEventStream?: boolean;
  /** Rejects options with which this format has no content. @throws ParseError 400 */
  checkOptions?(options: ParseOptions): void;
  /** Headers of its own. */
  headers?(report: RecordReport): Record<string, string>;
  /** @param fields JSON text of the record, in chunks @throws ParseError BAD_GATEWAY if `fields` is not a record */
  writeBody(fields: AsyncIterable<Uint8Array>, report: RecordReport, upload: Upload): AsyncIterable<Uint8Array>;
}

/** What a route adds to the common steps: how it reads the request body, and how it writes the response body. */
interface ParseRoute {
  /** Reads the entire body and stores the file, under the rules of this request. @throws as `receiveUpload` does */
  receive(request: IncomingMessage, rules: UploadRules): Promise<Upload>;
  /** Chooses the format of the success response. An error response is always JSON, or an error event. */
  chooseFormat(request: IncomingMessage, response: ServerResponse): ResponseFormat;
}

/** One parse request while it is processed. */
interface ParseRequest {
  route: ParseRoute;
  request: IncomingMessage;
  response: ServerResponse;
  context: RequestContext;
  facts: ParseFacts;
  format: ResponseFormat;
  stages: StageClock;
  /** Called when the request ends, all at the same time. */
  cleanup: (() => Promise<unknown>)[];
}

/** The plan check of a request. It may still run while the body is received. */
interface PlanCheck {
  credit: Promise<CreditHold>;
  /** Milliseconds from the start of the request to the start of its body. They count against the request's timeout. */
  elapsedMs: number;
}

/** How long the body waits for the plan check, in milliseconds. The check takes a few milliseconds while the bus is connected. */
const PLAN_CHECK_WAIT_MS = 100;

/** The `reason` label of the metric that counts rejections by a limit. */
const LIMIT_REASONS: Partial<Record<ParseError['code'], string>> = {
  PAYMENT_REQUIRED: 'credits',
  RATE_LIMIT_EXCEEDED: 'rate',
  CONCURRENCY_LIMIT_REACHED: 'concurrency',
  PAYLOAD_TOO_LARGE: 'upload_size',
  DOCUMENT_TOO_COMPLEX: 'document',
};

/** Creates the handler of a route. It throws every error, and the app sends the error response. */
export function parseRequestHandler(deps: ParseDependencies, route: ParseRoute): Handler {
  const { log, transport } = deps;
  // Audit events are written at level info, even if LOG_LEVEL is higher.
  const auditLog = log.level === 'silent' ? log : log.child({}, { level: 'info' });
  const trail: AuditTrail = { log: auditLog, events: transport.events };
  return async (request, response) => {
    const parse: ParseRequest = {
      route,
      request,
      response,
      context: contextOf(response),
      facts: {},
      format: route.chooseFormat(request, response),
      stages: new StageClock(),
      cleanup: [],
    };
    let outcome = 'success';
    try {
      await handleParse(deps, parse);
    } catch (error) {
      outcome = recordFailure(error);
      throw error;
    } finally {
      await cleanUp(parse, outcome);
      auditParse(trail, parse.context, parse.facts, outcome);
    }
  };
}

/** The steps of a request. Their order is part of the interface (docs/api.md, "Order of checks"). */
async function handleParse(deps: ParseDependencies, parse: ParseRequest): Promise<void> {
  const key = authenticate(parse.request, deps.keys);
  parse.context.key = key;
  requirePermission(key, 'parse');
  const planCheck = await startPlanCheck(deps, parse, key);
  const upload = await inSpan('receive upload', {}, () => receive(deps, parse, key, planCheck));
  const deadline = Date.now() + upload.options.timeoutMs - planCheck.elapsedMs;
  const credit = await withDeadline(planCheck.credit, deadline, () => timeoutError(deps.transport.bus));
  if (parse.format.isEventStream) parse.context.events = new EventStream(parse.response);
  const record = await convert(deps, parse, key, upload, deadline);
  const creditsUsed = costOf(upload, record);
  const body = await buildResponse(deps, parse, upload, record, creditsUsed, deadline);
  await charge(deps, parse, credit, creditsUsed, deadline);
  await sendResponse(parse, body);
}

/**
 * Checks credits, rate and queue of the key, and waits up to `PLAN_CHECK_WAIT_MS` for the result. If it is late,
 * the check continues while the body is received.
 * @throws ParseError 402, 429; BusUnavailableError
 */
async function startPlanCheck(
  { transport, concurrency }: ParseDependencies,
  { context, cleanup }: ParseRequest,
  key: Key,
): Promise<PlanCheck> {
  const credit = checkPlan({ state: transport.state, concurrency }, key, context.uniqueId);
  cleanup.push(() =>
    credit.then(
      (hold) => hold.release(),
      () => undefined,
    ),
  );
  await finishesBy(credit, Date.now() + PLAN_CHECK_WAIT_MS);
  return { credit, elapsedMs: Date.now() - context.startedAt };
}

/**
 * Receives the upload. A failed plan check ends it early. So does the request's timeout if the bus does not answer:
 * the request cannot succeed then, so the client need not send the rest.
 */
async function receive(
  { config, transport, uploadLimits }: ParseDependencies,
  { route, request, response, context, facts, format, cleanup }: ParseRequest,
  key: Key,
  { credit }: PlanCheck,
): Promise<Upload> {
  const rejection = new AbortController();
  let planChecked = false;
  credit.then(
    () => (planChecked = true),
    (error: unknown) => rejection.abort(error),
  );
  const onTimeout = (): void => {
    if (!planChecked || !transport.bus.connected()) rejection.abort(timeoutError(transport.bus));
  };
  let timer: NodeJS.Timeout | undefined;
  try {
    const upload = await route.receive(request, {
      payloads: transport.payloads,
      volatileBeforeOptions: key.allow.includes('zdr'),
      onHeadersAccepted: () => sendContinue(request, response),
      checkOptions: (options) => {
        facts.options = options;
        checkOptions(options, key, config);
        format.checkOptions?.(options);
        timer = setTimeout(onTimeout, Math.max(0, context.startedAt + options.timeoutMs - Date.now()));
      },
      rejection: rejection.signal,
      ...(uploadLimits ? { limits: uploadLimits } : {}),
    });
    cleanup.push(() => deletePayload(transport.payloads, upload.payload));
    facts.upload = upload;
    facts.uploadMs = Date.now() - context.startedAt;
    uploadedBytes.inc(upload.bytes);
    return upload;
  } finally {
    clearTimeout(timer);
  }
}

/** Rejects options that the key or this server does not support. @throws ParseError 403, 422, 400 */
function checkOptions(options: ParseOptions, key: Key, config: Pick<Config, 'llm'>): void {
  if (options.zeroDataRetention) requirePermission(key, 'zdr');
  if (options.json?.schema) checkSchema(options.json.schema);
  if (options.json && !config.llm)
    throw new ParseError(
      'MODEL_NOT_CONFIGURED',
      'The `json` format needs a language model, and this server has none (LLM_BASE_URL, LLM_MODEL); request `markdown` instead',
    );
}

/** Starts a stage, and shows it to a client that reads events. */
function enterStage({ stages, context }: ParseRequest, stage: Exclude<Stage, 'receive'>): void {
  stages.enter(stage);
  context.events?.progress({ stage });
}

/** Waits for a concurrency slot, runs the pipeline, and releases the slot. */
async function convert(
  { transport, concurrency }: ParseDependencies,
  parse: ParseRequest,
  key: Key,
  upload: Upload,
  deadline: number,
): Promise<ParsedRecord> {
  const { context, facts, cleanup, stages } = parse;
  const { signal, events } = context;
  enterStage(parse, 'queue');
  const slot = await inSpan('wait for slot', {}, () =>
    concurrency.acquire(key, { id: context.uniqueId, deadline, signal }),
  ).catch((error: unknown) => {
    throw error instanceof DeadlineError ? timeoutError(transport.bus) : error;
  });
  cleanup.push(() => slot.release());
  facts.queuedMs = slot.queuedMs;
  const record = await runPipeline(upload, {
    transport,
    requestId: context.id,
    deadline,
    signal,
    onStage: (stage) => enterStage(parse, stage),
    ...(events ? { onProgress: (progress) => events.progress(progress) } : {}),
  });
  stages.enter(undefined);
  cleanup.push(() => deletePayload(transport.payloads, record.fields));
  // Release the slot before the response, because the client may send its next request as soon as it has the response.
  await waitForCleanup(slot.release());
  return record;
}

function costOf({ format, options }: Upload, { report }: ParsedRecord): number {
  const { numPages } = report.metadata;
  const pdfPages = format.container === 'pdf' && typeof numPages === 'number' ? numPages : undefined;
  return parseCost({ pdfPages, json: options.json !== undefined });
}

/** Reads the start of the response body before anything is charged or sent. */
async function buildResponse(
  { transport }: ParseDependencies,
  { response, context, facts, format }: ParseRequest,
  upload: Upload,
  { report, fields, fileName }: ParsedRecord,
  creditsUsed: number,
  deadline: number,
): Promise<BufferedBody> {
  const metadata = buildMetadata(report.metadata, {
    fileName,
    contentType: upload.format.contentType,
    creditsUsed,
    requestId: context.id,
    queuedMs: facts.queuedMs,
  });
  const onTimeout = (): Error => timeoutError(transport.bus);
  const json = await withDeadline(openPayload(transport.payloads, fields, { until: deadline }), deadline, onTimeout);
  const ownReport = { metadata, warnings: report.warnings };
  for (const [name, value] of Object.entries(format.headers?.(ownReport) ?? {})) response.setHeader(name, value);
  return withDeadline(bufferBody(format.writeBody(json, ownReport, upload)), deadline, onTimeout);
}

/** Sends the success response. */
async function sendResponse(
  { request, response, format, stages, context: { events, signal } }: ParseRequest,
  body: BufferedBody,
): Promise<void> {
  if (events) return events.sendResult(body, stages.timings(), signal);
  response.setHeader('Server-Timing', serverTiming(stages.timings()));
  await sendBody(request, response, format.contentType, body, signal);
}

/** Charges the credits. If this takes longer than the deadline, the response is sent first and the charge continues. */
async function charge(
  { log }: ParseDependencies,
  { context, facts }: ParseRequest,
  credit: CreditHold,
  creditsUsed: number,
  deadline: number,
): Promise<void> {
  const charged = credit.charge(creditsUsed);
  if (!(await finishesBy(charged, deadline)))
    charged.catch((error: unknown) =>
      log.warn({ requestId: context.id, creditsUsed, cause: describeCause(error) }, 'credits were not charged'),
    );
  creditsCharged.inc(creditsUsed);
  facts.creditsUsed = creditsUsed;
}

/** The error for a deadline that passes while the bus does not answer. */
function timeoutError(bus: Bus): Error {
  return bus.connected()
    ? new DeadlineError('the message bus did not respond before the deadline')
    : new BusUnavailableError('the message bus is not connected');
}

/** Counts the failure if a limit caused it. @returns the outcome for the audit event */
function recordFailure(error: unknown): string {
  const { code } = toParseError(error);
  const reason = LIMIT_REASONS[code];
  if (reason) limitRefusals.inc({ reason });
  return isCancelled(error) ? 'cancelled' : code;
}

/** Runs the cleanup. Waits only briefly, because an error response is sent afterwards, and not at all if the bus is unavailable. */
async function cleanUp({ cleanup }: ParseRequest, outcome: string): Promise<void> {
  const released = Promise.allSettled(cleanup.map((release) => release()));
  // The cause of a timeout may be an unavailable bus.
  if (outcome === 'REQUEST_TIMEOUT') await waitForCleanup(released, AFTER_DEADLINE_MS);
  else if (outcome !== 'SERVICE_UNAVAILABLE') await waitForCleanup(released);
}
