// Takes a multipart upload in: the file streams to the payload store while it is checked, and nothing of a refused one stays behind.
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import busboy from 'busboy';
import type { PayloadStore } from '#shared/bus/bus.ts';
import { ParseError } from '#shared/contract/errors.ts';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import { type ParseOptions, readParseOptions } from '#shared/contract/options.ts';
import { type DetectedFormat, detectFormat } from '#shared/readers/detect.ts';
import { deletePayload, type JobPayload, storePayload } from '#shared/runtime/payload.ts';
import { cleanFileName } from './file-name.ts';
import { decodeOptions } from './options.ts';
import { HEADER_BLOCK_BYTES, partCharset } from './part-charset.ts';
import { type PumpLimits, pumpBody, tooLarge } from './pump.ts';

/** How much of a file `detectFormat` looks at. */
const HEAD_BYTES = 8192;

export interface Upload {
  /** Base name, safe to show; `document.<ext>` where the client sent none. */
  fileName: string;
  format: DetectedFormat;
  /** What the part's content type named, lower case. */
  charset: string | undefined;
  /** Whoever receives the upload releases it. */
  payload: JobPayload;
  bytes: number;
  options: ParseOptions;
}

export interface UploadRules {
  payloads: PayloadStore;
  /** Whether a file that comes before its options is kept off every disk. */
  volatileUntilKnown: boolean;
  /** Called once the head of the request is found good, before its body is read. */
  invite(): void;
  /** Sees the options as soon as they are known and throws to refuse the request. */
  accept(options: ParseOptions): void;
  /** Rejects where the request is to be refused while its body still comes. */
  refusal?: Promise<never>;
  /** For tests; REQUEST_LIMITS otherwise. */
  limits?: Partial<PumpLimits>;
}

interface StoredFile {
  fileName: string;
  format: DetectedFormat;
  payload: JobPayload;
  bytes: number;
}

interface FilePart {
  stream: Readable;
  fileName: string;
  contentType: string;
}

function invalidBody(reason: string, cause?: unknown): ParseError {
  return new ParseError(
    'BAD_REQUEST',
    `Bad Request: the multipart form-data request is invalid: ${reason}`,
    cause === undefined ? {} : { cause },
  );
}

const missingFile = (hint: string): ParseError =>
  new ParseError(
    'BAD_REQUEST',
    `Missing file upload: ${hint}; send the document as multipart form-data in a part named \`file\` with a file name`,
  );

/** The boundary a Content-Type names. @throws ParseError BAD_REQUEST for anything but multipart form-data */
function readBoundary(request: IncomingMessage): string {
  const contentType = request.headers['content-type'] ?? '';
  if (!/^multipart\/form-data[ \t]*(;|$)/i.test(contentType))
    throw invalidBody('the Content-Type must be multipart/form-data with a boundary');
  const match = /;[ \t]*boundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))[ \t]*(?:;|$)/i.exec(contentType);
  const boundary = match?.[1] ?? match?.[2];
  if (boundary === undefined) throw invalidBody('its Content-Type names no boundary');
  return boundary;
}

function openParser(request: IncomingMessage): { parser: busboy.Busboy; boundary: string } {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw invalidBody('compressed bodies (Content-Encoding) are not supported');
  const boundary = readBoundary(request);
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > REQUEST_LIMITS.fileBytes + REQUEST_LIMITS.uploadOverheadBytes)
    throw tooLarge(REQUEST_LIMITS.fileBytes);
  try {
    const parser = busboy({
      headers: { 'content-type': `multipart/form-data; boundary="${boundary.replaceAll(/["\\]/g, '\\$&')}"` },
      defParamCharset: 'utf8',
      // A field whose part names no charset comes as base64, its bytes untouched, so that bad UTF-8 is seen.
      defCharset: 'base64',
      limits: {
        fieldSize: REQUEST_LIMITS.optionsBytes + 1,
        fileSize: REQUEST_LIMITS.fileBytes + 1,
        parts: REQUEST_LIMITS.parts + 1,
        headerPairs: REQUEST_LIMITS.partHeaderPairs,
      },
    });
    return { parser, boundary };
  } catch (error) {
    throw invalidBody('its Content-Type cannot be read', error);
  }
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** The bytes of a field: base64 where the part named no charset, else text that busboy decoded by that charset. */
function fieldBytes(value: string | undefined): Uint8Array {
  if (value !== undefined && BASE64.test(value)) return Buffer.from(value, 'base64');
  // U+FFFD stands where the named charset did not fit.
  if (value === undefined || value.includes('\ufffd'))
    throw new ParseError(
      'BAD_REQUEST',
      'Bad Request: the `options` part is not valid text in the charset it names; send UTF-8',
    );
  return Buffer.from(value, 'utf8');
}

async function collectOptions(stream: Readable): Promise<ParseOptions> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    chunks.push(chunk);
    if (size > REQUEST_LIMITS.optionsBytes) break;
  }
  return decodeOptions(Buffer.concat(chunks));
}

/** Stores a file as it comes; its format is known, or refused, from the first bytes on. */
async function storeFile(part: FilePart, payloads: PayloadStore, volatile: boolean): Promise<StoredFile> {
  const { fileName, contentType } = part;
  let format: DetectedFormat | undefined;
  let bytes = 0;
  const inspected = async function* (): AsyncGenerator<Uint8Array> {
    let head: Buffer = Buffer.alloc(0);
    for await (const chunk of part.stream as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (format) {
        yield chunk;
        continue;
      }
      head = Buffer.concat([head, chunk]);
      if (head.length < HEAD_BYTES) continue;
      format = detectFormat({ head: head.subarray(0, HEAD_BYTES), fileName, contentType });
      yield head;
    }
    if (format) return;
    if (bytes === 0) throw new ParseError('BAD_REQUEST', 'Bad Request: the uploaded file is empty');
    format = detectFormat({ head, fileName, contentType });
    yield head;
  };
  const payload = await storePayload(payloads, inspected(), { volatile });
  if (!format) throw new ParseError('BAD_REQUEST', 'Bad Request: the uploaded file is empty');
  return { fileName: fileName === '' ? `document${format.extension}` : fileName, format, payload, bytes };
}

/**
 * Reads the whole body: parts in any order, the file streamed to the store.
 * @throws ParseError 400, 403 (by `accept`), 408 for a stalled upload, 413; CancelledError where the client went away.
 * Nothing is left in the store then.
 */
export async function receiveUpload(request: IncomingMessage, rules: UploadRules): Promise<Upload> {
  const { parser, boundary } = openParser(request);
  rules.invite();
  const stop = new AbortController();
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => undefined);
  const fail = (error: unknown): void => {
    failure.reject(error);
    stop.abort();
    // busboy touches its file stream after the event in which this may run, so it is destroyed a moment later.
    setImmediate(() => parser.destroy());
  };

  rules.refusal?.catch(fail);

  let options: Promise<ParseOptions> | undefined;
  let file: Promise<StoredFile> | undefined;
  let charset: string | undefined;
  let recent: Buffer = Buffer.alloc(0);

  const takeOptions = (read: () => ParseOptions | Promise<ParseOptions>): void => {
    if (options) {
      fail(new ParseError('BAD_REQUEST', 'Bad Request: there is more than one `options` part'));
      return;
    }
    options = (async () => {
      const known = await read();
      rules.accept(known);
      return known;
    })();
    options.catch(fail);
  };
  const takeFile = (part: FilePart): void => {
    charset = partCharset(recent, boundary, 'file');
    const earlier = options;
    file = (async () => {
      const volatile = earlier ? (await earlier).zeroDataRetention : rules.volatileUntilKnown;
      return storeFile(part, rules.payloads, volatile);
    })();
    file.catch(fail);
  };

  parser.on(
    'file',
    (name: string | undefined, stream, info: { filename?: string; encoding: string; mimeType: string }) => {
      stream.on('error', () => undefined);
      if (name === 'options') {
        takeOptions(() => collectOptions(stream));
        return;
      }
      if (name !== 'file') {
        stream.resume();
        if (Buffer.byteLength(name ?? '') > REQUEST_LIMITS.partNameBytes)
          fail(invalidBody('a part has too long a name'));
        return;
      }
      try {
        if (file)
          throw new ParseError(
            'BAD_REQUEST',
            'Bad Request: there is more than one `file` part; send one file a request',
          );
        if (info.filename === undefined) throw missingFile('the part `file` has no file name');
        if (/^(base64|quoted-printable)$/.test(info.encoding))
          throw invalidBody(
            `the part \`file\` has the Content-Transfer-Encoding ${info.encoding}; send its bytes as they are`,
          );
        const fileName = cleanFileName(info.filename);
        stream.once('limit', () => fail(tooLarge(REQUEST_LIMITS.fileBytes)));
        takeFile({ stream, fileName, contentType: info.mimeType });
      } catch (error) {
        fail(error);
      }
    },
  );
  parser.on('field', (name: string | undefined, value: string | undefined) => {
    if (name === 'file') fail(missingFile('the part `file` has no file name'));
    else if (name === 'options') takeOptions(() => decodeOptions(fieldBytes(value)));
    else if (Buffer.byteLength(name ?? '') > REQUEST_LIMITS.partNameBytes)
      fail(invalidBody('a part has too long a name'));
  });
  parser.on('partsLimit', () => fail(invalidBody(`it has more than ${REQUEST_LIMITS.parts} parts`)));
  parser.on('error', (error) => fail(invalidBody('it ends too early or a part of it is malformed', error)));
  const parsed = new Promise<void>((resolve) => parser.once('close', resolve));

  const work = async (): Promise<Upload> => {
    await pumpBody(request, parser, {
      limits: {
        maxBytes: REQUEST_LIMITS.fileBytes + REQUEST_LIMITS.uploadOverheadBytes,
        stallMs: REQUEST_LIMITS.uploadStallMs,
        maxMs: REQUEST_LIMITS.uploadMaxMs,
        ...rules.limits,
      },
      fileBytes: REQUEST_LIMITS.fileBytes,
      stop: stop.signal,
      onChunk: (chunk) => {
        if (!file) recent = Buffer.concat([recent.subarray(-HEADER_BLOCK_BYTES), chunk]);
      },
    });
    await parsed;
    if (!file) throw missingFile('the request has no part named `file`');
    if (!options) takeOptions(() => readParseOptions({}));
    const [stored, known] = await Promise.all([file, options]);
    if (!known) throw new Error('options were not read');
    return { ...stored, charset, options: known };
  };
  try {
    return await Promise.race([work(), failure.promise]);
  } catch (error) {
    fail(error);
    void file?.then(
      (stored) => deletePayload(rules.payloads, stored.payload),
      () => undefined,
    );
    throw error;
  }
}
