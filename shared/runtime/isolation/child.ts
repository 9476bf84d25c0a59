// Entry point of an isolated process: loads one service's worker module and runs its jobs one at a time until the parent closes the socket.
import { Socket } from 'node:net';
import { ProgressReports } from '../../bus/progress.ts';
import { ParseError } from '../../contract/errors.ts';
import type { Job, JobOutput, WorkerModule } from '../../contract/jobs.ts';
import { machineFaultError } from '../../contract/machine-fault.ts';
import type { JobProgress } from '../../contract/progress.ts';
import type { QueueName } from '../../contract/services.ts';
import { describeCause } from '../cause.ts';
import { FrameWriter, type ParentMessage, type ProcessMessage, readBody, readFrames } from './frames.ts';

const PARENT_FD = 3;

async function main(modulePath: string): Promise<void> {
  const parent = new Socket({ fd: PARENT_FD, readable: true, writable: true });
  // Kill the process group too: LibreOffice must not keep running after the job that started it.
  const end = (): void => {
    try {
      process.kill(-process.pid, 'SIGKILL');
    } catch {
      process.exit(1);
    }
  };
  parent.on('error', end);
  parent.on('close', end);

  const frames = readFrames<ParentMessage>(parent)[Symbol.asyncIterator]();
  const start = await frames.next();
  // The parent has already ended.
  if (start.done === true) return end();
  if (start.value.header.type === 'start') Object.assign(process.env, start.value.header.secrets);

  const worker = (await import(modulePath)) as WorkerModule;
  await worker.warm?.();
  const out = new FrameWriter<ProcessMessage>(parent);
  interface Call {
    resolve: (output: JobOutput) => void;
    reject: (error: Error) => void;
    started: (() => void) | undefined;
  }
  const calls = new Map<number, Call>();
  let nextCall = 1;
  let abort = new AbortController();

  // Not async: an async function would keep the payload in memory until the answer arrives.
  function call<Reply>(
    queue: QueueName,
    job: Job,
    payload: Uint8Array,
    started?: () => void,
  ): Promise<JobOutput<Reply>> {
    const id = nextCall++;
    const answer = new Promise<JobOutput>((resolve, reject) => calls.set(id, { resolve, reject, started }));
    answer.catch(() => undefined);
    // The caller chooses the type of the reply. The reply is not validated here.
    return out.send({ type: 'call', call: id, queue, job }, payload).then(() => answer as Promise<JobOutput<Reply>>);
  }

  const run = async (message: Extract<ParentMessage, { type: 'job' }>, payload: Uint8Array): Promise<void> => {
    const { signal } = abort;
    // Limited here too, because a frame for each of thousands of pages would cost CPU time.
    const reports = message.progress
      ? new ProgressReports((json) => {
          out.send({ type: 'progress', progress: JSON.parse(json) as JobProgress }).catch(() => undefined);
        })
      : undefined;
    try {
      const output = await worker.handle(message.job, payload, {
        signal,
        requestId: message.job.requestId,
        deadline: message.deadline,
        volatile: message.volatile,
        call,
        ...(reports ? { progress: (progress: JobProgress) => reports.add(progress) } : {}),
      });
      reports?.end();
      const { payload: result } = output;
      if (result === undefined || typeof result === 'string' || result instanceof Uint8Array)
        await out.send(
          { type: 'result', ok: true, reply: output.reply },
          typeof result === 'string' ? Buffer.from(result) : result,
        );
      else {
        for (const part of result) await out.send({ type: 'part' }, part);
        await out.send({ type: 'result', ok: true, reply: output.reply });
      }
    } catch (error) {
      reports?.end();
      const known = error instanceof ParseError;
      const machineError = machineFaultError(error);
      const record = (known ? error : (machineError ?? new ParseError('UNKNOWN_ERROR'))).toRecord();
      const unexpected = known
        ? error.cause === undefined
          ? undefined
          : describeCause(error.cause)
        : describeCause(error);
      await out.send({
        type: 'result',
        ok: false,
        error: record,
        ...(unexpected ? { unexpected } : {}),
        ...(machineError ? { machineFault: true } : {}),
      });
    }
  };

  await out.send({ type: 'ready' });
  for await (const frame of { [Symbol.asyncIterator]: () => frames }) {
    const message = frame.header;
    if (message.type === 'start') continue;
    const body = await readBody(frame);
    if (message.type === 'job') {
      abort = new AbortController();
      void run(message, body);
    } else if (message.type === 'cancel') abort.abort();
    else if (message.type === 'started') calls.get(message.call)?.started?.();
    else if (message.type === 'answer') {
      const waiting = calls.get(message.call);
      calls.delete(message.call);
      if (message.ok) waiting?.resolve({ reply: message.reply, payload: body });
      else waiting?.reject(ParseError.fromRecord(message.error));
    } else {
      await worker.close?.();
      break;
    }
  }
  end();
}

const [modulePath] = process.argv.slice(2);
if (!modulePath) throw new Error('usage: child.ts WORKER_MODULE');
await main(modulePath);
