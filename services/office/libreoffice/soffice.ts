// Converts legacy documents with one LibreOffice process that stays running, because a start costs about 30 times as much CPU time as a conversion.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ParseError } from '#shared/contract/errors.ts';
import { endedBySystemError, machineFaultError } from '#shared/contract/machine-fault.ts';
import { temporaryDiskError } from '#shared/runtime/temporary-disk.ts';
import {
  baseFolder,
  OfficeEndError,
  OfficeProcess,
  OfficeStartError,
  type TargetExtension,
  timedOut,
} from './office-process.ts';
import { type WorkLimits, workLimits } from './watchdog.ts';

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
  /** For tests. The default follows from the size of the document (`workLimits`). */
  limits?: WorkLimits;
}

/** A file is blamed, and so is the system, after this many instances of LibreOffice. */
const MAX_FAILURES = 2;

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

interface Start {
  volatile: boolean;
  office: Promise<OfficeProcess>;
  stop: AbortController;
}
/** The instance that is starting. It goes on when its job has timed out. Otherwise every job on a slow machine would time out at the same point. */
let starting: Start | undefined;

process.once('exit', () => running?.killNow());

/** Settles after the last conversion that was requested: LibreOffice loads one document at a time. */
let lastConversion: Promise<unknown> = Promise.resolve();

/**
 * Converts a legacy document. Calls at the same time run one after the other.
 * @param from the extension of the document, with its dot
 * @throws ParseError REQUEST_TIMEOUT if the signal aborts (also while the call waits for others). SERVICE_UNAVAILABLE without
 * LibreOffice, if the machine cannot work, or if the system ended two instances of LibreOffice. After two instances failed on
 * the document: DOCUMENT_CORRUPT if they could not read it, CONVERSION_FAILED if they hung. DOCUMENT_TOO_COMPLEX if a new
 * instance needed too much CPU time.
 */
export async function convertLegacy(
  bytes: Uint8Array,
  from: string,
  to: TargetExtension,
  options: ConversionOptions,
): Promise<Uint8Array> {
  const { signal } = options;
  const before = lastConversion;
  const conversion = (async () => {
    await before;
    if (signal.aborted) throw timedOut();
    return convertNow(bytes, from, to, options);
  })();
  lastConversion = conversion.catch(() => undefined);
  return untilAborted(conversion, signal);
}

/** Waits for a promise. @throws ParseError REQUEST_TIMEOUT as soon as the signal aborts */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(timedOut());
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

async function convertNow(
  bytes: Uint8Array,
  from: string,
  to: TargetExtension,
  { signal, volatile, limits = workLimits(bytes.length) }: ConversionOptions,
): Promise<Uint8Array> {
  const program = findProgram();
  let failures = 0;
  let systemFailures = 0;
  for (;;) {
    let wasFresh = true;
    let office: OfficeProcess | undefined;
    let failure: unknown;
    try {
      office = await openInstance(program, volatile, signal);
      wasFresh = office.isFresh;
      const converted = await office.convert(bytes, from, to, { signal, limits });
      if (converted) return converted;
    } catch (error) {
      failure = error;
    }
    if (!office && signal.aborted) throw timedOut();
    // The instance may still work on the document, or it may be damaged. The next attempt gets a new one.
    await closeLibreOffice();
    if (failure instanceof ParseError) throw failure;
    const machineError =
      machineFaultError(failure) ?? machineFaultError(await temporaryDiskError(baseFolder(volatile)));
    if (machineError) throw machineError;
    if (failure instanceof OfficeStartError || (failure instanceof OfficeEndError && failure.kind === 'system')) {
      systemFailures += 1;
      if (systemFailures >= MAX_FAILURES) throw systemError(failure);
      continue;
    }
    if (failure !== undefined && !(failure instanceof OfficeEndError)) throw failure;
    failures += 1;
    if (failures >= MAX_FAILURES || (failure?.kind === 'cpu' && wasFresh)) throw documentError(failure, limits);
  }
}

/** The running instance if it can take a document of this kind, or a new one. @throws ParseError REQUEST_TIMEOUT, errors of `OfficeProcess.start` */
async function openInstance(program: string, volatile: boolean, signal: AbortSignal): Promise<OfficeProcess> {
  const current = running ?? starting;
  if ((running && !running.usable) || (volatile && current && !current.volatile)) await closeLibreOffice();
  if (running) return running;
  starting ??= startInstance(program, volatile);
  return untilAborted(starting.office, signal);
}

function startInstance(program: string, volatile: boolean): Start {
  const stop = new AbortController();
  const start = async (): Promise<OfficeProcess> => {
    try {
      running = await OfficeProcess.start(program, volatile, stop.signal);
      return running;
    } finally {
      starting = undefined;
    }
  };
  const office = start();
  // Its job may have timed out. The next job then starts another one.
  office.catch(() => undefined);
  return { volatile, office, stop };
}

function systemError(failure: OfficeStartError | OfficeEndError): ParseError {
  if (failure instanceof OfficeEndError) return endedBySystemError('LibreOffice, which converts this format,', failure);
  return new ParseError(
    'SERVICE_UNAVAILABLE',
    'Service Unavailable: LibreOffice, which converts this format, did not start. Wait 5 s and send the request again. The server log contains the cause.',
    { cause: failure, retryAfterSeconds: 5 },
  );
}

/** The error for a document on which instances of LibreOffice failed. @param failure how the last one ended; undefined if it could not read the document */
function documentError(failure: OfficeEndError | undefined, { cpuMs }: WorkLimits): ParseError {
  const cause = failure;
  if (failure?.kind === 'cpu')
    return new ParseError(
      'DOCUMENT_TOO_COMPLEX',
      `LibreOffice needs more than ${Math.round(cpuMs / 1000)} s of CPU time for the document. Split it, or save it in a modern format.`,
      { cause },
    );
  if (failure?.kind === 'hung')
    return new ParseError(
      'CONVERSION_FAILED',
      'LibreOffice stopped responding on this document, twice. Open it in the program that made it, and save it in a modern format.',
      { cause },
    );
  return new ParseError('DOCUMENT_CORRUPT', 'The document is corrupt or protected: LibreOffice cannot read it', {
    cause,
  });
}

/** Stops LibreOffice and removes its files. The next conversion starts a new one. */
export async function closeLibreOffice(): Promise<void> {
  starting?.stop.abort();
  await starting?.office.catch(() => undefined);
  const office = running;
  running = undefined;
  await office?.stop();
}
