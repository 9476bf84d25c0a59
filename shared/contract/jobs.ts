// Declares the messages that services exchange over the bus, and the interface of the code that answers them.
import type { ErrorRecord } from './errors.ts';
import type { Container } from './formats.ts';
import type { JsonFormat, PdfOptions, RedactOptions } from './options-schema.ts';
import type { JobProgress } from './progress.ts';
import type { FieldName } from './response.ts';
import type { ConverterQueue, QueueName } from './services.ts';

/** The options that a converter and the render pipeline need. */
export interface RenderOptions {
  /** The fields to fill: the requested ones, and those that a later stage needs (`markdown` for `summary` and `json`). */
  fields: FieldName[];
  includeTags: string[];
  excludeTags: string[];
  onlyMainContent: boolean;
  blockAds: boolean;
  removeBase64Images: boolean;
  /** Returns the pictures inside the document in `images`. */
  embeddedImages?: boolean;
  pdf: PdfOptions;
  /** Share (0 to 1) of the time until the deadline that the stages after the conversion need. Default: 0. */
  laterShare?: number;
}

/**
 * Converts one file. Payload: the bytes of the file. Reply: `RecordReport`, with JSON of `RecordFields` as payload. If the
 * content of the file belongs to another queue of the service, the reply is a `Redirect` without a payload.
 */
export interface ConvertJob {
  kind: 'convert';
  requestId: string;
  /** For error messages and `metadata`. Not a path. */
  fileName: string;
  /** The detected format, with the dot. */
  extension: string;
  container: Container;
  /** Charset from the content type of the uploaded part, if it names one. */
  charset?: string;
  options: RenderOptions;
}

/** Metadata of the document, before the gateway adds its own. */
export type DocumentMetadata = Record<string, string | string[] | number | boolean | null | Record<string, number>>;

/** Metadata of a record and warnings about it. It is sent in the header of a message, and the fields of the record in the payload. */
export interface RecordReport {
  metadata: DocumentMetadata;
  warnings: string[];
}

/** The content of a file needs another queue of the same service than its name, for example an Excel 97 file that is called .xlsx. */
export interface Redirect {
  queue: ConverterQueue;
}

/** Reads one page image. Payload: 8-bit gray pixels, row by row, `width * height` bytes. Reply: `OcrPage`, without a payload. */
export interface OcrJob {
  kind: 'ocr';
  requestId: string;
  pageNumber: number;
  width: number;
  height: number;
  dpi: number;
  /** Language codes as in OCR_LANGUAGES; empty for the languages of the server. */
  languages: string[];
  /** Degrees to rotate the image clockwise before it is read. Detected if not set. */
  rotation?: 0 | 90 | 180 | 270;
}

/** In pixels of the image, origin at the top left. */
export type PixelBox = [x0: number, y0: number, x1: number, y1: number];

export interface OcrWord {
  text: string;
  box: PixelBox;
  /** From 0 to 1. */
  confidence: number;
}

export interface OcrLine {
  box: PixelBox;
  /** Distance from baseline to ascender in pixels, the best measure of the font size. */
  height: number;
  /** Number of the block (a column, a table cell) that contains the line. Blocks are numbered in reading order. */
  block?: number;
  words: OcrWord[];
}

export interface OcrPage {
  /** Pixels of the page after `rotation`. Boxes are relative to the rotated page. */
  width: number;
  height: number;
  /** Degrees that the image was rotated clockwise to be upright. */
  rotation: 0 | 90 | 180 | 270;
  /**
   * Slope of the text lines before deskewing, in degrees clockwise; set only if the page was deskewed. Deskewing turns the page around its
   * center and keeps its size. Boxes are relative to the deskewed page.
   */
  skew?: number;
  /** Mean confidence of the words, weighted by their length, from 0 to 1; 0 for a page without words. */
  confidence: number;
  /** In the reading order of the engine. */
  lines: OcrLine[];
  /** Drawn straight lines of the page, each as the bounding box of its pixels. */
  rulings?: PixelBox[];
}

/** Redacts every text of a record. Payload and reply payload: JSON of `RecordFields`. Reply: `RecordReport`. */
export interface RedactJob extends RecordReport {
  kind: 'redact';
  requestId: string;
  options: RedactOptions;
}

/** Adds `summary` and `json`. Payload and reply payload: JSON of `RecordFields`. Reply: `RecordReport`. */
export interface EnrichJob extends RecordReport {
  kind: 'enrich';
  requestId: string;
  summary: boolean;
  json?: JsonFormat;
  /** Fields that only this stage needs. It removes them from the record. */
  drop: FieldName[];
}

/** Checks the JSON Schema of a request before its file is converted. Payload: JSON of the schema. Reply: null, without a payload. The error is SCHEMA_INVALID. */
export interface SchemaJob {
  kind: 'check-schema';
  requestId: string;
}

export type Job = ConvertJob | OcrJob | RedactJob | EnrichJob | SchemaJob;

/** The result of a job: a small JSON value and bytes. */
export interface JobOutput<Reply = unknown> {
  reply: Reply;
  payload?: Uint8Array | string;
}

/** What a handler returns: a large payload may be a stream, which is read once and may throw as the handler may. */
export interface HandlerOutput<Reply = unknown> {
  reply: Reply;
  payload?: Uint8Array | string | Iterable<Uint8Array>;
}

export type JobOutcome<Reply = unknown> = { ok: true; reply: Reply } | { ok: false; error: ErrorRecord };

/** The context in which a handler runs a job. */
export interface JobContext {
  /** Fires when the caller closed the connection or the deadline passed. The process is killed 150 ms later. */
  signal: AbortSignal;
  /** Id of the HTTP request. Put it into jobs for other services. */
  requestId: string;
  /** Epoch milliseconds. */
  deadline: number;
  /** True for zero data retention: no data of the job may be written to a disk. */
  volatile: boolean;
  /**
   * Runs a job on another service and waits for the result.
   * @param started called each time a worker starts the job
   * @throws ParseError the error of that service
   */
  call<Reply>(queue: QueueName, job: Job, payload: Uint8Array, started?: () => void): Promise<JobOutput<Reply>>;
  /** Reports how far the job is. It may be called often: the caller gets the latest report a few times a second. Undefined if the caller wants no reports. */
  progress?: (progress: JobProgress) => void;
}

/** Runs one job, in an isolated process that runs no other job at the same time. @throws ParseError for the caller; any other error becomes a 500 */
export type JobHandler<J extends Job = Job> = (
  job: J,
  payload: Uint8Array,
  context: JobContext,
) => Promise<HandlerOutput>;

/** The exports of a service's `worker.ts`. */
export interface WorkerModule {
  handle: JobHandler;
  /** Prepares for the first job, for example loads a model. */
  warm?: () => Promise<void>;
  /** Closes engines before the process ends. */
  close?: () => Promise<void>;
}
