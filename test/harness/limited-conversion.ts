// Converts a file in an isolated process with a chosen memory limit, to test that a converter does not keep what it could stream.
import type { ConvertJob } from '#shared/contract/jobs.ts';
import type { FieldName } from '#shared/contract/response.ts';
import type { QueueName } from '#shared/contract/services.ts';
import { ProcessPool } from '#shared/runtime/isolation/pool.ts';
import { createLogger } from '#shared/runtime/log.ts';

const CHUNK_BYTES = 1 << 19;

interface LimitedConversion {
  queue: QueueName;
  /** The service's worker.ts. */
  module: URL;
  /** MiB of resident memory above which the process is killed. */
  memoryMiB: number;
  file: { name: string; bytes: Uint8Array };
  container: ConvertJob['container'];
  fields: FieldName[];
}

/**
 * Converts one file and passes the parts of the result on as they arrive.
 * @throws ParseError DOCUMENT_TOO_COMPLEX if the process needs more memory; the error of the converter
 */
export async function convertWithin(
  { queue, module, memoryMiB, file, container, fields }: LimitedConversion,
  onPart: (part: Uint8Array) => void,
): Promise<void> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const pool = new ProcessPool(
    { queue, module, memoryMiB, needs: [], env: { PATH, NODE_COMPILE_CACHE } },
    createLogger({ logLevel: 'silent' }, 'test'),
  );
  const job: ConvertJob = {
    kind: 'convert',
    requestId: 'test',
    fileName: file.name,
    extension: file.name.slice(file.name.lastIndexOf('.')),
    container,
    options: {
      fields,
      includeTags: [],
      excludeTags: [],
      onlyMainContent: true,
      blockAds: true,
      removeBase64Images: true,
      pdf: { mode: 'auto', pages: false, blocks: false, pageMarkers: false },
    },
  };
  const { bytes } = file;
  const deadline = Date.now() + 600_000;
  const open = async () => ({
    job,
    deadline,
    volatile: false,
    payloadSize: bytes.length,
    payload: (async function* () {
      for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES);
    })(),
  });
  const services = {
    async store(body: AsyncIterable<Uint8Array>): Promise<void> {
      for await (const part of body) onPart(part);
    },
    call: () => Promise.reject(new Error('a converter of this test calls no other service')),
  };
  try {
    const result = await pool.run(open, services, new AbortController().signal, 'test');
    if (!result.ok) throw new Error(`${result.error.code}: ${JSON.stringify(result)}`);
  } finally {
    await pool.close();
  }
}
