// Receives one multipart upload: reads the options and streams the file into the payload store.
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type busboy from 'busboy';
import type { PayloadStore } from '#shared/bus/bus.ts';
import { ParseError } from '#shared/contract/errors.ts';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import { type ParseOptions, readParseOptions } from '#shared/contract/options.ts';
import { deletePayload } from '#shared/runtime/payload.ts';
import { findCharsetParameter, MAX_PART_HEADER_BYTES } from './charset-parameter.ts';
import { cleanFileName } from './file-name.ts';
import { type FilePart, type StoredFile, storeFilePart } from './file-part.ts';
import {
  createMultipartParser,
  curlExample,
  invalidMultipart,
  type MultipartParser,
  missingFile,
} from './multipart.ts';
import { readOptionsField, readOptionsStream } from './options.ts';
import { fileTooLarge, streamRequestBody, type UploadLimits } from './request-body.ts';
import { unknownField, unknownFilePart } from './unknown-part.ts';

/** A received upload. The caller must delete the payload. */
export interface Upload extends StoredFile {
  /** Charset parameter of the file part, in lower case. */
  charset: string | undefined;
  options: ParseOptions;
}

export interface UploadRules {
  payloads: PayloadStore;
  /** Do not write the file to any disk if it arrives before the options. */
  volatileBeforeOptions: boolean;
  /** Called after the request headers are checked and before the body is read. */
  onHeadersAccepted(): void;
  /** Called as soon as the options are known. Throws to reject the request. */
  checkOptions(options: ParseOptions): void;
  /** If it aborts while the body is still arriving, the request is rejected with the abort reason. */
  rejection: AbortSignal;
  /** For tests. The default is REQUEST_LIMITS. */
  limits?: Partial<UploadLimits>;
}

/**
 * Reads the entire body. The parts may come in any order.
 * @throws ParseError 400; 408 for a stalled upload; 413; any error of `checkOptions`; the abort reason of `rejection`; CancelledError if the client
 * disconnects. Nothing of a rejected upload stays in the store.
 */
export async function receiveUpload(request: IncomingMessage, rules: UploadRules): Promise<Upload> {
  const multipart = createMultipartParser(request);
  rules.onHeadersAccepted();
  return new UploadReceiver(multipart, rules).receive(request);
}

const SEND_FILE = `Send the document in a part named \`file\` with a file name, for example with ${curlExample()}`;

type FileInfo = Pick<busboy.FileInfo, 'encoding' | 'mimeType'> & { filename?: string };

class UploadReceiver {
  readonly #rules: UploadRules;
  readonly #parser: busboy.Busboy;
  readonly #boundary: string;
  readonly #parsed: Promise<void>;
  readonly #failed = Promise.withResolvers<never>();
  readonly #stop = new AbortController();
  #options: Promise<ParseOptions> | undefined;
  #file: Promise<StoredFile> | undefined;
  #charset: string | undefined;
  /** The latest bytes of the body. They contain the headers of a part, which busboy has already consumed when it reports the part. */
  #recentBytes: Buffer = Buffer.alloc(0);

  constructor({ parser, boundary }: MultipartParser, rules: UploadRules) {
    this.#rules = rules;
    this.#parser = parser;
    this.#boundary = boundary;
    this.#failed.promise.catch(() => undefined);
    this.#parsed = new Promise((resolve) => parser.once('close', resolve));
    parser.on('file', (name: string | undefined, stream, info: FileInfo) => this.#onFile(name, stream, info));
    parser.on('field', (name: string | undefined, value: string | undefined) => this.#onField(name, value));
    parser.on('error', (error) =>
      this.#fail(invalidMultipart('it ends too early, or a part of it is malformed', error)),
    );
  }

  async receive(request: IncomingMessage): Promise<Upload> {
    const { rejection } = this.#rules;
    const onRejection = (): void => this.#fail(rejection.reason);
    if (rejection.aborted) onRejection();
    rejection.addEventListener('abort', onRejection, { once: true });
    try {
      return await Promise.race([this.#readBody(request), this.#failed.promise]);
    } catch (error) {
      this.#fail(error);
      this.#deleteFile();
      throw error;
    } finally {
      rejection.removeEventListener('abort', onRejection);
    }
  }

  async #readBody(request: IncomingMessage): Promise<Upload> {
    await streamRequestBody(request, this.#parser, {
      limits: {
        maxBytes: REQUEST_LIMITS.fileBytes + REQUEST_LIMITS.uploadOverheadBytes,
        stallMs: REQUEST_LIMITS.uploadStallMs,
        maxMs: REQUEST_LIMITS.uploadMaxMs,
        ...this.#rules.limits,
      },
      maxFileBytes: REQUEST_LIMITS.fileBytes,
      stop: this.#stop.signal,
      onChunk: (chunk) => {
        if (!this.#file) this.#recentBytes = Buffer.concat([this.#recentBytes.subarray(-MAX_PART_HEADER_BYTES), chunk]);
      },
    });
    await this.#parsed;
    if (!this.#file) throw missingFile(`the request has no part named \`file\`. ${SEND_FILE}`);
    const options = this.#options ?? this.#readOptions(() => readParseOptions({}));
    const [file, known] = await Promise.all([this.#file, options]);
    return { ...file, charset: this.#charset, options: known };
  }

  /** busboy reports parts with a file name as files. */
  #onFile(name: string | undefined, stream: Readable, info: FileInfo): void {
    stream.on('error', () => undefined);
    if (name === 'options') this.#onOptions(() => readOptionsStream(stream));
    else if (name === 'file') this.#onUploadedFile(stream, info);
    else {
      stream.resume();
      this.#checkPartName(name);
      this.#fail(unknownFilePart(name ?? '', this.#file !== undefined));
    }
  }

  /** busboy reports parts without a file name as fields. */
  #onField(name: string | undefined, value: string | undefined): void {
    if (name === 'file') this.#fail(missingFile(`the part \`file\` has no file name. ${SEND_FILE}`));
    else if (name === 'options') this.#onOptions(() => readOptionsField(value));
    else {
      this.#checkPartName(name);
      this.#fail(unknownField(name ?? '', value ?? ''));
    }
  }

  #checkPartName(name = ''): void {
    if (Buffer.byteLength(name) > REQUEST_LIMITS.partNameBytes)
      this.#fail(invalidMultipart(`a part name is longer than ${REQUEST_LIMITS.partNameBytes} bytes`));
  }

  #onOptions(read: () => ParseOptions | Promise<ParseOptions>): void {
    if (this.#options)
      this.#fail(
        new ParseError('BAD_REQUEST', 'Bad Request: there is more than one `options` part; send one JSON object'),
      );
    else this.#readOptions(read);
  }

  #readOptions(read: () => ParseOptions | Promise<ParseOptions>): Promise<ParseOptions> {
    const options = (async () => {
      const known = await read();
      this.#rules.checkOptions(known);
      return known;
    })();
    options.catch((error: unknown) => this.#fail(error));
    this.#options = options;
    return options;
  }

  #onUploadedFile(stream: Readable, info: FileInfo): void {
    try {
      if (this.#file)
        throw new ParseError(
          'BAD_REQUEST',
          'Bad Request: there is more than one `file` part; send one file per request',
        );
      if (info.filename === undefined) throw missingFile(`the part \`file\` has no file name. ${SEND_FILE}`);
      if (/^(base64|quoted-printable)$/.test(info.encoding))
        throw invalidMultipart(
          `the part \`file\` has the Content-Transfer-Encoding ${info.encoding}, which is not supported; send the bytes of the file unencoded`,
        );
      const fileName = cleanFileName(info.filename);
      stream.once('limit', () => this.#fail(fileTooLarge(REQUEST_LIMITS.fileBytes)));
      this.#storeFile({ stream, fileName, contentType: info.mimeType });
    } catch (error) {
      this.#fail(error);
    }
  }

  #storeFile(part: FilePart): void {
    this.#charset = findCharsetParameter(this.#recentBytes, this.#boundary, 'file');
    const { payloads, volatileBeforeOptions } = this.#rules;
    const options = this.#options;
    this.#file = (async () => {
      const volatile = options ? (await options).zeroDataRetention : volatileBeforeOptions;
      return storeFilePart(part, payloads, { volatile, signal: this.#stop.signal });
    })();
    this.#file.catch((error: unknown) => this.#fail(error));
  }

  #fail(error: unknown): void {
    this.#failed.reject(error);
    this.#stop.abort();
    // busboy still uses its file stream after the event handler returns, so destroy the parser in a later turn of the event loop.
    setImmediate(() => this.#parser.destroy());
  }

  #deleteFile(): void {
    void this.#file?.then(
      (file) => deletePayload(this.#rules.payloads, file.payload),
      () => undefined,
    );
  }
}
