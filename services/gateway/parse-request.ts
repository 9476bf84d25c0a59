// Runs one request that parses a file, for every route that does so: checks the request, receives the upload, runs the pipeline, sends the response and cleans up.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { DeadlineError, type Transport } from '#shared/bus/bus.ts';
import type { ParseEvent } from '#shared/contract/audit-events.ts';
import { ParseError } from '#shared/contract/errors.ts';
import type { RecordReport } from '#shared/contract/jobs.ts';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import type { ParseOptions } from '#shared/contract/options.ts';
import { PII_ENTITIES } from '#shared/contract/options-schema.ts';
import type { Stage } from '#shared/contract/progress.ts';
import { AFTER_DEADLINE_MS, finishesBy, waitForCleanup, withDeadline } from '#shared/runtime/bounded-wait.ts';
import { describeCause } from '#shared/runtime/cause.ts';
import type { Config } from '#shared/runtime/config.ts';
import type { Logger } from '#shared/runtime/log.ts';
import { creditsCharged, limitRefusals, uploadedBytes } from '#shared/runtime/metrics.ts';
import { deletePayload, openPayload } from '#shared/runtime/payload.ts';
import { inSpan } from '#shared/runtime/traces.ts';
import type { Handler } from './app.ts';
import { auditParse, type ParseFacts } from './audit/parse-event.ts';
import type { AuditTrail } from './audit/trail.ts';
import { authenticate, requirePermission } from './auth/bearer.ts';
import type { Key, KeySource } from './auth/keys.ts';
import { type BusWaitLimit, busTimeout } from './bus-wait.ts';
import { contextOf, type RequestContext } from './context.ts';
import type { ConcurrencyLimiter } from './limits/concurrency.ts';
import { type CreditHold, parseCost } from './limits/credits.ts';
import { checkPlan } from './limits/plan.ts';
import { type ParsedRecord, runPipeline } from './pipeline.ts';
import { type BufferedBody, bufferBody, sendBody } from './responses/body.ts';
import { isCancelled, sendContinue, toParseError } from './responses/error.ts';
import { EventStream } from './responses/event-stream.ts';
import { buildMetadata } from './responses/record.ts';
import type { SchemaChecker } from './schema-check.ts';
import { StageClock, serverTiming } from './stages.ts';
import type { Upload, UploadRules } from './upload/receive.ts';
import type { UploadLimits } from './upload/request-body.ts';

export interface ParseDependencies {
  config: Pick<Config, 'llm'>;
  log: Logger;
  transport: Transport;
  keys: KeySource;
  trail: AuditTrail;
  concurrency: ConcurrencyLimiter;
  schemas: SchemaChecker;
  busWaits: BusWaitLimit;
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

/** How long a request for JSON waits for the check of its schema if there is no model, in milliseconds. It fails in any case. */
const NO_MODEL_WAIT_MS = 10_000;

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
    let outcome: ParseEvent['outcome'] = 'success';
    try {
      await handleParse(deps, parse);
    } catch (error) {
      outcome = recordFailure(error);
      throw error;
    } finally {
      await cleanUp(parse, outcome);
      auditParse(deps.trail, parse.context, parse.facts, outcome);
    }
  };
}

/** The steps of a request. Their order is part of the interface (docs/api.md, "Order of checks"). */
async function handleParse(deps: ParseDependencies, parse: ParseRequest): Promise<void> {
  const key = authenticate(parse.request, parse.response, deps.keys);
  requirePermission(key, 'parse');
  const leave = deps.busWaits.enter();
  parse.cleanup.push(async () => leave());
  const planCheck = await startPlanCheck(deps, parse, key);
  const upload = await inSpan('receive upload', {}, () => receive(deps, parse, key, planCheck));
  const deadline = Date.now() + upload.options.timeoutMs - planCheck.elapsedMs;
  const onTimeout = (): Error => busTimeout(deps.transport.bus, parse.context.startedAt);
  const credit = await withDeadline(planCheck.credit, deadline, onTimeout);
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
  // The timeout of the request is not known yet. The check waits for the bus until the request ends.
  const ended = new AbortController();
  const credit = checkPlan({ state: transport.state, concurrency }, key, context.uniqueId, { signal: ended.signal });
  cleanup.push(async () => ended.abort());
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
  deps: ParseDependencies,
  { route, request, response, context, facts, format, cleanup }: ParseRequest,
  key: Key,
  planCheck: PlanCheck,
): Promise<Upload> {
  const { transport, uploadLimits } = deps;
  const { credit } = planCheck;
  const rejection = new AbortController();
  let planChecked = false;
  credit.then(
    () => (planChecked = true),
    (error: unknown) => rejection.abort(error),
  );
  const onTimeout = (): void => {
    if (!planChecked || !transport.bus.connected()) rejection.abort(busTimeout(transport.bus, context.startedAt));
  };
  let jsonChecked: Promise<void> | undefined;
  // The options may arrive after the file, whose storing waits for the bus.
  let timer = setTimeout(onTimeout, REQUEST_LIMITS.timeoutDefaultMs);
  try {
    const upload = await route.receive(request, {
      payloads: transport.payloads,
      volatileBeforeOptions: key.allow.includes('zdr'),
      onHeadersAccepted: () => sendContinue(request, response),
      checkOptions: (options) => {
        facts.options = options;
        if (options.zeroDataRetention) requirePermission(key, 'zdr');
        format.checkOptions?.(options);
        jsonChecked = checkJson(deps, options, { context, key, planCheck });
        jsonChecked.catch((error: unknown) => rejection.abort(error));
        clearTimeout(timer);
        timer = setTimeout(onTimeout, Math.max(0, context.startedAt + options.timeoutMs - Date.now()));
      },
      rejection: rejection.signal,
      ...(uploadLimits ? { limits: uploadLimits } : {}),
    });
    cleanup.push(() => deletePayload(transport.payloads, upload.payload));
    facts.upload = upload;
    facts.uploadMs = Date.now() - context.startedAt;
    uploadedBytes.inc(upload.bytes);
    await jsonChecked;
    return upload;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Checks what the `json` format needs, while the file is received: a valid schema and a model. The schema is compiled after the plan check,
 * because that costs the server more.
 * @throws ParseError 422 for the schema, also if there is no model; 400 if there is no model; the errors of the plan check and of `dispatch`
 */
async function checkJson(
  { config, schemas }: ParseDependencies,
  { json, timeoutMs, zeroDataRetention }: ParseOptions,
  { context, key, planCheck }: { context: RequestContext; key: Key; planCheck: PlanCheck },
): Promise<void> {
  if (!json) return;
  const noModel = config.llm
    ? undefined
    : new ParseError(
        'MODEL_NOT_CONFIGURED',
        'The `json` format needs a language model, and this server has none (LLM_BASE_URL, LLM_MODEL); request `markdown` instead',
      );
  if (json.schema) {
    await planCheck.credit;
    const { id: requestId, signal } = context;
    const waitMs = timeoutMs - planCheck.elapsedMs;
    const deadline = Date.now() + (noModel ? Math.min(waitMs, NO_MODEL_WAIT_MS) : waitMs);
    const request = { requestId, deadline, team: key.team, signal, volatile: zeroDataRetention };
    await schemas.check(json.schema, request).catch((error: unknown) => {
      throw toParseError(error).code === 'SCHEMA_INVALID' ? error : (noModel ?? error);
    });
  }
  if (noModel) throw noModel;
}

/** Starts a stage, and shows it to a client that reads events. */
function enterStage({ stages, context }: ParseRequest, stage: Exclude<Stage, 'receive'>): void {
  stages.enter(stage);
  context.events?.progress({ stage });
}

/** What decides how long a document takes, as far as it is known before it is read. */
const workOf = ({ format, options }: Upload): string =>
  `${format.extension}${options.pdf.mode === 'ocr' ? ' ocr' : ''}${options.json || options.redact ? ' enriched' : ''}`;

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
  const queuedAt = Date.now();
  const slot = await inSpan('wait for slot', {}, () =>
    concurrency.acquire(key, { id: context.uniqueId, deadline, work: workOf(upload), signal }),
  ).catch((error: unknown) => {
    throw error instanceof DeadlineError ? busTimeout(transport.bus, queuedAt) : error;
  });
  cleanup.push(() => slot.release());
  facts.queuedMs = slot.queuedMs;
  const record = await runPipeline(upload, {
    transport,
    requestId: context.id,
    deadline,
    team: key.team,
    signal,
    onStage: (stage) => enterStage(parse, stage),
    ...(events ? { onProgress: (progress) => events.progress(progress) } : {}),
  });
  stages.enter(undefined);
  facts.redactions = countsOf(record.report);
  cleanup.push(() => deletePayload(transport.payloads, record.fields));
  // Release the slot before the response, because the client may send its next request as soon as it has the response.
  await waitForCleanup(slot.release());
  return record;
}

/** Number of redactions by entity, which the pii service reports. */
function countsOf({ metadata: { piiRedactions } }: RecordReport): Record<string, number> {
  const counts = typeof piiRedactions === 'object' && piiRedactions !== null ? Object.entries(piiRedactions) : [];
  return Object.fromEntries(
    PII_ENTITIES.flatMap((entity) => counts.filter(([name, count]) => name === entity && Number.isInteger(count))),
  );
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
  const startedAt = Date.now();
  const onTimeout = (): Error => busTimeout(transport.bus, startedAt);
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

/** Counts the failure if a limit caused it. @returns the outcome for the audit event */
function recordFailure(error: unknown): ParseEvent['outcome'] {
  const { code } = toParseError(error);
  const reason = LIMIT_REASONS[code];
  if (reason) limitRefusals.inc({ reason });
  return isCancelled(error) ? 'cancelled' : code;
}

/** Runs the cleanup. Waits only briefly, because an error response is sent afterwards, and not at all if the bus is unavailable. */
async function cleanUp({ cleanup }: ParseRequest, outcome: ParseEvent['outcome']): Promise<void> {
  const released = Promise.allSettled(cleanup.map((release) => release()));
  // The cause of a timeout may be an unavailable bus.
  if (outcome === 'REQUEST_TIMEOUT') await waitForCleanup(released, AFTER_DEADLINE_MS);
  else if (outcome !== 'SERVICE_UNAVAILABLE') await waitForCleanup(released);
}
