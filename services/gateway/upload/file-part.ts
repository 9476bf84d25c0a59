// Streams the file part into the payload store and detects its format from the first bytes.
import type { Readable } from 'node:stream';
import type { PayloadStore } from '#shared/bus/bus.ts';
import { ParseError } from '#shared/contract/errors.ts';
import { type DetectedFormat, detectFormat } from '#shared/readers/detect.ts';
import { type JobPayload, storePayload } from '#shared/runtime/payload.ts';

/** Bytes of a file that `detectFormat` inspects. */
const DETECTION_BYTES = 8192;

export interface FilePart {
  stream: Readable;
  /** Cleaned file name; may be empty. */
  fileName: string;
  /** MIME type of the part. */
  contentType: string;
}

export interface StoredFile {
  /** `document.<ext>` if the client sent no file name. */
  fileName: string;
  format: DetectedFormat;
  payload: JobPayload;
  bytes: number;
}

const emptyFile = (): ParseError =>
  new ParseError('BAD_REQUEST', 'Bad Request: the uploaded file is empty; send a file with content');

/**
 * Stores the file while it arrives.
 * @param options `volatile`: do not write the file to any disk (zero data retention). While the store is unavailable, it waits until `signal` aborts.
 * @throws ParseError BAD_REQUEST for an empty file, UNSUPPORTED_FILE_TYPE as soon as the format is known; the errors of the store
 */
export async function storeFilePart(
  part: FilePart,
  payloads: PayloadStore,
  options: { volatile: boolean; signal: AbortSignal },
): Promise<StoredFile> {
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
      if (head.length < DETECTION_BYTES) continue;
      format = detectFormat({ head: head.subarray(0, DETECTION_BYTES), fileName, contentType });
      yield head;
    }
    if (format) return;
    if (bytes === 0) throw emptyFile();
    format = detectFormat({ head, fileName, contentType });
    yield head;
  };
  const payload = await storePayload(payloads, inspected(), {
    ...options,
    // The store calls this when the first bytes arrive, and `inspected` yields them after it knows the format.
    reader: () => format?.service ?? 'gateway',
  });
  if (!format) throw emptyFile();
  return { fileName: fileName === '' ? `document${format.extension}` : fileName, format, payload, bytes };
}
