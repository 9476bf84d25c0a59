// Kills the OCR engines as the kernel does when memory runs out, and checks that neither the page nor the language data is blamed.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Job } from '#shared/contract/jobs.ts';
import { QUEUES } from '#shared/contract/services.ts';
import { ProcessPool } from '#shared/runtime/isolation/pool.ts';
import { createLogger } from '#shared/runtime/log.ts';
import { descendants, type ProcessFacts } from '#test/bench/process-tree.ts';
import type { ReadingOptions } from './engine.ts';
import { configuredLanguages } from './languages.ts';
import { stackImages } from './pixels.ts';
import { NativeEngine, nativeVersion } from './tesseract-native.ts';
import { fixture } from './testing/fixture.ts';

const DPI = 150;
const OPTIONS: ReadingOptions = { dpi: DPI, layout: 'page', threshold: 'global' };
const LETTER = fixture('letter');

/**
 * Kills the first `count` processes that `isVictim` accepts, each once.
 * @param isNew spares the processes that run already
 * @returns a function that ends it and returns their number
 */
function kill(count: number, isVictim: (facts: ProcessFacts) => boolean, isNew = true): () => number {
  const killed = new Set<number>();
  // A process of an earlier test may not have ended yet.
  const older = new Set(isNew ? descendants(process.pid).map(({ pid }) => pid) : []);
  let stopped = false;
  void (async () => {
    while (!stopped && killed.size < count) {
      for (const facts of descendants(process.pid))
        if (
          killed.size < count &&
          !killed.has(facts.pid) &&
          !older.has(facts.pid) &&
          !facts.zombie &&
          isVictim(facts)
        ) {
          process.kill(facts.pid, 'SIGKILL');
          killed.add(facts.pid);
        }
      await nextTurn();
    }
  })();
  return () => {
    stopped = true;
    return killed.size;
  };
}

/** CPU time after which the installed tesseract has loaded its models, in milliseconds: loading needs a few tens. */
const LOADED_CPU_MS = 150;

const isTesseract = ({ command }: ProcessFacts): boolean => command === 'tesseract';
const MOMENTS: Readonly<Record<string, (facts: ProcessFacts) => boolean>> = {
  'when it starts': ({ command }) => ['sh', 'stdbuf', 'tesseract'].includes(command),
  'while it loads its models': (facts) => isTesseract(facts) && facts.cpuMs >= 10,
};

describe('the installed tesseract', {
  skip: !nativeVersion() && !process.env.CI ? 'SKIPPED: no tesseract 5 is installed' : false,
}, () => {
  for (const stream of [true, false])
    describe(stream ? 'one process for many pages' : 'one process for each page', () => {
      for (const [moment, isVictim] of Object.entries(MOMENTS)) {
        test(`killed once ${moment}: it is loaded, and reads`, async () => {
          const stop = kill(1, isVictim);
          const engine = await NativeEngine.load(configuredLanguages(), stream);
          assert.equal(stop(), 1);
          assert.ok((await engine.read(LETTER, OPTIONS)).length > 5);
          await engine.close();
        });

        test(`killed twice ${moment}: 503, and the language data is not blamed`, async () => {
          const stop = kill(2, isVictim);
          await assert.rejects(NativeEngine.load(configuredLanguages(), stream), {
            code: 'SERVICE_UNAVAILABLE',
            retryAfterSeconds: 5,
            message: /the system ended Tesseract/,
          });
          assert.equal(stop(), 2);
        });
      }

      test('killed once while it reads a page: the page is read', async () => {
        const engine = await NativeEngine.load(configuredLanguages(), stream);
        const stop = kill(1, (facts) => isTesseract(facts) && facts.cpuMs >= LOADED_CPU_MS, false);
        assert.ok((await engine.read(LETTER, OPTIONS)).length > 5);
        assert.equal(stop(), 1);
        await engine.close();
      });

      test('killed twice while it reads a page: 503, and the next page is read', async () => {
        const engine = await NativeEngine.load(configuredLanguages(), stream);
        const stop = kill(2, (facts) => isTesseract(facts) && facts.cpuMs >= LOADED_CPU_MS, false);
        await assert.rejects(engine.read(LETTER, OPTIONS), { code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 5 });
        assert.equal(stop(), 2);
        assert.ok((await engine.read(LETTER, OPTIONS)).length > 5);
        await engine.close();
      });
    });
});

describe('tesseract as WebAssembly, in an isolated process', () => {
  const pool = new ProcessPool(
    {
      queue: 'ocr',
      module: new URL('./worker.ts', import.meta.url),
      memoryMiB: 1_536,
      needs: QUEUES.ocr.needs,
      env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, OCR_ENGINE: 'wasm' },
    },
    createLogger({ logLevel: 'silent' }, 'test'),
  );
  after(() => pool.close());
  // It takes several times as long to read as the engine takes to load.
  const { width, height, pixels } = stackImages(
    Array.from({ length: 5 }, () => LETTER),
    255,
    20,
  );
  const job: Job = { kind: 'ocr', requestId: 'killed', pageNumber: 1, width, height, dpi: DPI, languages: [] };
  const readPage = () =>
    pool.run(
      async () => ({
        job,
        deadline: Date.now() + 300_000,
        volatile: false,
        payloadSize: pixels.byteLength,
        payload: (async function* () {
          yield pixels;
        })(),
      }),
      {
        store: async (body) => {
          for await (const part of body) void part;
        },
        call: () => Promise.reject(new Error('OCR calls nobody')),
      },
      AbortSignal.timeout(300_000),
      'killed',
    );
  const isConverter = ({ parent }: ProcessFacts): boolean => parent === process.pid;

  for (const [moment, cpuMs] of [
    ['when it starts', 0],
    ['while it loads', 300],
    ['while it reads', 1_000],
  ] as const) {
    test(`killed once ${moment}: the page is read`, async () => {
      const stop = kill(1, (facts) => isConverter(facts) && facts.cpuMs >= cpuMs, false);
      const result = await readPage();
      assert.equal(stop(), 1);
      assert.ok(result.ok);
      assert.ok((result.reply as { lines: unknown[] }).lines.length > 5);
    });

    test(`killed twice ${moment}: 503`, async () => {
      const stop = kill(2, (facts) => isConverter(facts) && facts.cpuMs >= cpuMs, false);
      await assert.rejects(readPage(), { code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 5 });
      assert.equal(stop(), 2);
    });
  }
});
