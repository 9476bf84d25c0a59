// The wire between a service and its isolated process: length-prefixed frames of a JSON header and raw bytes over one socket, so that a large document is neither encoded nor copied as a message.

import type { Duplex } from 'node:stream';
import type { ErrorRecord } from '../../contract/errors.ts';
import type { Job, QueueName } from '../../contract/jobs.ts';
import type { LoggedCause } from '../cause.ts';
import { countStreamed } from '../streaming.ts';

/** To the isolated process. */
export type Order =
  | { type: 'job'; job: Job; deadline: number; volatile: boolean }
  | { type: 'cancel' }
  | { type: 'started'; call: number }
  | { type: 'answer'; call: number; ok: true; reply: unknown }
  | { type: 'answer'; call: number; ok: false; error: ErrorRecord }
  | { type: 'exit' };

/** From the isolated process. */
export type Report =
  | { type: 'ready' }
  | { type: 'call'; call: number; queue: QueueName; job: Job }
  | { type: 'result'; ok: true; reply: unknown }
  | { type: 'result'; ok: false; error: ErrorRecord; unexpected?: LoggedCause };

export interface Frame<Header> {
  header: Header;
  size: number;
  /** Must be read to its end before the next frame comes. */
  body: AsyncIterable<Uint8Array>;
}

/** The other end of the socket closed. */
export class PeerGoneError extends Error {
  override readonly name = 'PeerGoneError';
}

const PREFIX_BYTES = 8;

async function write(socket: Duplex, bytes: Uint8Array): Promise<void> {
  if (socket.destroyed) throw new PeerGoneError('the isolated process is gone');
  if (socket.write(bytes)) return;
  await new Promise<void>((resolve, reject) => {
    const done = (): void => {
      socket.off('drain', done);
      socket.off('close', gone);
      resolve();
    };
    const gone = (): void => {
      socket.off('drain', done);
      reject(new PeerGoneError('the isolated process is gone'));
    };
    socket.once('drain', done);
    socket.once('close', gone);
  });
}

/** Writes frames one after the other, however many callers there are. */
export class FrameWriter<Header> {
  readonly #socket: Duplex;
  #last: Promise<void> = Promise.resolve();

  constructor(socket: Duplex) {
    this.#socket = socket;
  }

  /** @param size bytes of `body`, which must give exactly that many. @throws Error where the other side is gone. */
  send(header: Header, body: AsyncIterable<Uint8Array> | Uint8Array = new Uint8Array(0), size?: number): Promise<void> {
    const turn = this.#last.then(() => this.#write(header, body, size));
    this.#last = turn.catch(() => undefined);
    return turn;
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
      countStreamed(chunk.byteLength);
      await write(this.#socket, chunk);
    }
    if (sent !== length) {
      this.#socket.destroy();
      throw new Error(`a payload of ${length} bytes gave ${sent}`);
    }
  }
}

/** Reads frames until the socket ends. */
export async function* readFrames<Header>(socket: Duplex): AsyncGenerator<Frame<Header>> {
  const chunks = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let held: Buffer = Buffer.alloc(0);
  const more = async (): Promise<boolean> => {
    const next = await chunks.next();
    if (next.done) return false;
    held = held.byteLength === 0 ? next.value : Buffer.concat([held, next.value]);
    return true;
  };
  const exactly = async (count: number): Promise<Buffer | undefined> => {
    while (held.byteLength < count) if (!(await more())) return undefined;
    const taken = held.subarray(0, count);
    held = held.subarray(count);
    return taken;
  };
  for (;;) {
    const prefix = await exactly(PREFIX_BYTES);
    if (!prefix) return;
    const size = prefix.readUInt32BE(4);
    const text = await exactly(prefix.readUInt32BE(0));
    if (!text) return;
    let left = size;
    const body = (async function* (): AsyncGenerator<Uint8Array> {
      while (left > 0) {
        if (held.byteLength === 0 && !(await more())) throw new PeerGoneError('the other side ended inside a frame');
        const part = held.subarray(0, Math.min(left, held.byteLength));
        held = held.subarray(part.byteLength);
        left -= part.byteLength;
        countStreamed(part.byteLength);
        yield part;
      }
    })();
    yield { header: JSON.parse(text.toString()) as Header, size, body };
    for await (const _rest of body);
  }
}

/** A frame's body whole. */
export async function collectBody(frame: Frame<unknown>): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafe(frame.size);
  let at = 0;
  for await (const chunk of frame.body) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}
