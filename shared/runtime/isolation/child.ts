// Entry point of an isolated process: loads one service's worker module and runs its jobs one at a time until the parent closes the socket.
import { Socket } from 'node:net';
import { ParseError } from '../../contract/errors.ts';
import type { Job, JobOutput, WorkerModule } from '../../contract/jobs.ts';
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
    // The type of the reply is the caller's claim: nothing here validates it.
    return out.send({ type: 'call', call: id, queue, job }, payload).then(() => answer as Promise<JobOutput<Reply>>);
  }

  const run = async (order: Extract<ParentMessage, { type: 'job' }>, payload: Uint8Array): Promise<void> => {
    const { signal } = abort;
    try {
      const output = await worker.handle(order.job, payload, {
        signal,
        requestId: order.job.requestId,
        deadline: order.deadline,
        volatile: order.volatile,
        call,
      });
      const body = typeof output.payload === 'string' ? Buffer.from(output.payload) : output.payload;
      await out.send({ type: 'result', ok: true, reply: output.reply }, body);
    } catch (error) {
      const known = error instanceof ParseError;
      const record = known ? error.toRecord() : new ParseError('UNKNOWN_ERROR').toRecord();
      const unexpected = known
        ? error.cause === undefined
          ? undefined
          : describeCause(error.cause)
        : describeCause(error);
      await out.send({ type: 'result', ok: false, error: record, ...(unexpected ? { unexpected } : {}) });
    }
  };

  await out.send({ type: 'ready' });
  for await (const frame of readFrames<ParentMessage>(parent)) {
    const order = frame.header;
    const body = await readBody(frame);
    if (order.type === 'job') {
      abort = new AbortController();
      void run(order, body);
    } else if (order.type === 'cancel') abort.abort();
    else if (order.type === 'started') calls.get(order.call)?.started?.();
    else if (order.type === 'answer') {
      const waiting = calls.get(order.call);
      calls.delete(order.call);
      if (order.ok) waiting?.resolve({ reply: order.reply, payload: body });
      else waiting?.reject(ParseError.fromRecord(order.error));
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
