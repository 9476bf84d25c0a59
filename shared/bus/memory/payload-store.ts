// Implements PayloadStore within one process, in memory, and in private files for durable payloads that do not fit.
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import { folderError } from '#shared/contract/machine-fault.ts';
import { PayloadMissingError, type PayloadRef, type PayloadStore, type PutOptions, StoreFullError } from '../bus.ts';
import { removeStaleFolders } from '../stale-folders.ts';

interface Payload {
  chunks: Uint8Array[];
  /** Path of the file that contains the payload; undefined if the payload is in `chunks`. */
  file: string | undefined;
  size: number;
  volatile: boolean;
  storedAt: number;
}

const SWEEP_MS = 30_000;
// The name contains the host, because containers can share a temporary folder but have their own process ids.
const FOLDER_PREFIX = `parsemesh-payloads-${hostname().replace(/[^\w]/g, '_')}-`;
const ownFolders = new Set<string>();

/** A PayloadStore of this process. The first payload that does not fit into memory creates a private folder in `folder`. */
export function createMemoryPayloadStore({
  folder = tmpdir(),
  volatileBytes = TRANSPORT_LIMITS.volatilePayloadBytes,
}: {
  folder?: string;
  volatileBytes?: number;
} = {}): PayloadStore {
  removeStaleFolders(folder, FOLDER_PREFIX, ownFolders);
  return new MemoryPayloadStore(folder, volatileBytes);
}

class MemoryPayloadStore implements PayloadStore {
  readonly #parent: string;
  readonly #payloads = new Map<string, Payload>();
  readonly #sweep: NodeJS.Timeout;
  readonly #maxVolatileBytes: number;
  /** Bytes of all volatile payloads, including those that are still being stored. */
  #volatileBytes = 0;
  /** Bytes of the durable payloads that are in memory, including those that are still being stored. */
  #durableBytes = 0;
  #folder: Promise<string> | undefined;

  constructor(parent: string, volatileBytes: number) {
    this.#parent = parent;
    this.#maxVolatileBytes = volatileBytes;
    this.#sweep = setInterval(() => void this.#removeOld(), SWEEP_MS);
    this.#sweep.unref();
  }

  async put(source: AsyncIterable<Uint8Array>, options: PutOptions): Promise<PayloadRef> {
    const id = randomUUID();
    const payload: Payload = {
      chunks: [],
      file: undefined,
      size: 0,
      volatile: options.volatile,
      storedAt: Date.now(),
    };
    let handle: FileHandle | undefined;
    try {
      for await (const chunk of source) {
        if (!handle && !this.#reserve(chunk.byteLength, options)) {
          if (options.volatile) throw new StoreFullError('the payload store is full');
          const path = join(await onDisk(this.#ownFolder()), id);
          handle = await onDisk(open(path, 'wx', 0o600));
          payload.file = path;
          this.#durableBytes -= payload.size;
          for (const earlier of payload.chunks) await onDisk(handle.writeFile(earlier));
          payload.chunks = [];
        }
        payload.size += chunk.byteLength;
        if (handle) await onDisk(handle.writeFile(chunk));
        else payload.chunks.push(chunk);
      }
    } catch (error) {
      await handle?.close().catch(() => undefined);
      await this.#free(payload).catch(() => undefined);
      throw error;
    }
    // Some disks report that they are full only when the file is closed.
    if (handle)
      await onDisk(handle.close()).catch(async (error: unknown) => {
        await this.#free(payload).catch(() => undefined);
        throw error;
      });
    this.#payloads.set(id, payload);
    return { id, size: payload.size, volatile: options.volatile };
  }

  async get(ref: PayloadRef): Promise<AsyncIterable<Uint8Array>> {
    const payload = this.#payloads.get(ref.id);
    if (!payload)
      throw new PayloadMissingError('the payload does not exist: it was deleted or reached its maximum age');
    return payload.file === undefined ? iterate(payload.chunks) : readFile(payload.file);
  }

  async delete(ref: PayloadRef): Promise<void> {
    const payload = this.#payloads.get(ref.id);
    this.#payloads.delete(ref.id);
    if (payload) await this.#free(payload);
  }

  /** Reserves memory for `bytes`. Returns false if they do not fit. */
  #reserve(bytes: number, { volatile }: PutOptions): boolean {
    if (volatile) {
      if (this.#volatileBytes + bytes > this.#maxVolatileBytes) return false;
      this.#volatileBytes += bytes;
    } else {
      if (this.#durableBytes + bytes > TRANSPORT_LIMITS.memoryPayloadBytes) return false;
      this.#durableBytes += bytes;
    }
    return true;
  }

  /** Releases the memory or the file of a payload. */
  async #free({ volatile, file, size }: Payload): Promise<void> {
    if (volatile) this.#volatileBytes -= size;
    else if (file === undefined) this.#durableBytes -= size;
    else await rm(file, { force: true });
  }

  async close(): Promise<void> {
    clearInterval(this.#sweep);
    this.#payloads.clear();
    const folder = await this.#folder?.catch(() => undefined);
    this.#folder = undefined;
    if (!folder) return;
    await rm(folder, { recursive: true, force: true });
    ownFolders.delete(folder);
  }

  #ownFolder(): Promise<string> {
    this.#folder ??= mkdtemp(join(this.#parent, `${FOLDER_PREFIX}${process.pid}-`)).then((folder) => {
      ownFolders.add(folder);
      return folder;
    });
    // The next payload tries again, because the disk may have space then.
    this.#folder.catch(() => {
      this.#folder = undefined;
    });
    return this.#folder;
  }

  async #removeOld(): Promise<void> {
    const oldest = Date.now() - TRANSPORT_LIMITS.payloadTtlMs;
    for (const [id, payload] of this.#payloads)
      if (payload.storedAt < oldest) await this.delete({ id, size: payload.size, volatile: false });
  }
}

/** @throws StoreFullError with the error of the disk as its cause */
async function onDisk<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw new StoreFullError('the payload cannot be written', {
      cause: folderError('no payload file can be written', error),
    });
  }
}

async function* iterate(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

async function* readFile(path: string): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: TRANSPORT_LIMITS.objectChunkBytes }))
      yield chunk as Uint8Array;
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT')
      throw new PayloadMissingError('the payload was deleted before the read', { cause });
    throw cause;
  }
}
