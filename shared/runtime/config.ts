// Declares and validates every environment variable of the product; docs/configuration.md is generated from it.

import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { z } from 'zod';
import { byQueue, QUEUE_NAMES, QUEUES, type QueueName, WORKER_SERVICES } from '../contract/services.ts';
import { ConfigError, FILE_VARIABLES, isSecretVariable } from './secrets.ts';

export { ConfigError };

const port = z.coerce.number().int().min(0).max(65_535);
const count = z.coerce.number().int().min(1).max(256);
const url = z.url({ protocol: /^https?$/ });

/** Whether a browser would send this value as `Origin`: without a path, in lower case, without the default port. */
const isOrigin = (text: string): boolean =>
  text === '*' || (!text.includes('*') && URL.canParse(text) && new URL(text).origin === text);

/** Names of address ranges that express knows: 127.0.0.0/8 and ::1, 169.254.0.0/16 and fe80::/10, the private ranges. */
const ADDRESS_RANGES: readonly string[] = ['loopback', 'linklocal', 'uniquelocal'];

/** Whether this is an IP address, a range in CIDR notation, or the name of a range. */
function isAddressRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0) return ADDRESS_RANGES.includes(text);
  if (bits === undefined) return true;
  return rest.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= (family === 4 ? 32 : 128);
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** Values of OTEL_TRACES_SAMPLER (OpenTelemetry specification, "General SDK Configuration"). */
const TRACE_SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

type ConcurrencyVariable = `${Uppercase<QueueName>}_CONCURRENCY`;
const concurrencyVariable = (queue: QueueName) => `${queue.toUpperCase()}_CONCURRENCY` as ConcurrencyVariable;

const concurrencyVariables = Object.fromEntries(
  QUEUE_NAMES.map((queue) => {
    const { jobsPerCore, service } = QUEUES[queue];
    const which = queue === service ? 'Jobs' : `Jobs of the queue \`${queue}\``;
    const description = `${which} that one ${service} worker runs at once (default: ${jobsPerCore} for each CPU core).`;
    return [concurrencyVariable(queue), count.optional().meta({ description })];
  }),
) as Record<ConcurrencyVariable, z.ZodOptional<typeof count>>;

const fileVariables = Object.fromEntries(
  FILE_VARIABLES.map((name) => [
    `${name}_FILE`,
    z
      .string()
      .optional()
      .meta({ description: `File with the value of ${name}, for example a mounted Secret.` }),
  ]),
) as Record<`${(typeof FILE_VARIABLES)[number]}_FILE`, z.ZodOptional<z.ZodString>>;

/** Each variable with its type, its default and, in `meta`, its description for the documentation. */
export const environmentSchema = z.object({
  HOST: z.string().default('127.0.0.1').meta({ description: 'Address that the API listens on.' }),
  PORT: port.default(8080).meta({ description: 'Port of the API; 0 picks a free port.' }),
  OPS_PORT: port.optional().meta({
    description:
      'Port for /livez, /readyz and /metrics (default: the gateway serves them on PORT, a worker service does not serve them).',
  }),
  OPS_HOST: z.string().optional().meta({ description: 'Address that OPS_PORT listens on (default: HOST).' }),
  CORS_ORIGINS: z
    .string()
    .default('*')
    .transform((text) => text.split(',').flatMap((origin) => origin.trim() || []))
    .refine((origins) => origins.every(isOrigin), 'each must be an origin such as https://app.example.com, or `*`')
    .meta({
      description:
        'Origins whose scripts may call /v2 from a browser, separated by commas; `*` for all, empty for none. Unlike other variables, an empty value is not the default.',
    }),
  LOG_LEVEL: z.enum(LOG_LEVELS).default('info').meta({ description: 'Lowest level that is logged.' }),
  KEYS_FILE: z.string().default('.parsemesh/keys.json').meta({
    description: 'File with the hashed API keys and their plans; the gateway reads it again when it changes.',
  }),
  API_KEY: z
    .string()
    .min(8)
    .optional()
    .meta({ description: 'Value of the API key that the first start creates, for tests (default: a random value).' }),
  KEYS_SOURCE: z.enum(['file', 'kubernetes']).default('file').meta({
    description:
      'Where the gateway reads API keys: `file` is KEYS_FILE, `kubernetes` is labelled Secrets of a cluster (docs/keys.md).',
  }),
  KEYS_NAMESPACE: z
    .string()
    .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/)
    .optional()
    .meta({
      description:
        'Namespace of the Secrets with API keys (default: the namespace of the pod or of the kubeconfig context).',
    }),
  KEYS_SELECTOR: z
    .string()
    .default('parsemesh.dev/api-key=true')
    .meta({ description: 'Label selector of the Secrets with API keys.' }),
  KUBECONFIG: z.string().optional().meta({
    description: 'Kubeconfig file to read the Secrets with, outside of a cluster (default: ~/.kube/config).',
  }),
  AUDIT: z.enum(['keys', 'all']).default('keys').meta({
    description:
      'Which requests write audit events (docs/audit.md). `keys`: requests whose key has the permission `audit`. `all`: every request, also those that are refused with 401.',
  }),
  TRUST_PROXY: z
    .string()
    .default('0')
    .transform((text) => (/^\d{1,2}$/.test(text) ? Number(text) : text.split(',').map((range) => range.trim())))
    .refine(
      (trusted) => typeof trusted === 'number' || trusted.every(isAddressRange),
      'must be a number of proxies, or IP addresses, CIDR ranges, `loopback`, `linklocal` and `uniquelocal`, separated by commas',
    )
    .meta({
      description:
        'Proxies in front of the gateway whose `X-Forwarded-For` header is believed for the client address in audit events: their number, or their addresses as CIDR ranges separated by commas (also `loopback`, `linklocal`, `uniquelocal`). 0: the address of the connection.',
    }),
  NATS_URL: z.string().optional().meta({
    description:
      'URL of a NATS server with JetStream, for `npm run service`. `npm start` uses the in-memory bus instead.',
  }),
  NATS_TLS_CA: z.string().optional().meta({
    description:
      'File with the certificate authorities (PEM) that sign the certificate of the NATS server. Each NATS_TLS_ variable turns TLS on: the process does not connect without it. Default: the authorities of Node, and TLS only if the server requires it.',
  }),
  NATS_TLS_CERT: z.string().optional().meta({
    description:
      'File with the client certificate (PEM) for NATS, if the server checks one. The NATS_TLS_ files are read at each connect, so a renewed certificate needs no restart.',
  }),
  NATS_TLS_KEY: z.string().optional().meta({ description: 'File with the key of NATS_TLS_CERT (PEM).' }),
  NATS_REPLICAS: z.coerce
    .number()
    .int()
    .refine((replicas) => [1, 3, 5].includes(replicas), 'must be 1, 3 or 5')
    .default(1)
    .meta({
      description:
        'Copies of each stream on the servers of a NATS cluster: 1, 3 or 5, at most the number of servers. The gateway creates the streams, and changes them when this value changes.',
    }),
  LLM_BASE_URL: url
    .optional()
    .meta({ description: 'Base URL of an OpenAI-compatible API for `summary` and `json`, without /chat/completions.' }),
  LLM_API_KEY: z.string().optional().meta({ description: 'API key that is sent to LLM_BASE_URL.' }),
  LLM_MODEL: z.string().optional().meta({ description: 'Name of the model at LLM_BASE_URL; required with it.' }),
  PII_MODEL_URL: url.optional().meta({ description: 'URL of a PII model that replaces the built-in one.' }),
  OCR_LANGUAGES: z
    .string()
    .default('eng')
    .meta({ description: 'Tesseract languages that OCR reads by default, joined by `+`.' }),
  OCR_ENGINE: z.enum(['auto', 'native', 'wasm']).default('auto').meta({
    description:
      '`native`: the installed tesseract program, version 5 or later. `wasm`: the Tesseract of the npm package. `auto`: native if it is installed, because it reads the same text with 20 % less CPU time (`npm run bench -- ocr` measures both).',
  }),
  TESSDATA_PREFIX: z
    .string()
    .optional()
    .meta({ description: 'Folder with the *.traineddata files of Tesseract (default: the folder that Debian uses).' }),
  LIBREOFFICE_FOLDER: z
    .string()
    .optional()
    .meta({ description: 'The `program` folder of LibreOffice (default: the folders that Linux distributions use).' }),
  ...concurrencyVariables,
  ...fileVariables,
  DRAIN_TIMEOUT_MS: z.coerce
    .number()
    .int()
    .min(0)
    .max(3_600_000)
    .default(310_000)
    .meta({ description: 'Milliseconds that a process waits for running work after SIGTERM.' }),
  DRAIN_LINGER_MS: z.coerce.number().int().min(0).max(60_000).default(0).meta({
    description:
      'Milliseconds that a gateway still accepts requests after SIGTERM; it closes each connection after the response.',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: url.optional().meta({
    description:
      'Turns tracing on: base URL of an OTLP collector (HTTP, protobuf), without /v1/traces. The other OTEL_EXPORTER_OTLP_ variables (HEADERS, TIMEOUT, COMPRESSION, CERTIFICATE ...) work as in the OpenTelemetry specification.',
  }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url
    .optional()
    .meta({ description: 'Turns tracing on: complete URL of the OTLP collector, with /v1/traces.' }),
  OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none']).optional().meta({
    description: '`otlp` turns tracing on (to http://localhost:4318 if no endpoint is set), `none` turns it off.',
  }),
  OTEL_SDK_DISABLED: z
    .string()
    .optional()
    .meta({ description: '`true` turns tracing off, regardless of the other variables.' }),
  OTEL_EXPORTER_OTLP_PROTOCOL: z.literal('http/protobuf').optional().meta({
    description:
      'Protocol of the OTLP exporter. Only `http/protobuf` is supported; the process does not start with another value.',
  }),
  OTEL_SERVICE_NAME: z.string().optional().meta({
    description:
      'Resource attribute `service.name` of the traces (default: `parsemesh-` and the service, or `parsemesh` for `npm start`).',
  }),
  OTEL_RESOURCE_ATTRIBUTES: z
    .string()
    .optional()
    .meta({ description: 'More resource attributes of the traces: key=value pairs, separated by commas.' }),
  OTEL_TRACES_SAMPLER: z
    .enum(TRACE_SAMPLERS)
    .default('parentbased_always_on')
    .meta({ description: 'Sampler of the traces, as in the OpenTelemetry specification.' }),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .meta({ description: 'Share of traces, from 0 to 1, that a `traceidratio` sampler records.' }),
  OTEL_BSP_SCHEDULE_DELAY: z.coerce
    .number()
    .int()
    .min(1)
    .max(60_000)
    .default(5_000)
    .meta({ description: 'Milliseconds between two exports of spans.' }),
  OTEL_BSP_MAX_QUEUE_SIZE: z.coerce.number().int().min(1).max(100_000).default(2_048).meta({
    description:
      'Maximum number of spans that wait for export, for example while the collector is unavailable; further spans are dropped.',
  }),
});

export interface ModelConfig {
  baseUrl: string;
  apiKey: string | undefined;
  model: string;
}

/** Settings of tracing; undefined if tracing is off. */
export interface TracingConfig {
  sampler: (typeof TRACE_SAMPLERS)[number];
  /** 0 to 1. */
  ratio: number;
  delayMs: number;
  queueSize: number;
}

/** Where API keys are read; `namespace` and the rest apply to `kubernetes`. */
export interface KeysConfig {
  source: 'file' | 'kubernetes';
  namespace: string | undefined;
  selector: string;
  kubeConfigFile: string | undefined;
}

export interface Config {
  host: string;
  port: number;
  /** Empty if no other origin may call the API; `*` for every origin. */
  corsOrigins: readonly string[];
  opsPort: number | undefined;
  opsHost: string;
  logLevel: (typeof LOG_LEVELS)[number];
  keys: KeysConfig;
  keysFile: string;
  apiKey: string | undefined;
  audit: 'keys' | 'all';
  /** Number of proxies, or their addresses and ranges. */
  trustProxy: number | string[];
  natsUrl: string | undefined;
  /** Files with certificates for NATS; undefined if TLS is not required. */
  natsTls: { ca?: string; cert?: string; key?: string } | undefined;
  natsReplicas: number;
  llm: ModelConfig | undefined;
  concurrency: Record<QueueName, number>;
  drainTimeoutMs: number;
  drainLingerMs: number;
  tracing: TracingConfig | undefined;
}

/** Variables whose empty value differs from the default. */
const MEANINGFUL_IF_EMPTY: ReadonlySet<string> = new Set(['CORS_ORIGINS']);

/**
 * Reads the configuration. An empty variable counts as unset, except those of `MEANINGFUL_IF_EMPTY`.
 * @throws ConfigError with every invalid variable
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const result = environmentSchema.safeParse(
    Object.fromEntries(Object.entries(env).filter(([name, value]) => value !== '' || MEANINGFUL_IF_EMPTY.has(name))),
  );
  if (!result.success)
    throw new ConfigError(
      `configuration: ${result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ')}`,
    );
  const read = result.data;
  if (read.LLM_BASE_URL && !read.LLM_MODEL)
    throw new ConfigError(
      'configuration: LLM_BASE_URL is set without LLM_MODEL. Set LLM_MODEL to the name of the model.',
    );
  if (read.API_KEY && read.KEYS_SOURCE === 'kubernetes')
    throw new ConfigError(
      'configuration: API_KEY creates a key in KEYS_FILE, which KEYS_SOURCE=kubernetes does not read. Unset one of them.',
    );
  if ((read.NATS_TLS_CERT === undefined) !== (read.NATS_TLS_KEY === undefined))
    throw new ConfigError('configuration: set NATS_TLS_CERT and NATS_TLS_KEY together, or neither.');
  const cores = availableParallelism();
  return {
    host: read.HOST,
    port: read.PORT,
    corsOrigins: read.CORS_ORIGINS,
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
    audit: read.AUDIT,
    trustProxy: read.TRUST_PROXY,
    natsUrl: read.NATS_URL,
    natsTls: readNatsTls(read),
    natsReplicas: read.NATS_REPLICAS,
    llm:
      read.LLM_BASE_URL && read.LLM_MODEL
        ? { baseUrl: read.LLM_BASE_URL.replace(/\/+$/, ''), apiKey: read.LLM_API_KEY, model: read.LLM_MODEL }
        : undefined,
    concurrency: byQueue((queue) => read[concurrencyVariable(queue)] ?? cores * QUEUES[queue].jobsPerCore),
    drainTimeoutMs: read.DRAIN_TIMEOUT_MS,
    drainLingerMs: read.DRAIN_LINGER_MS,
    tracing: readTracing(read),
  };
}

function readNatsTls(read: z.infer<typeof environmentSchema>): Config['natsTls'] {
  const files = Object.entries({ ca: read.NATS_TLS_CA, cert: read.NATS_TLS_CERT, key: read.NATS_TLS_KEY });
  const given = files.flatMap(([name, path]) => (path === undefined ? [] : [[name, resolve(path)]]));
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

/** Tracing is opt-in: it needs an endpoint or an exporter. */
function readTracing(read: z.infer<typeof environmentSchema>): TracingConfig | undefined {
  if (read.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || read.OTEL_TRACES_EXPORTER === 'none') return undefined;
  const enabledBy =
    read.OTEL_TRACES_EXPORTER ?? read.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? read.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (enabledBy === undefined) return undefined;
  return {
    sampler: read.OTEL_TRACES_SAMPLER,
    ratio: read.OTEL_TRACES_SAMPLER_ARG,
    delayMs: read.OTEL_BSP_SCHEDULE_DELAY,
    queueSize: read.OTEL_BSP_MAX_QUEUE_SIZE,
  };
}

const SYSTEM_VARIABLES = [
  'PATH',
  'HOME',
  'LANG',
  'LC_ALL',
  'TMPDIR',
  'TZ',
  'FONTCONFIG_PATH',
  'FONTCONFIG_FILE',
  'NODE_COMPILE_CACHE',
  'NODE_EXTRA_CA_CERTS',
  'XDG_CACHE_HOME',
];

/**
 * What an isolated process receives. It parses hostile input, so it receives only the credentials that its service needs.
 * @returns `env`: its environment, which its user can read in /proc; `secrets`: variables to send over its socket
 */
export function conversionEnvironment(
  queue: QueueName,
  env: NodeJS.ProcessEnv = process.env,
): { env: NodeJS.ProcessEnv; secrets: Record<string, string> } {
  const names = [...SYSTEM_VARIABLES, ...WORKER_SERVICES[QUEUES[queue].service].variables];
  const set = names.flatMap((name) => (env[name] ? [[name, env[name]] as const] : []));
  return {
    env: Object.fromEntries(set.filter(([name]) => !isSecretVariable(name))),
    secrets: Object.fromEntries(set.filter(([name]) => isSecretVariable(name))),
  };
}
