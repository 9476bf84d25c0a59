// A worker module whose jobs misbehave in every way a conversion can, so that the isolation is tested against the real thing.
import { spawn } from 'node:child_process';
import { ParseError } from '../../../contract/errors.ts';
import type { JobHandler } from '../../../contract/jobs.ts';

const hoard: Buffer[] = [];

export const handle: JobHandler = async (job, payload, context) => {
  switch (job.requestId) {
    case 'echo':
      return { reply: { pid: process.pid, size: payload.byteLength }, payload };
    case 'grow':
      return { reply: null, payload: Buffer.alloc(8 * 1024 * 1024, 7) };
    case 'refuse':
      throw new ParseError('DOCUMENT_CORRUPT', 'no such luck');
    case 'throw':
      throw new TypeError('quotes the document: SECRET');
    case 'crash':
      process.kill(process.pid, 'SIGSEGV');
      return await new Promise(() => undefined);
    case 'spin':
      for (;;);
    case 'heap': {
      const held: string[][] = [];
      for (;;) held.push(new Array<string>(100_000).fill(`x${held.length}`));
    }
    case 'buffers':
      for (;;) {
        hoard.push(Buffer.alloc(16 * 1024 * 1024, 1));
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    case 'obey':
      return await new Promise((_, reject) =>
        context.signal.addEventListener('abort', () => reject(new ParseError('REQUEST_TIMEOUT'))),
      );
    case 'grandchild': {
      const child = spawn('sleep', ['1000'], { stdio: 'ignore' });
      return { reply: { pid: child.pid } };
    }
    case 'call':
      return await context.call('ocr', job, payload);
    case 'call-told': {
      let started = 0;
      const { reply } = await context.call<object>('ocr', job, payload, () => {
        started += 1;
      });
      return { reply: { started, ...reply } };
    }
    case 'call-large':
      return await context.call('ocr', job, Buffer.alloc(8 * 1024 * 1024, 7));
    default:
      throw new Error('unknown order');
  }
};
