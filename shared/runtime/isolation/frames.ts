// Sends the messages between a service and its isolated process as a JSON header and raw bytes, so that a large document is neither encoded nor copied.
import type { Duplex } from 'node:stream';
import type { ErrorRecord } from '../../contract/errors.ts';
import type { Job } from '../../contract/jobs.ts';
import type { JobProgress } from '../../contract/progress.ts';
import type { QueueName } from '../../contract/services.ts';
import type { LoggedCause } from '../cause.ts';
import { countStreamedBytes } from '../gc/streamed-bytes.ts';

/** From the service to its isolated process. */
export type ParentMessage =
  /** The first message. `secrets`: environment variables that are not in the environment of the process. */
  | { type: 'start'; secrets: Readonly<Record<string, string>> }
  /** `progress`: the requester wants progress reports. */
  | { type: 'job'; job: Job; deadline: number; volatile: boolean; progress: boolean }
  | { type: 'cancel' }
  | { type: 'started'; call: number }
  | { type: 'answer'; call: number; ok: true; reply: unknown }
  | { type: 'answer'; call: number; ok: false; error: ErrorRecord }
  | { type: 'exit' };

/** From the isolated process to its service. */
export type ProcessMessage =
  | { type: 'ready' }
  | { type: 'call'; call: number; queue: QueueName; job: Job }
  | { type: 'progress'; progress: JobProgress }
  /** The body is a part of a result that is a stream. The other parts and a result without a body follow. */
  | { type: 'part' }
  | { type: 'result'; ok: true; reply: unknown }
  | { type: 'result'; ok: false; error: ErrorRecord; unexpected?: LoggedCause; machineFault?: true };

export interface Frame<Header> {
  header: Header;
  size: number;
  /** Read it before the next frame: `readFrames` skips the bytes that are not read by then. */
  body: AsyncIterable<Uint8Array>;
}

/** The other end of the socket is closed. */
export class PeerClosedError extends Error {
  override readonly name = 'PeerClosedError';
}

const PREFIX_BYTES = 8;

async function write(socket: Duplex, bytes: Uint8Array): Promise<void> {
  if (socket.destroyed) throw new PeerClosedError('the other end closed the socket');
  if (socket.write(bytes)) return;
  await new Promise<void>((resolve, reject) => {
    const done = (): void => {
      socket.off('drain', done);
      socket.off('close', closed);
      resolve();
    };
    const closed = (): void => {
      socket.off('drain', done);
      reject(new PeerClosedError('the other end closed the socket'));
    };
    socket.once('drain', done);
    socket.once('close', closed);
  });
}

/** Writes frames one at a time, so that concurrent callers do not mix their bytes. */
export class FrameWriter<Header> {
  readonly #socket: Duplex;
  #last: Promise<void> = Promise.resolve();

  constructor(socket: Duplex) {
    this.#socket = socket;
  }

  /**
   * @param size bytes in `body`, if it is a stream; it must yield exactly this many
   * @throws PeerClosedError
   */
  send(header: Header, body: AsyncIterable<Uint8Array> | Uint8Array = new Uint8Array(0), size?: number): Promise<void> {
    const written = this.#last.then(() => this.#write(header, body, size));
    this.#last = written.catch(() => undefined);
    return written;
  }

  async #write(header: Header, body: AsyncIterable<Uint8Array> | Uint8Array, size?: number): Promise<void> {
    const text = Buffer.from(JSON.stringify(header));
    const prefix = Buffer.allocUnsafe(PREFIX_BYTES + text.byteLength);
    const length = body instanceof Uint8Array ? body.byteLength : (size ?? 0);
    prefix.writeUInt32BE(text.byteLength, 0);
    prefix.writeUInt32BE(length, 4);
    text.copy(prefix, PREFIX_BYTES);
    await write(this.#socket, prefix);
    if (body instanceof Uint8Array) {
      if (body.byteLength > 0) await write(this.#socket, body);
      return;
    }
    let sent = 0;
    for await (const chunk of body) {
      sent += chunk.byteLength;
      countStreamedBytes(chunk.byteLength);
      await write(this.#socket, chunk);
    }
    if (sent !== length) {
      this.#socket.destroy();
      throw new Error(`the payload should have ${length} bytes but yielded ${sent}`);
    }
  }
}

/** Reads frames until the socket ends. */
export async function* readFrames<Header>(socket: Duplex): AsyncGenerator<Frame<Header>> {
  const chunks = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let buffered: Buffer = Buffer.alloc(0);
  const readMore = async (): Promise<boolean> => {
    const next = await chunks.next();
    if (next.done) return false;
    buffered = buffered.byteLength === 0 ? next.value : Buffer.concat([buffered, next.value]);
    return true;
  };
  const readExactly = async (count: number): Promise<Buffer | undefined> => {
    while (buffered.byteLength < count) if (!(await readMore())) return undefined;
    const bytes = buffered.subarray(0, count);
    buffered = buffered.subarray(count);
    return bytes;
  };
  for (;;) {
    const prefix = await readExactly(PREFIX_BYTES);
    if (!prefix) return;
    const size = prefix.readUInt32BE(4);
    const text = await readExactly(prefix.readUInt32BE(0));
    if (!text) return;
    let left = size;
    const body = (async function* (): AsyncGenerator<Uint8Array> {
      while (left > 0) {
        if (buffered.byteLength === 0 && !(await readMore()))
          throw new PeerClosedError('the socket closed in the middle of a frame');
        const part = buffered.subarray(0, Math.min(left, buffered.byteLength));
        buffered = buffered.subarray(part.byteLength);
        left -= part.byteLength;
        countStreamedBytes(part.byteLength);
        yield part;
      }
    })();
    yield { header: JSON.parse(text.toString()) as Header, size, body };
    // Skip the bytes that the caller did not read.
    for await (const _rest of body);
  }
}

/** Reads the complete body of a frame into memory. */
export async function readBody(frame: Frame<unknown>): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafe(frame.size);
  let offset = 0;
  for await (const chunk of frame.body) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return bytes;
}
