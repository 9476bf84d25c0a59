// Receives an upload whose body is the file itself, and streams it into the payload store.
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { ParseError } from '#shared/contract/errors.ts';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import type { ParseOptions } from '#shared/contract/options.ts';
import { deletePayload } from '#shared/runtime/payload.ts';
import { cleanFileName } from './file-name.ts';
import { type StoredFile, storeFilePart } from './file-part.ts';
import type { Upload, UploadRules } from './receive.ts';
import { fileTooLarge, streamRequestBody } from './request-body.ts';

/** What the request headers say about the file. */
interface FileHeaders {
  /** Cleaned file name; may be empty. */
  fileName: string;
  /** MIME type without parameters, in lower case; empty if there is none. */
  contentType: string;
  /** In lower case. */
  charset: string | undefined;
}

/**
 * Reads the entire body.
 * @param fileName from the request, not cleaned; empty if there is none
 * @throws as `receiveUpload` does. Nothing of a rejected upload stays in the store.
 */
export async function receiveRawUpload(
  request: IncomingMessage,
  { fileName, options }: { fileName: string; options: ParseOptions },
  rules: UploadRules,
): Promise<Upload> {
  const headers = readFileHeaders(request, fileName);
  rules.checkOptions(options);
  rules.onHeadersAccepted();
  const file = await storeBody(request, headers, options, rules);
  return { ...file, charset: headers.charset, options };
}

function readFileHeaders({ headers }: IncomingMessage, fileName: string): FileHeaders {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw new ParseError(
      'BAD_REQUEST',
      'Bad Request: compressed request bodies are not supported; send the body without a Content-Encoding header',
    );
  const [type = '', ...parameters] = (headers['content-type'] ?? '').split(';');
  const contentType = type.trim().toLowerCase();
  if (contentType === 'multipart/form-data')
    throw new ParseError(
      'BAD_REQUEST',
      'Bad Request: the body of this request is the file itself; send multipart form-data to POST /v2/parse',
    );
  if (Number(headers['content-length'] ?? 0) > REQUEST_LIMITS.fileBytes) throw fileTooLarge(REQUEST_LIMITS.fileBytes);
  const charset = /^[ \t]*charset=[ \t]*"?([A-Za-z0-9_.:-]{1,40})"?[ \t]*$/i;
  return {
    fileName: cleanFileName(fileName),
    contentType,
    charset: parameters
      .map((parameter) => charset.exec(parameter)?.[1])
      .find((value) => value !== undefined)
      ?.toLowerCase(),
  };
}

/** Stores the body while it arrives, until it ends or the request is rejected. */
async function storeBody(
  request: IncomingMessage,
  { fileName, contentType }: FileHeaders,
  options: ParseOptions,
  { payloads, rejection, limits }: UploadRules,
): Promise<StoredFile> {
  const body = new PassThrough();
  // The store reports an error of the stream. A write after the stream was destroyed must not end the process.
  body.on('error', () => undefined);
  const stop = new AbortController();
  const rejected = Promise.withResolvers<never>();
  const onRejection = (): void => rejected.reject(rejection.reason);
  if (rejection.aborted) onRejection();
  rejection.addEventListener('abort', onRejection, { once: true });
  const file = storeFilePart({ stream: body, fileName, contentType }, payloads, {
    volatile: options.zeroDataRetention,
    signal: AbortSignal.any([stop.signal, rejection]),
  });
  const transfer = streamRequestBody(request, body, {
    limits: {
      maxBytes: REQUEST_LIMITS.fileBytes,
      stallMs: REQUEST_LIMITS.uploadStallMs,
      maxMs: REQUEST_LIMITS.uploadMaxMs,
      ...limits,
    },
    maxFileBytes: REQUEST_LIMITS.fileBytes,
    stop: stop.signal,
    onChunk: () => undefined,
  });
  try {
    const [stored] = await Promise.race([Promise.all([file, transfer]), rejected.promise]);
    return stored;
  } catch (error) {
    stop.abort();
    body.destroy();
    void file.then(
      ({ payload }) => deletePayload(payloads, payload),
      () => undefined,
    );
    throw error;
  } finally {
    rejection.removeEventListener('abort', onRejection);
  }
}
