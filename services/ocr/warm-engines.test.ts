// Tests which engines stay loaded when pages of several languages take turns, and that closed engines leave no process.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { until } from '#shared/bus/testing/jobs.ts';
import { findModels } from './tesseract-models.ts';
import { nativeVersion } from './tesseract-native.ts';
import { WarmEngines } from './warm-engines.ts';

const ROOMY = { ocrWarmEngines: 2, ocrWarmMiB: Number.POSITIVE_INFINITY };
const LANGUAGES = ['eng', 'harbourish', 'heronish'] as const;

/** Number of child processes of this process (Linux). */
const children = (): number =>
  readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean).length;

for (const setting of ['wasm', 'native'] as const)
  describe(`warm engines: ${setting}`, {
    skip: setting === 'native' && !nativeVersion() && !process.env.CI ? 'SKIPPED: no tesseract 5 is installed' : false,
  }, () => {
    const previous = process.env.TESSDATA_PREFIX;
    let folder: string;

    before(async () => {
      const english = findModels(['eng']).get('eng') ?? '';
      folder = await mkdtemp(join(tmpdir(), 'parsemesh-models-'));
      for (const name of LANGUAGES) await copyFile(english, join(folder, `${name}.traineddata`));
      process.env.TESSDATA_PREFIX = folder;
    });
    after(async () => {
      if (previous === undefined) delete process.env.TESSDATA_PREFIX;
      else process.env.TESSDATA_PREFIX = previous;
      await rm(folder, { recursive: true, force: true });
    });

    test('two lists of languages take turns without loading; a third one closes the one that was not used for longest', async () => {
      const engines = new WarmEngines(ROOMY);
      const english = await engines.take(['eng'], setting);
      const both = await engines.take(['harbourish', 'eng'], setting);
      assert.deepEqual(both.languages, ['harbourish', 'eng']);
      for (let turn = 0; turn < 3; turn++) {
        assert.equal(await engines.take(['eng'], setting), english);
        assert.equal(await engines.take(['harbourish', 'eng'], setting), both);
      }
      const third = await engines.take(['heronish'], setting);
      assert.equal(await engines.take(['harbourish', 'eng'], setting), both);
      assert.equal(await engines.take(['heronish'], setting), third);
      assert.notEqual(await engines.take(['eng'], setting), english);
      await engines.close();
    });

    test('a process that already uses much memory keeps one engine', async () => {
      const engines = new WarmEngines({ ...ROOMY, ocrWarmMiB: 0 });
      const english = await engines.take(['eng'], setting);
      assert.equal(await engines.take(['eng'], setting), english);
      await engines.take(['heronish'], setting);
      assert.notEqual(await engines.take(['eng'], setting), english);
      await engines.close();
    });

    test('an engine that failed is replaced, and the others stay', async () => {
      const engines = new WarmEngines(ROOMY);
      const english = await engines.take(['eng'], setting);
      const other = await engines.take(['heronish'], setting);
      await engines.discard(english);
      assert.equal(await engines.take(['heronish'], setting), other);
      assert.notEqual(await engines.take(['eng'], setting), english);
      await engines.close();
    });

    test('languages that cannot be loaded leave no engine, and the others still work', async () => {
      const engines = new WarmEngines(ROOMY);
      await assert.rejects(engines.take(['tlh'], setting), { code: 'SERVICE_UNAVAILABLE' });
      assert.deepEqual((await engines.take(['eng'], setting)).languages, ['eng']);
      await engines.close();
    });

    test('closed engines leave no process', { skip: process.platform !== 'linux' && 'needs /proc' }, async () => {
      const engines = new WarmEngines(ROOMY);
      await until(() => children() === 0, 'the processes of the tests above have ended');
      for (const language of [...LANGUAGES, ...LANGUAGES]) {
        await engines.take([language], setting);
        await until(() => children() <= ROOMY.ocrWarmEngines, 'at most two processes');
      }
      await engines.close();
      await until(() => children() === 0, 'all processes have ended');
    });
  });
