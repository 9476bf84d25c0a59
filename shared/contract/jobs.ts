// Declares the messages that services exchange over the bus, and the interface of the code that answers them.
import type { ErrorRecord } from './errors.ts';
import type { Container } from './formats.ts';
import type { JsonFormat, PdfOptions, RedactOptions } from './options.ts';
import type { FieldName } from './response.ts';
import type { QueueName } from './services.ts';

/** What of the options a converter and the render pipeline need. */
export interface RenderOptions {
  /** The fields to fill; more than the caller asked for where a later stage needs one (markdown for summary and json). */
  fields: FieldName[];
  includeTags: string[];
  excludeTags: string[];
  onlyMainContent: boolean;
  blockAds: boolean;
  removeBase64Images: boolean;
  pdf: PdfOptions;
}

/** One file to convert. Payload: the file's bytes. Reply: `RecordHead`, payload: JSON of `RecordFields`. */
export interface ConvertJob {
  kind: 'convert';
  requestId: string;
  /** For error messages and `metadata`; never a path. */
  fileName: string;
  /** The format that content and name agreed on, with the dot. */
  extension: string;
  container: Container;
  /** What the upload's part said, where it named a charset. */
  charset?: string;
  options: RenderOptions;
}

/** Document metadata under construction: strings, lists of strings, numbers. */
export type DocumentMetadata = Record<string, string | string[] | number | boolean | null | Record<string, number>>;

/** What travels beside the record's fields. */
export interface RecordHead {
  metadata: DocumentMetadata;
  warnings: string[];
}

/**
 * One page image to read. Payload: 8-bit grey pixels, row by row, `width * height` bytes.
 * Reply: `OcrPage`, no payload.
 */
export interface OcrJob {
  kind: 'ocr';
  requestId: string;
  pageNumber: number;
  width: number;
  height: number;
  dpi: number;
  /** Tesseract language names; empty for the server's default. */
  languages: string[];
  /** Degrees clockwise to turn the image by before it is read; found out where it is not given. */
  rotation?: 0 | 90 | 180 | 270;
}

/** Pixels of the image as it was sent, origin at the top left. */
export type PixelBox = [x0: number, y0: number, x1: number, y1: number];

export interface OcrWord {
  text: string;
  box: PixelBox;
  /** 0 to 1. */
  confidence: number;
}

export interface OcrLine {
  box: PixelBox;
  /** Baseline-to-ascender height in pixels, the best measure of the type size. */
  height: number;
  /** Lines of one block of the page (a column, a table's cell) have one number; blocks come in reading order. */
  block?: number;
  words: OcrWord[];
}

export interface OcrPage {
  /** Size of the page as it was read, after `rotation`. Boxes are in this frame. */
  width: number;
  height: number;
  /** Degrees clockwise by which the sent image was turned to be upright. */
  rotation: 0 | 90 | 180 | 270;
  /**
   * Degrees clockwise that the lines of the turned page sloped, where it was straightened before reading (about its centre, on a canvas of the
   * same size). Boxes are in the straightened frame.
   */
  skew?: number;
  /** Mean word confidence weighted by length, 0 to 1; 0 for a page without words. */
  confidence: number;
  /** In the engine's reading order. */
  lines: OcrLine[];
  /** Straight lines that are drawn on the page, each as the box around its ink, in the frame of the other boxes. */
  rulings?: PixelBox[];
}

/** Redacts every text of a record. Payload and reply payload: JSON of `RecordFields`. Reply: `RecordHead`. */
export interface RedactJob extends RecordHead {
  kind: 'redact';
  requestId: string;
  options: RedactOptions;
}

/** Adds `summary` and `json`. Payload and reply payload: JSON of `RecordFields`. Reply: `RecordHead`. */
export interface EnrichJob extends RecordHead {
  kind: 'enrich';
  requestId: string;
  summary: boolean;
  json?: JsonFormat;
  /** Fields that were made for this stage only and leave here. */
  drop: FieldName[];
}

export type Job = ConvertJob | OcrJob | RedactJob | EnrichJob;

/** A job's answer: what it says (small, JSON), and what it carries (bytes). */
export interface JobOutput<Reply = unknown> {
  reply: Reply;
  payload?: Uint8Array | string;
}

export type JobOutcome<Reply = unknown> = { ok: true; reply: Reply } | { ok: false; error: ErrorRecord };

/** What a handler may use besides its input. */
export interface JobContext {
  /** Fires when the caller left or the deadline passed; the process is killed shortly after. */
  signal: AbortSignal;
  /** Of the request that the job is part of: jobs for other services carry it on. */
  requestId: string;
  /** Epoch milliseconds. */
  deadline: number;
  /** True for zero data retention: nothing of the job may touch a disk. */
  volatile: boolean;
  /**
   * Sends a job to another service over the bus and waits.
   * @param started called each time a worker takes the job: it waits in the queue no more
   * @throws ParseError what that service answered.
   */
  call<Reply>(queue: QueueName, job: Job, payload: Uint8Array, started?: () => void): Promise<JobOutput<Reply>>;
}

/** A service's work on one job; runs in an isolated process, one job at a time. @throws ParseError for the caller; anything else is a 500. */
export type JobHandler<J extends Job = Job> = (job: J, payload: Uint8Array, context: JobContext) => Promise<JobOutput>;

/** What a service's `worker.ts` exports. */
export interface WorkerModule {
  handle: JobHandler;
  /** Gets ready before the first job (loads a model, warms an engine). */
  warm?: () => Promise<void>;
  /** Lets go of engines before the process ends. */
  close?: () => Promise<void>;
}
