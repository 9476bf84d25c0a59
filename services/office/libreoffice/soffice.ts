// Converts legacy documents with one LibreOffice process that stays running, because a start costs about 30 times as much CPU time as a conversion.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ParseError } from '#shared/contract/errors.ts';
import { OfficeProcess, type TargetExtension, timedOut } from './office-process.ts';

const PROGRAM_FOLDERS = [
  '/usr/lib/libreoffice/program',
  '/usr/lib64/libreoffice/program',
  '/opt/libreoffice/program',
  '/usr/local/lib/libreoffice/program',
];

interface ConversionOptions {
  signal: AbortSignal;
  /** Keeps all files in memory and none on a disk. */
  volatile: boolean;
}

function findProgram(): string {
  const configured = process.env.LIBREOFFICE_FOLDER;
  const folders = configured ? [configured] : PROGRAM_FOLDERS;
  const program = folders.map((folder) => join(folder, 'soffice.bin')).find((path) => existsSync(path));
  if (program === undefined)
    throw new ParseError(
      'SERVICE_UNAVAILABLE',
      'This format needs LibreOffice, which is not installed on this server. Its operator can run `apt-get install libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui`, or set LIBREOFFICE_FOLDER to its `program` folder.',
    );
  return program;
}

let running: OfficeProcess | undefined;
process.once('exit', () => running?.killNow());

/** Settles after the last conversion that was requested: LibreOffice loads one document at a time. */
let lastConversion: Promise<unknown> = Promise.resolve();

/**
 * Converts a legacy document. Calls at the same time run one after the other.
 * @param from the extension of the document, with its dot
 * @throws ParseError SERVICE_UNAVAILABLE without LibreOffice, REQUEST_TIMEOUT if the signal aborts (also while the call
 * waits for others), DOCUMENT_CORRUPT if LibreOffice cannot read the document
 */
export async function convertLegacy(
  bytes: Uint8Array,
  from: string,
  to: TargetExtension,
  options: ConversionOptions,
): Promise<Uint8Array> {
  const { signal } = options;
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(timedOut());
  signal.addEventListener('abort', onAbort, { once: true });
  const before = lastConversion;
  const conversion = (async () => {
    await before;
    if (signal.aborted) throw timedOut();
    return convertNow(bytes, from, to, options);
  })();
  lastConversion = conversion.catch(() => undefined);
  try {
    return await Promise.race([conversion, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

async function convertNow(
  bytes: Uint8Array,
  from: string,
  to: TargetExtension,
  { signal, volatile }: ConversionOptions,
): Promise<Uint8Array> {
  const program = findProgram();
  if (running && (!running.usable || (volatile && !running.volatile))) await closeLibreOffice();
  running ??= await OfficeProcess.start(program, volatile, signal);
  const office = running;
  try {
    const converted = await office.convert(bytes, from, to, signal);
    if (converted) return converted;
  } catch (cause) {
    // LibreOffice may still be working on the document, so it is stopped.
    await closeLibreOffice();
    if (cause instanceof ParseError) throw cause;
    throw new ParseError('CONVERSION_FAILED', undefined, { cause });
  }
  if (!office.usable) await closeLibreOffice();
  throw new ParseError('DOCUMENT_CORRUPT', 'The document is corrupt or protected: LibreOffice cannot read it');
}

/** Stops LibreOffice and removes its files. The next conversion starts a new one. */
export async function closeLibreOffice(): Promise<void> {
  const office = running;
  running = undefined;
  await office?.stop();
}
