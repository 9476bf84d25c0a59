// Creates and reads payloads for the tests of the bus, and searches files for their bytes.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export const MiB = 1024 * 1024;

export async function readAll(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Yields `bytes` in chunks of `size`. */
export async function* inChunks(bytes: Uint8Array, size = 64 * 1024): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

/** Names of the files in `folder` and its subfolders that contain `bytes`. */
export async function filesContaining(folder: string, bytes: Buffer): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries.filter((item) => item.isFile())) {
    const content = await readFile(join(entry.parentPath, entry.name)).catch(() => Buffer.alloc(0));
    if (content.includes(bytes)) found.push(entry.name);
  }
  return found;
}
