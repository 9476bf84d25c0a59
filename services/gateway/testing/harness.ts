// Starts a gateway on a real port over the in-memory bus, with a synthetic converter behind it, for the gateway's own tests.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Delivery, JobAnswer, Transport } from '#shared/bus/bus.ts';
import { createMemoryTransport } from '#shared/bus/memory.ts';
import { ParseError } from '#shared/contract/errors.ts';
import type { Job, JobOutcome, RecordReport } from '#shared/contract/jobs.ts';
import { QUEUE_NAMES, type QueueName } from '#shared/contract/services.ts';
import { type Config, readConfig } from '#shared/runtime/config.ts';
import type { AnswerHeader, JobHeader } from '#shared/runtime/dispatch.ts';
import { createLogger, type Logger } from '#shared/runtime/log.ts';
import { readPayload, storeBytes } from '#shared/runtime/payload.ts';
import { changeKeyFile } from '../auth/key-file.ts';
import { makeKey, NEW_KEY_PLAN, type Plan, randomToken } from '../auth/keys.ts';
import { type Gateway, type GatewayOptions, startGateway } from '../gateway.ts';
import { until } from './clock.ts';

const CONVERTER_CONCURRENCY = 8;

/** What a converter returns for a job. */
interface Converted {
  report: RecordReport;
  /** JSON text of `RecordFields`. */
  fields: string | Uint8Array;
}
export type Converter = (job: Job, bytes: Uint8Array, delivery: Delivery) => Promise<Converted> | Converted;

/** A converter that returns the job it received in the metadata, and the size of the file as Markdown. */
export const echo: Converter = (job, bytes) => {
  const metadata =
    job.kind === 'convert' ? { title: job.fileName, job: JSON.stringify(job) } : 'metadata' in job ? job.metadata : {};
  const warnings = 'warnings' in job ? job.warnings : [];
  if (job.kind !== 'convert') return { report: { metadata, warnings }, fields: bytes };
  return { report: { metadata, warnings: [] }, fields: JSON.stringify({ markdown: `${bytes.byteLength} bytes` }) };
};

export interface TestGateway {
  gateway: Gateway;
  transport: Transport;
  url: string;
  key: string;
  keysFile: string;
  /** Creates a key with this plan and waits until the gateway accepts it. @returns its value */
  makeKey(plan: Partial<Plan>): Promise<string>;
  stop(): Promise<void>;
}

/** Starts the gateway and serves `queues` (default: every converter, pii and enrich) with `converter`. */
export async function startTestGateway(
  options: {
    converter?: Converter;
    log?: Logger;
    llm?: Config['llm'];
    opsPort?: number;
    corsOrigins?: readonly string[];
    drainLingerMs?: number;
    uploadLimits?: GatewayOptions['uploadLimits'];
    queues?: readonly QueueName[];
    /** Environment variables of the configuration. */
    env?: Readonly<Record<string, string>>;
  } = {},
): Promise<TestGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'parsemesh-gateway-'));
  const keysFile = join(folder, 'keys.json');
  const config = {
    ...readConfig({ PORT: '0', KEYS_FILE: keysFile, LOG_LEVEL: 'silent', ...options.env }),
    llm: options.llm,
    opsPort: options.opsPort,
    corsOrigins: options.corsOrigins ?? ['*'],
    drainLingerMs: options.drainLingerMs ?? 0,
  };
  const transport = createMemoryTransport();
  for (const queue of options.queues ?? QUEUE_NAMES.filter((queue) => queue !== 'ocr'))
    await serve(transport, queue, options.converter ?? echo);
  const gateway = await startGateway({
    config,
    log: options.log ?? createLogger(config, 'gateway'),
    transport,
    ...(options.uploadLimits ? { uploadLimits: options.uploadLimits } : {}),
  });
  const isAccepted = async (token: string): Promise<boolean> => {
    const response = await fetch(`${gateway.url}/v2/parse/formats`, { headers: { authorization: `Bearer ${token}` } });
    await response.arrayBuffer();
    return response.status === 200;
  };
  return {
    gateway,
    transport,
    url: gateway.url,
    key: gateway.firstKey ?? '',
    keysFile,
    async makeKey(plan) {
      const token = randomToken();
      const key = makeKey(token, { ...NEW_KEY_PLAN, ...plan });
      await changeKeyFile(keysFile, (keys) => ({ keys: [...(keys ?? []), key], result: undefined }));
      await until(() => isAccepted(token), 'the new key is accepted');
      return token;
    },
    async stop() {
      await gateway.drain();
      await transport.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Serves a queue of the bus in this process, as a worker does. */
async function serve(transport: Transport, queue: QueueName, converter: Converter): Promise<void> {
  await transport.bus.serve(queue, {
    concurrency: CONVERTER_CONCURRENCY,
    handler: async (delivery): Promise<JobAnswer> => {
      const { job, ref } = delivery.message.header as JobHeader;
      const answer = (
        outcome: JobOutcome,
        rest: Partial<JobAnswer> = {},
        header: Partial<AnswerHeader> = {},
      ): JobAnswer => ({
        header: { outcome, ...header } satisfies AnswerHeader,
        body: new Uint8Array(0),
        ...rest,
      });
      try {
        const bytes = await readPayload(transport.payloads, ref ? { ref } : { inline: delivery.message.body });
        const { report, fields } = await converter(job, bytes, delivery);
        const payload = await storeBytes(transport.payloads, Buffer.from(fields), { volatile: delivery.volatile });
        return 'ref' in payload
          ? answer({ ok: true, reply: report }, {}, { ref: payload.ref })
          : answer({ ok: true, reply: report }, { body: payload.inline });
      } catch (error) {
        const known = error instanceof ParseError ? error : new ParseError('UNKNOWN_ERROR');
        return answer({ ok: false, error: known.toRecord() });
      }
    },
  });
}
