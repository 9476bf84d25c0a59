// Payloads of a deployment that is one process: what fits and volatile ones in memory, the rest in private files that never outlive their process for long.
import { randomUUID } from 'node:crypto';
import { createReadStream, readdirSync, rmSync } from 'node:fs';
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import { PayloadMissingError, type PayloadRef, type PayloadStore, type PutOptions, StoreFullError } from '../bus.ts';

interface Payload {
  chunks: Uint8Array[];
  /** Where the bytes are when they are not in `chunks`. */
  file: string | undefined;
  size: number;
  volatile: boolean;
  storedAt: number;
}

const SWEEP_MS = 30_000;
// The host is part of the name because containers may share a temporary folder but not their process ids.
const FOLDER_PREFIX = `parsemesh-payloads-${hostname().replace(/[^\w]/g, '_')}-`;
const ownFolders = new Set<string>();

/**
 * A PayloadStore of this process. Its own folder (mode 0700) is made in `folder` when the first large payload comes.
 */
export function createMemoryPayloadStore({
  folder = tmpdir(),
  volatileBytes = TRANSPORT_LIMITS.volatilePayloadBytes,
}: {
  folder?: string;
  volatileBytes?: number;
} = {}): PayloadStore {
  removeStaleFolders(folder);
  return new MemoryPayloadStore(folder, volatileBytes);
}

class MemoryPayloadStore implements PayloadStore {
  readonly #parent: string;
  readonly #payloads = new Map<string, Payload>();
  readonly #sweep: NodeJS.Timeout;
  readonly #volatileBytes: number;
  /** Bytes of volatile payloads that are here, those still coming in included. */
  #volatileHeld = 0;
  /** The same for the others' bytes that are not in files. */
  #held = 0;
  #folder: Promise<string> | undefined;

  constructor(parent: string, volatileBytes: number) {
    this.#parent = parent;
    this.#volatileBytes = volatileBytes;
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
        if (options.volatile) {
          if (this.#volatileHeld + chunk.byteLength > this.#volatileBytes)
            throw new StoreFullError('memory holds as many volatile payloads as it may');
          this.#volatileHeld += chunk.byteLength;
        }
        if (!handle && !options.volatile && this.#held + chunk.byteLength > TRANSPORT_LIMITS.memoryPayloadBytes) {
          const path = join(await this.#ownFolder(), id);
          handle = await open(path, 'wx', 0o600);
          payload.file = path;
          this.#held -= payload.size;
          for (const early of payload.chunks) await handle.writeFile(early);
          payload.chunks = [];
        }
        payload.size += chunk.byteLength;
        if (handle) await handle.writeFile(chunk);
        else {
          payload.chunks.push(chunk);
          if (!options.volatile) this.#held += chunk.byteLength;
        }
      }
    } catch (error) {
      await handle?.close();
      await this.#letGo(payload);
      throw error;
    }
    await handle?.close();
    this.#payloads.set(id, payload);
    return { id, size: payload.size, volatile: options.volatile };
  }

  async get(ref: PayloadRef): Promise<AsyncIterable<Uint8Array>> {
    const payload = this.#payloads.get(ref.id);
    if (!payload) throw new PayloadMissingError('the payload is gone: it was deleted or grew too old');
    return payload.file === undefined ? iterate(payload.chunks) : readFile(payload.file);
  }

  async delete(ref: PayloadRef): Promise<void> {
    const payload = this.#payloads.get(ref.id);
    this.#payloads.delete(ref.id);
    if (payload) await this.#letGo(payload);
  }

  async #letGo({ volatile, file, size }: Payload): Promise<void> {
    if (volatile) this.#volatileHeld -= size;
    else if (file === undefined) this.#held -= size;
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
    return this.#folder;
  }

  async #removeOld(): Promise<void> {
    const oldest = Date.now() - TRANSPORT_LIMITS.payloadTtlMs;
    for (const [id, payload] of this.#payloads)
      if (payload.storedAt < oldest) await this.delete({ id, size: payload.size, volatile: false });
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
      throw new PayloadMissingError('the payload was deleted before it was read', { cause });
    throw cause;
  }
}

/** Removes the folders of processes of this host that died without closing. */
function removeStaleFolders(parent: string): void {
  let names: string[];
  try {
    names = readdirSync(parent);
  } catch {
    return;
  }
  for (const name of names) {
    if (!name.startsWith(FOLDER_PREFIX)) continue;
    const folder = join(parent, name);
    const pid = Number.parseInt(name.slice(FOLDER_PREFIX.length), 10);
    if (ownFolders.has(folder) || (pid !== process.pid && isAlive(pid))) continue;
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // Another user's: theirs to remove.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
