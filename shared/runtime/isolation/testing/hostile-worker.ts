// A worker module whose jobs fail in every way that a conversion can fail, for the tests of isolated processes.
import { spawn } from 'node:child_process';
import { ParseError } from '../../../contract/errors.ts';
import type { JobHandler } from '../../../contract/jobs.ts';
import type { JobProgress } from '../../../contract/progress.ts';

const leaked: Buffer[] = [];

/** A result of 8 MiB or more in parts of 1 MiB. */
function* parts(count: number, error?: Error): Generator<Uint8Array> {
  for (let part = 0; part < count; part++) yield Buffer.alloc(1024 * 1024, part);
  if (error) throw error;
}

export const handle: JobHandler = async (job, payload, context) => {
  // The request id selects what the job does.
  switch (job.requestId) {
    case 'echo':
      return { reply: { pid: process.pid, size: payload.byteLength }, payload };
    case 'grow':
      return { reply: null, payload: Buffer.alloc(8 * 1024 * 1024, 7) };
    case 'stream':
      return { reply: { streamed: true }, payload: parts(8) };
    case 'stream-refuse':
      return { reply: null, payload: parts(8, new ParseError('DOCUMENT_TOO_COMPLEX', 'refused after 8 parts')) };
    case 'refuse':
      throw new ParseError('DOCUMENT_CORRUPT', 'refused by the test worker');
    case 'throw':
      throw new TypeError('quotes the document: SECRET');
    case 'crash':
      process.kill(process.pid, 'SIGSEGV');
      return await new Promise(() => undefined);
    case 'killed-if-told': {
      const { reply } = await context.call<{ killed?: boolean }>('ocr', job, payload);
      if (!reply.killed) return { reply: { pid: process.pid } };
      process.kill(process.pid, 'SIGKILL');
      return await new Promise(() => undefined);
    }
    case 'spin':
      for (;;);
    case 'heap': {
      const objects: string[][] = [];
      for (;;) objects.push(new Array<string>(100_000).fill(`x${objects.length}`));
    }
    case 'buffers':
      for (;;) {
        leaked.push(Buffer.alloc(16 * 1024 * 1024, 1));
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    case 'wait-for-cancel': {
      const cancelled = new Promise<never>((_, reject) =>
        context.signal.addEventListener('abort', () => reject(new ParseError('REQUEST_TIMEOUT'))),
      );
      // The call shows the test that the handler has started.
      const [output] = await Promise.all([context.call('ocr', job, payload), cancelled]);
      return output;
    }
    case 'grandchild': {
      const child = spawn('sleep', ['1000'], { stdio: 'ignore' });
      return { reply: { pid: child.pid } };
    }
    case 'call':
      return await context.call('ocr', job, payload);
    case 'leave-call':
      // The call is not answered before the job ends.
      await new Promise<void>((resolve) => {
        context.call('ocr', job, payload, resolve).catch(() => undefined);
      });
      return { reply: null };
    case 'call-started': {
      let started = 0;
      const { reply } = await context.call<object>('ocr', job, payload, () => {
        started += 1;
      });
      return { reply: { started, ...reply } };
    }
    case 'progress': {
      context.progress?.({ stage: 'convert', pagesDone: 1, pages: 2 });
      context.progress?.({ stage: 'ocr', pagesDone: 1 });
      // The call returns when the test has received the second report, which is sent after the interval.
      await context.call('ocr', job, payload);
      context.progress?.({ stage: 'convert', pagesDone: 2, pages: 2 });
      return { reply: { asked: context.progress !== undefined } };
    }
    case 'progress-invalid': {
      const lie = { stage: 'SECRET', pagesDone: -1, text: 'SECRET' } as unknown as JobProgress;
      context.progress?.(lie);
      context.progress?.({ stage: 'convert', pages: 3, text: 'SECRET' } as JobProgress);
      return await context.call('ocr', job, payload);
    }
    case 'call-large':
      return await context.call('ocr', job, Buffer.alloc(8 * 1024 * 1024, 7));
    default:
      throw new Error('unknown test job');
  }
};
