// Every environment variable the product reads, typed and checked in one place; docs/configuration.md is written from this table.
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { z } from 'zod';
import type { QueueName } from '../contract/jobs.ts';

const port = z.coerce.number().int().min(0).max(65_535);
const count = z.coerce.number().int().min(1).max(256);
const url = z.url({ protocol: /^https?$/ });

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** OTEL_TRACES_SAMPLER, as the OpenTelemetry specification names them. */
export const TRACE_SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** Variables by name. `meta` holds what the documentation says of each. */
export const environmentSchema = z.object({
  HOST: z.string().default('127.0.0.1').meta({ description: 'Address the API listens on.' }),
  PORT: port.default(8080).meta({ description: 'Port of the API; 0 picks a free one.' }),
  OPS_PORT: port
    .optional()
    .meta({ description: 'Moves /livez, /readyz and /metrics to a port of their own; gives a worker service one.' }),
  OPS_HOST: z.string().optional().meta({ description: 'Address of the operations port (default: HOST).' }),
  LOG_LEVEL: z.enum(LOG_LEVELS).default('info').meta({ description: 'Least severe level that is logged.' }),
  KEYS_FILE: z
    .string()
    .default('.parsemesh/keys.json')
    .meta({ description: 'Hashed API keys and their plans; watched.' }),
  API_KEY: z.string().min(8).optional().meta({ description: 'Value of the key made on the first start, for tests.' }),
  KEYS_SOURCE: z
    .enum(['file', 'kubernetes'])
    .default('file')
    .meta({ description: 'Where API keys come from: KEYS_FILE, or labelled Secrets of a cluster (docs/keys.md).' }),
  KEYS_NAMESPACE: z
    .string()
    .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/)
    .optional()
    .meta({ description: 'Namespace of those Secrets (default: the pod’s own, or that of the kubeconfig’s context).' }),
  KEYS_SELECTOR: z
    .string()
    .default('parsemesh.dev/api-key=true')
    .meta({ description: 'Label selector of those Secrets.' }),
  KUBECONFIG: z.string().optional().meta({
    description: 'Kubeconfig file for those Secrets outside a cluster (default: ~/.kube/config); a pod needs none.',
  }),
  NATS_URL: z
    .string()
    .optional()
    .meta({ description: 'NATS server with JetStream. Unset: everything in one process group on the in-memory bus.' }),
  LLM_BASE_URL: url
    .optional()
    .meta({ description: 'OpenAI-compatible endpoint for summary and json, up to and without /chat/completions.' }),
  LLM_API_KEY: z.string().optional().meta({ description: 'Key for LLM_BASE_URL.' }),
  LLM_MODEL: z.string().optional().meta({ description: 'Model name for LLM_BASE_URL.' }),
  PII_MODEL_URL: url.optional().meta({ description: 'HTTP endpoint of a PII model used instead of the built-in one.' }),
  OCR_LANGUAGES: z.string().default('eng').meta({ description: 'Tesseract languages, joined by +.' }),
  OCR_ENGINE: z.enum(['auto', 'native', 'wasm']).default('auto').meta({
    description:
      'native: the tesseract (5 or later) that is installed. wasm: the one that the product brings along. auto: native where there is one, since both read alike and it takes four fifths of the processor time (`npm run bench -- ocr` prints both).',
  }),
  TESSDATA_PREFIX: z
    .string()
    .optional()
    .meta({ description: 'Folder with *.traineddata (default: where Debian puts it).' }),
  LIBREOFFICE_FOLDER: z
    .string()
    .optional()
    .meta({ description: 'The `program` folder of LibreOffice (default: where Debian and others put it).' }),
  PDF_CONCURRENCY: count.optional().meta({ description: 'Jobs the pdf service runs at once (default: the cores).' }),
  OCR_CONCURRENCY: count.optional().meta({ description: 'Jobs the ocr service runs at once (default: the cores).' }),
  OFFICE_CONCURRENCY: count
    .optional()
    .meta({ description: 'Jobs the office service runs at once (default: the cores).' }),
  HTML_CONCURRENCY: count.optional().meta({ description: 'Jobs the html service runs at once (default: the cores).' }),
  CSV_CONCURRENCY: count.optional().meta({ description: 'Jobs the csv service runs at once (default: the cores).' }),
  PII_CONCURRENCY: count.optional().meta({ description: 'Jobs the pii service runs at once (default: the cores).' }),
  ENRICH_CONCURRENCY: count
    .optional()
    .meta({ description: 'Jobs the enrich service runs at once (default: four a core; it mostly waits).' }),
  DRAIN_TIMEOUT_MS: z.coerce
    .number()
    .int()
    .min(0)
    .max(3_600_000)
    .default(310_000)
    .meta({ description: 'How long SIGTERM waits for running work.' }),
  DRAIN_LINGER_MS: z.coerce.number().int().min(0).max(60_000).default(0).meta({
    description: 'How long a gateway that is told to stop takes requests still, each the last of its connection.',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: url.optional().meta({
    description:
      'Turns traces on: an OTLP collector (HTTP, protobuf), up to and without /v1/traces. The other OTEL_EXPORTER_OTLP_ variables (HEADERS, TIMEOUT, COMPRESSION, CERTIFICATE ...) mean what the OpenTelemetry specification says.',
  }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url
    .optional()
    .meta({ description: 'Turns traces on: the same, whole, with /v1/traces.' }),
  OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none']).optional().meta({
    description: '`otlp` turns traces on (to http://localhost:4318 where no endpoint is named), `none` turns them off.',
  }),
  OTEL_SDK_DISABLED: z.string().optional().meta({ description: '`true` turns traces off, whatever else is set.' }),
  OTEL_EXPORTER_OTLP_PROTOCOL: z
    .literal('http/protobuf')
    .optional()
    .meta({ description: 'The one protocol that traces are sent by; another one stops the start.' }),
  OTEL_SERVICE_NAME: z
    .string()
    .optional()
    .meta({ description: '`service.name` of the traces (default: parsemesh-SERVICE, or parsemesh in one process).' }),
  OTEL_RESOURCE_ATTRIBUTES: z
    .string()
    .optional()
    .meta({ description: 'More of what the traces tell of their process: key=value, divided by commas.' }),
  OTEL_TRACES_SAMPLER: z
    .enum(TRACE_SAMPLERS)
    .default('parentbased_always_on')
    .meta({ description: 'Which traces are recorded, in the words of the OpenTelemetry specification.' }),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .meta({ description: 'Share of traces that a `traceidratio` sampler records.' }),
  OTEL_BSP_SCHEDULE_DELAY: z.coerce
    .number()
    .int()
    .min(1)
    .max(60_000)
    .default(5_000)
    .meta({ description: 'Milliseconds between two sendings of traces.' }),
  OTEL_BSP_MAX_QUEUE_SIZE: z.coerce
    .number()
    .int()
    .min(1)
    .max(100_000)
    .default(2_048)
    .meta({ description: 'Spans kept while the collector is away; more are dropped.' }),
});

export interface ModelConfig {
  baseUrl: string;
  apiKey: string | undefined;
  model: string;
}

/** Where it is there, traces are on. */
export interface TracingConfig {
  sampler: (typeof TRACE_SAMPLERS)[number];
  /** 0 to 1. */
  ratio: number;
  delayMs: number;
  queueSize: number;
}

/** Where API keys are, where they are Secrets. */
export interface KeysConfig {
  source: 'file' | 'kubernetes';
  namespace: string | undefined;
  selector: string;
  kubeConfigFile: string | undefined;
}

export interface Config {
  host: string;
  port: number;
  opsPort: number | undefined;
  opsHost: string;
  logLevel: (typeof LOG_LEVELS)[number];
  keys: KeysConfig;
  keysFile: string;
  apiKey: string | undefined;
  natsUrl: string | undefined;
  llm: ModelConfig | undefined;
  concurrency: Record<QueueName, number>;
  drainTimeoutMs: number;
  drainLingerMs: number;
  tracing: TracingConfig | undefined;
}

/** A configuration the operator must mend; its message names the variables. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Reads the environment; an empty variable counts as unset.
 * @throws ConfigError naming every wrong variable.
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const result = environmentSchema.safeParse(
    Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')),
  );
  if (!result.success)
    throw new ConfigError(
      `configuration: ${result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ')}`,
    );
  const read = result.data;
  if (read.LLM_BASE_URL && !read.LLM_MODEL)
    throw new ConfigError('configuration: LLM_BASE_URL needs LLM_MODEL, the name of the model to ask');
  if (read.API_KEY && read.KEYS_SOURCE === 'kubernetes')
    throw new ConfigError('configuration: API_KEY makes a key in KEYS_FILE, and KEYS_SOURCE=kubernetes reads none');
  const cores = availableParallelism();
  return {
    host: read.HOST,
    port: read.PORT,
    opsPort: read.OPS_PORT,
    opsHost: read.OPS_HOST ?? read.HOST,
    logLevel: read.LOG_LEVEL,
    keys: {
      source: read.KEYS_SOURCE,
      namespace: read.KEYS_NAMESPACE,
      selector: read.KEYS_SELECTOR,
      kubeConfigFile: read.KUBECONFIG,
    },
    keysFile: resolve(read.KEYS_FILE),
    apiKey: read.API_KEY,
    natsUrl: read.NATS_URL,
    llm:
      read.LLM_BASE_URL && read.LLM_MODEL
        ? { baseUrl: read.LLM_BASE_URL.replace(/\/+$/, ''), apiKey: read.LLM_API_KEY, model: read.LLM_MODEL }
        : undefined,
    concurrency: {
      pdf: read.PDF_CONCURRENCY ?? cores,
      ocr: read.OCR_CONCURRENCY ?? cores,
      office: read.OFFICE_CONCURRENCY ?? cores,
      html: read.HTML_CONCURRENCY ?? cores,
      csv: read.CSV_CONCURRENCY ?? cores,
      pii: read.PII_CONCURRENCY ?? cores,
      enrich: read.ENRICH_CONCURRENCY ?? cores * 4,
    },
    drainTimeoutMs: read.DRAIN_TIMEOUT_MS,
    drainLingerMs: read.DRAIN_LINGER_MS,
    tracing: readTracing(read),
  };
}

/** Opt-in: somebody named a collector, or asked for the exporter by name. */
function readTracing(read: z.infer<typeof environmentSchema>): TracingConfig | undefined {
  if (read.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || read.OTEL_TRACES_EXPORTER === 'none') return undefined;
  const asked =
    read.OTEL_TRACES_EXPORTER ?? read.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? read.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (asked === undefined) return undefined;
  return {
    sampler: read.OTEL_TRACES_SAMPLER,
    ratio: read.OTEL_TRACES_SAMPLER_ARG,
    delayMs: read.OTEL_BSP_SCHEDULE_DELAY,
    queueSize: read.OTEL_BSP_MAX_QUEUE_SIZE,
  };
}

/** Variables that an isolated conversion process may see, beyond what any program needs. */
const CONVERSION_VARIABLES: Partial<Record<QueueName, readonly string[]>> = {
  ocr: ['OCR_ENGINE', 'OCR_LANGUAGES', 'TESSDATA_PREFIX'],
  pdf: ['OCR_LANGUAGES'],
  office: ['LIBREOFFICE_FOLDER'],
  pii: ['PII_MODEL_URL'],
  enrich: ['LLM_BASE_URL', 'LLM_API_KEY', 'LLM_MODEL'],
};
const SYSTEM_VARIABLES = [
  'PATH',
  'HOME',
  'LANG',
  'LC_ALL',
  'TMPDIR',
  'TZ',
  'FONTCONFIG_PATH',
  'FONTCONFIG_FILE',
  'NODE_EXTRA_CA_CERTS',
  'XDG_CACHE_HOME',
];

/** The environment of an isolated process: no keys but those its work needs, since it reads hostile bytes. */
export function conversionEnvironment(queue: QueueName, env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const names = [...SYSTEM_VARIABLES, ...(CONVERSION_VARIABLES[queue] ?? [])];
  return Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
}
