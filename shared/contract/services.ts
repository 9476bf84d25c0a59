// The table of services: types, configuration variables, metric labels, memory limits and the lists in deployment files are derived from it.

interface ServiceRow {
  /** What the service does, for the documentation. */
  description: string;
  /** Whether it converts files, so that formats.ts may assign formats to it. */
  converts: boolean;
  /** MiB of resident memory that one isolated process, with its child processes, may use. It is killed when it uses more. */
  memoryMiB: number;
  /** Jobs that a worker runs at once for each CPU core, unless its `..._CONCURRENCY` variable is set. */
  jobsPerCore: number;
  /** Environment variables that its isolated processes receive, in addition to those of the system. */
  variables: readonly string[];
}

/** Services that answer jobs. The key names the folder under services/, the queue, the image and the pods. */
export const WORKER_SERVICES = {
  pdf: {
    description: 'Converts PDF files.',
    converts: true,
    memoryMiB: 2048,
    jobsPerCore: 1,
    variables: ['OCR_LANGUAGES'],
  },
  ocr: {
    description: 'Recognizes the text of page images.',
    converts: false,
    memoryMiB: 1536,
    jobsPerCore: 1,
    variables: ['OCR_ENGINE', 'OCR_LANGUAGES', 'TESSDATA_PREFIX'],
  },
  office: {
    description: 'Converts office documents.',
    converts: true,
    memoryMiB: 3072,
    jobsPerCore: 1,
    variables: ['LIBREOFFICE_FOLDER'],
  },
  html: {
    description: 'Converts HTML, EPUB, Markdown, plain text and mail files.',
    converts: true,
    memoryMiB: 2048,
    jobsPerCore: 1,
    variables: [],
  },
  csv: {
    description: 'Converts CSV and TSV files.',
    converts: true,
    memoryMiB: 2048,
    jobsPerCore: 1,
    variables: [],
  },
  pii: {
    description: 'Redacts personal data in converted documents.',
    converts: false,
    memoryMiB: 2048,
    jobsPerCore: 1,
    variables: ['PII_MODEL_URL'],
  },
  enrich: {
    description: 'Adds summaries and JSON to converted documents.',
    converts: false,
    memoryMiB: 1024,
    // It mostly waits for the language model.
    jobsPerCore: 4,
    variables: ['LLM_BASE_URL', 'LLM_API_KEY', 'LLM_MODEL'],
  },
} as const satisfies Record<string, ServiceRow>;

type WorkerServices = typeof WORKER_SERVICES;

/** Each worker service answers the queue of its own name. */
export type QueueName = keyof WorkerServices;
export type ConverterName = {
  [Name in QueueName]: WorkerServices[Name]['converts'] extends true ? Name : never;
}[QueueName];
export type ServiceName = 'gateway' | QueueName;

export const QUEUE_NAMES = Object.keys(WORKER_SERVICES) as QueueName[];
export const SERVICE_NAMES: readonly ServiceName[] = ['gateway', ...QUEUE_NAMES];

export const isQueueName = (name: string): name is QueueName => Object.hasOwn(WORKER_SERVICES, name);

/** An object with one entry for each queue. */
export const byQueue = <T>(value: (queue: QueueName) => T): Record<QueueName, T> =>
  Object.fromEntries(QUEUE_NAMES.map((queue) => [queue, value(queue)])) as Record<QueueName, T>;
