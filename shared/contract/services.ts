// The tables of services and of their queues: types, configuration variables, metric labels, memory limits and the lists in deployment files are derived from them.

interface ServiceRow {
  /** What the service does, for the documentation. */
  description: string;
  /** Environment variables that its isolated processes receive, in addition to those of the system. */
  variables: readonly string[];
}

/** Services that answer jobs. The key names the folder under services/, the image and the pods. */
export const WORKER_SERVICES = {
  pdf: {
    description: 'Converts PDF files.',
    variables: ['OCR_LANGUAGES'],
  },
  ocr: {
    description: 'Recognizes the text of page images.',
    variables: ['OCR_ENGINE', 'OCR_LANGUAGES', 'TESSDATA_PREFIX'],
  },
  office: {
    description: 'Converts office documents.',
    variables: ['LIBREOFFICE_FOLDER'],
  },
  html: {
    description: 'Converts HTML, EPUB, Markdown, plain text and mail files.',
    variables: [],
  },
  csv: {
    description: 'Converts CSV and TSV files.',
    variables: [],
  },
  pii: {
    description: 'Redacts personal data in converted documents.',
    variables: ['PII_MODEL_URL'],
  },
  enrich: {
    description: 'Adds summaries and JSON to converted documents.',
    variables: ['LLM_BASE_URL', 'LLM_API_KEY', 'LLM_MODEL'],
  },
} as const satisfies Record<string, ServiceRow>;

type WorkerName = keyof typeof WORKER_SERVICES;

/**
 * A right that an isolated process does not have without it: native addons of Node, programs such as tesseract with folders for their files, worker
 * threads, sockets in /tmp, connections to the servers that a variable of the service names.
 */
export type ProcessNeed = 'addons' | 'programs' | 'threads' | 'sockets' | 'servers';

interface QueueRow {
  /** The service whose workers serve the queue. Each queue has its own slots and isolated processes. */
  service: WorkerName;
  /** What its jobs are, for the documentation. */
  description: string;
  /** Whether its jobs convert files, so that formats.ts may assign formats to it. */
  converts: boolean;
  /** MiB of resident memory that one isolated process, with its child processes, may use. It is killed when it uses more. */
  memoryMiB: number;
  /** Jobs that a worker runs at once for each CPU core, unless its `..._CONCURRENCY` variable is set. */
  jobsPerCore: number;
  /** Rights of its isolated processes. Each one helps an attacker too, so name only what the code uses. */
  needs: readonly ProcessNeed[];
}

/** The queues of jobs. A service has a queue of its own name, and another one for work that must not delay the first. */
export const QUEUES = {
  pdf: {
    service: 'pdf',
    description: 'PDF files and images',
    converts: true,
    memoryMiB: 2048,
    jobsPerCore: 1,
    // libvips reads images.
    needs: ['addons'],
  },
  ocr: {
    service: 'ocr',
    description: 'page images',
    converts: false,
    memoryMiB: 1536,
    jobsPerCore: 1,
    // tesseract is a program, or WebAssembly in a thread.
    needs: ['programs', 'threads'],
  },
  office: {
    service: 'office',
    description: 'office documents that the service reads itself',
    converts: true,
    memoryMiB: 3072,
    jobsPerCore: 1,
    needs: [],
  },
  // LibreOffice is slow, and a file may make it hang. Other office documents do not wait for it.
  libreoffice: {
    service: 'office',
    description: 'office documents that LibreOffice converts first',
    converts: true,
    memoryMiB: 3072,
    jobsPerCore: 1,
    // LibreOffice listens on a socket that it puts into /tmp.
    needs: ['programs', 'sockets'],
  },
  html: {
    service: 'html',
    description: 'HTML, EPUB, Markdown, plain text and mail files',
    converts: true,
    memoryMiB: 2048,
    jobsPerCore: 1,
    needs: [],
  },
  csv: {
    service: 'csv',
    description: 'CSV and TSV files',
    converts: true,
    memoryMiB: 2048,
    jobsPerCore: 1,
    needs: [],
  },
  pii: {
    service: 'pii',
    description: 'converted documents to redact',
    converts: false,
    memoryMiB: 2048,
    jobsPerCore: 1,
    needs: ['servers'],
  },
  enrich: {
    service: 'enrich',
    description: 'converted documents to summarize or to extract JSON from',
    converts: false,
    memoryMiB: 1024,
    // It mostly waits for the language model.
    jobsPerCore: 4,
    needs: ['servers'],
  },
} as const satisfies Record<string, QueueRow>;

type Queues = typeof QUEUES;

export type QueueName = keyof Queues;
/** A queue whose jobs convert files. */
export type ConverterQueue = {
  [Name in QueueName]: Queues[Name]['converts'] extends true ? Name : never;
}[QueueName];
export type ServiceName = 'gateway' | WorkerName;

export const QUEUE_NAMES = Object.keys(QUEUES) as QueueName[];
export const WORKER_NAMES = Object.keys(WORKER_SERVICES) as WorkerName[];
export const SERVICE_NAMES: readonly ServiceName[] = ['gateway', ...WORKER_NAMES];

export const isQueueName = (name: string): name is QueueName => Object.hasOwn(QUEUES, name);
export const isWorkerName = (name: string): name is WorkerName => Object.hasOwn(WORKER_SERVICES, name);

/** The queues that the workers of a service serve. */
export const queuesOf = (service: WorkerName): QueueName[] =>
  QUEUE_NAMES.filter((queue) => QUEUES[queue].service === service);

/** An object with one entry for each queue. */
export const byQueue = <T>(value: (queue: QueueName) => T): Record<QueueName, T> =>
  Object.fromEntries(QUEUE_NAMES.map((queue) => [queue, value(queue)])) as Record<QueueName, T>;
