// Reads drawn pages through the real engine, because text, boxes and the way up are what the PDF service builds on.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { after, beforeEach, describe, test } from 'node:test';
import { ParseError } from '#shared/contract/errors.ts';
import type { JobContext, OcrJob, OcrPage } from '#shared/contract/jobs.ts';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { BudgetError, type ReadingOptions } from './engine.ts';
import { loadEngine } from './engines.ts';
import { configuredLanguages } from './languages.ts';
import { enlargeImage, type GreyImage, stackImages, tiltImage, turnImage } from './pixels.ts';
import { surveyPage } from './survey.ts';
import { NativeEngine, nativeVersion } from './tesseract-native.ts';
import { fixture } from './testing/fixture.ts';
import { close, handle, warm } from './worker.ts';

const DPI = 150;

const context: JobContext = {
  signal: new AbortController().signal,
  deadline: Date.now() + 600_000,
  requestId: 'request-1',
  volatile: false,
  call: () => Promise.reject(new Error('OCR calls nobody')),
};

async function read(image: GreyImage, changes: Partial<OcrJob> = {}): Promise<OcrPage> {
  const { width, height } = image;
  const job: OcrJob = {
    kind: 'ocr',
    requestId: 'test',
    pageNumber: 1,
    width,
    height,
    dpi: DPI,
    languages: [],
    ...changes,
  };
  return (await handle(job, image.pixels, context)).reply as OcrPage;
}

const unchanged = new Map<string, Promise<OcrPage>>();
/** The fixture read as it is by the engine under test; several tests compare with it, so each engine reads it once. */
function readUnchanged(name: string): Promise<OcrPage> {
  const key = `${process.env.OCR_ENGINE} ${name}`;
  const page = unchanged.get(key) ?? read(fixture(name));
  unchanged.set(key, page);
  return page;
}

const textOf = (page: OcrPage) => page.lines.map((line) => line.words.map((word) => word.text).join(' ')).join('\n');

const refuses = (code: string, words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ParseError, String(error));
  assert.equal(error.code, code);
  assert.match(error.message, words);
  assert.doesNotMatch(error.message, /\/usr\/|\/tmp\//);
  return true;
};

const { TESSDATA_PREFIX: models } = process.env;
beforeEach(() => {
  delete process.env.OCR_LANGUAGES;
  if (models === undefined) delete process.env.TESSDATA_PREFIX;
  else process.env.TESSDATA_PREFIX = models;
});
after(close);

test('a slope is found for lying pages too', () => {
  const tilted = tiltImage(fixture('letter'), 0.03);
  for (const turn of [0, 90, 180, 270] as const) {
    const { slope, sideways } = surveyPage(turnImage(tilted, turn));
    assert.ok(Math.abs(slope - 0.03) < 0.004, `turned ${turn}: ${slope}`);
    assert.equal(sideways > 1, turn === 90 || turn === 270);
  }
});

for (const setting of ['wasm', 'native'] as const)
  describe(`engine ${setting}`, {
    skip: setting === 'native' && !nativeVersion() && !process.env.CI ? 'SKIPPED: no tesseract 5 is installed' : false,
  }, () => {
    beforeEach(() => {
      process.env.OCR_ENGINE = setting;
    });

    test('a page is read line by line, with boxes, heights and confidences', async () => {
      const image = fixture('letter');
      const page = await readUnchanged('letter');
      assert.equal(page.rotation, 0);
      assert.equal(page.skew, undefined);
      assert.deepEqual([page.width, page.height], [image.width, image.height]);
      assert.equal(page.lines.length, 8);
      assert.match(textOf(page), /^Harbour office\nThe harbour office keeps a book of every ship that comes\n/);
      assert.match(textOf(page), /48 crates of lemons, 12 bales of wool,/);
      assert.ok(page.confidence > 0.85 && page.confidence <= 1);
      let above = -1;
      for (const line of page.lines) {
        assert.ok(line.box[1] > above, 'lines stand in reading order');
        above = line.box[1];
        let left = -1;
        for (const { box, confidence } of line.words) {
          assert.ok(box[0] > left && box[0] < box[2] && box[1] < box[3], 'words stand in order');
          assert.ok(box[0] >= line.box[0] && box[1] >= line.box[1] && box[2] <= line.box[2] && box[3] <= line.box[3]);
          assert.ok(confidence > 0 && confidence <= 1);
          left = box[0];
        }
        assert.ok(line.box[0] >= 0 && line.box[2] <= page.width && line.box[3] <= page.height);
      }
      const [title, body] = page.lines;
      assert.ok(title && body && title.height > body.height * 1.3, 'a larger type has a larger height');
    });

    test('columns are read one after the other', async () => {
      const text = textOf(await readUnchanged('two-columns'));
      assert.ok(text.indexOf('they come back by dusk.') < text.indexOf('Foxes hunt after the sun'), text);
      assert.ok(text.indexOf('Bees leave') < text.indexOf('dew is off'), text);
    });

    for (const sent of [90, 180, 270] as const)
      test(`a page sent turned by ${sent} degrees is read upright, in the upright frame`, async () => {
        const image = fixture('letter');
        const upright = await readUnchanged('letter');
        const page = await read(turnImage(image, sent));
        assert.equal(page.rotation, 360 - sent);
        assert.deepEqual([page.width, page.height], [image.width, image.height]);
        assert.equal(textOf(page), textOf(upright));
        const place = (result: OcrPage) => result.lines[1]?.words[0]?.box ?? [];
        place(page).forEach((edge, index) => {
          assert.ok(
            Math.abs(edge - (place(upright)[index] ?? Number.NaN)) <= 3,
            `${place(page)} is not ${place(upright)}`,
          );
        });
      });

    for (const degrees of [-4, 2.5])
      test(`a page that slopes by ${degrees} degrees is straightened and read`, async () => {
        const image = fixture('letter');
        const page = await read(tiltImage(image, (degrees * Math.PI) / 180));
        assert.ok(Math.abs((page.skew ?? 0) - degrees) < 0.3, `skew ${page.skew}`);
        assert.equal(textOf(page), textOf(await readUnchanged('letter')));
        const first = page.lines[1];
        assert.ok(first && first.box[3] - first.box[1] < 40, 'boxes are those of straight lines');
      });

    for (const [turn, degrees] of [
      [0, 0],
      [0, 2],
      [180, 0],
    ] as const)
      test(`words on much empty paper lie where they stand, turned by ${turn} and sloping by ${degrees} degrees`, async () => {
        const letter = fixture('letter');
        const paper = { width: letter.width * 2, height: Math.round(letter.height * 1.5) };
        const [left, top] = [Math.round(letter.width * 0.8), Math.round(letter.height * 0.4)];
        const pixels = new Uint8Array(paper.width * paper.height).fill(255);
        for (let y = 0; y < letter.height; y++)
          pixels.set(letter.pixels.subarray(y * letter.width, (y + 1) * letter.width), (top + y) * paper.width + left);
        const sent = tiltImage(turnImage({ ...paper, pixels }, turn), (degrees * Math.PI) / 180);
        const page = await read(sent);
        assert.deepEqual([page.width, page.height, page.rotation], [paper.width, paper.height, turn]);
        const own = await readUnchanged('letter');
        assert.equal(textOf(page), textOf(own));
        const [found, expected] = [page, own].map((one) => one.lines[1]!.words[0]!.box);
        [left, top, left, top].forEach((way, index) => {
          const miss = found![index]! - expected![index]! - way;
          assert.ok(Math.abs(miss) <= 6, `${found} is not ${expected} and ${left}, ${top}`);
        });
      });

    test('a page with more rulings down it than lines across it is still read as it stands', async () => {
      const { width, height, pixels } = fixture('letter');
      const ruled = { width, height, pixels: Uint8Array.from(pixels) };
      for (let y = Math.floor(height * 0.6); y < height - 60; y++)
        for (let x = 100; x < width - 100; x += 24) ruled.pixels.fill(0, y * width + x, y * width + x + 3);
      assert.ok(surveyPage(ruled).sideways > 1.5, 'the page looks as if it lay on its side');
      const page = await read(ruled);
      assert.equal(page.rotation, 0);
      assert.match(textOf(page), /keeps a book of every ship that comes/);
      const lying = await read(turnImage(ruled, 90));
      assert.equal(lying.rotation, 270, 'a lying page that looks upright is read by the engine and mapped');
      assert.deepEqual([lying.width, lying.height], [width, height]);
      const ship = (result: OcrPage) =>
        result.lines.flatMap((line) => line.words).find((word) => word.text === 'ship')?.box;
      ship(lying)?.forEach((edge, index) => {
        assert.ok(Math.abs(edge - (ship(page)?.[index] ?? Number.NaN)) <= 4, `${ship(lying)} is not ${ship(page)}`);
      });
      assert.ok(ship(lying));
    });

    test('print too small for the engine is enlarged first', async () => {
      const text = textOf(await read(fixture('tiny-print')));
      assert.match(text, /harbour office keeps a book of every ship/);
      assert.match(text, /locked in a drawer/);
    });

    test('a scan at 600 dpi gives boxes in its own pixels', async () => {
      const small = fixture('two-columns');
      const factor = 4;
      const large: GreyImage = {
        width: small.width * factor,
        height: small.height * factor,
        pixels: new Uint8Array(small.pixels.length * factor ** 2),
      };
      for (let y = 0; y < large.height; y++)
        for (let x = 0; x < large.width; x++)
          large.pixels[y * large.width + x] =
            small.pixels[Math.floor(y / factor) * small.width + Math.floor(x / factor)]!;
      const page = await read(large, { dpi: DPI * factor });
      assert.deepEqual([page.width, page.height], [large.width, large.height]);
      assert.match(textOf(page), /Foxes hunt after the sun/);
      const left = (await readUnchanged('two-columns')).lines[0]?.box[0] ?? Number.NaN;
      assert.ok(Math.abs((page.lines[0]?.box[0] ?? Number.NaN) - left * factor) <= 3 * factor);
    });

    test('a blank page, also a noisy or a black one, has no lines and no confidence', async () => {
      const blank = (grey: (index: number) => number): GreyImage => ({
        width: 1200,
        height: 1600,
        pixels: Uint8Array.from({ length: 1200 * 1600 }, (_, index) => grey(index)),
      });
      for (const image of [blank(() => 255), blank((index) => 225 + ((index * 7919) % 29)), blank(() => 0)]) {
        const page = await read(image);
        assert.deepEqual(page, { width: 1200, height: 1600, rotation: 0, confidence: 0, lines: [] });
      }
    });

    test('pages of a few pixels are answered', async () => {
      for (const [width, height] of [
        [1, 1],
        [3, 200],
        [8, 8],
        [2000, 9],
      ] as const) {
        const page = await read({
          width,
          height,
          pixels: Uint8Array.from({ length: width * height }, (_, index) => (index % 3) * 100),
        });
        assert.deepEqual([page.width, page.height], page.rotation % 180 === 0 ? [width, height] : [height, width]);
      }
    });

    test('a page larger than the engine takes is read at a smaller scale, over the limit refused', async () => {
      const strip: GreyImage = { width: 36_000, height: 600, pixels: new Uint8Array(36_000 * 600).fill(255) };
      const letter = enlargeImage(fixture('letter'), 2);
      for (let y = 0; y < strip.height; y++)
        strip.pixels.set(
          letter.pixels.subarray((y + 200) * letter.width, (y + 201) * letter.width),
          y * strip.width + 100,
        );
      const page = await read(strip, { dpi: 2 * DPI });
      assert.equal(page.width, 36_000);
      assert.match(textOf(page), /keeps a book of every ship/);
      const side = Math.ceil(Math.sqrt(DOCUMENT_LIMITS.pagePixels)) + 1;
      await assert.rejects(
        read({ width: side, height: side, pixels: new Uint8Array(side * side) }),
        refuses('DOCUMENT_TOO_COMPLEX', /pixels/),
      );
    });

    test('a page that costs more than its budget is given up, and the next is read', async () => {
      const options: ReadingOptions = { dpi: DPI, layout: 'page', threshold: 'global' };
      const long = stackImages(
        Array.from({ length: 5 }, () => fixture('letter')),
        255,
        10,
      );
      const engine = await loadEngine(configuredLanguages(), setting);
      assert.equal(engine.unfit, false);
      assert.equal(
        await engine.attempt(20, () => engine.read(long, options)),
        undefined,
        'an attempt ends without an error',
      );
      if (!engine.unfit) {
        engine.allow(60_000);
        assert.ok((await engine.read(fixture('letter'), options)).length > 5);
        engine.allow(20);
        await assert.rejects(engine.read(long, options), BudgetError);
      }
      await engine.close();
    });

    test('a payload of another size than it says is refused', async () => {
      await assert.rejects(
        read({ width: 10, height: 10, pixels: new Uint8Array(99) }),
        refuses('BAD_REQUEST', /one byte/),
      );
    });

    test('languages: what is not installed is named, with what to do', async () => {
      const image = fixture('two-columns');
      await assert.rejects(read(image, { languages: ['tlh'] }), refuses('BAD_REQUEST', /`tlh` is not installed.*eng/));
      await assert.rejects(read(image, { languages: ['../../etc/passwd'] }), refuses('BAD_REQUEST', /not installed/));
      process.env.OCR_LANGUAGES = 'eng+tlh';
      await assert.rejects(read(image), refuses('SERVICE_UNAVAILABLE', /apt-get install tesseract-ocr-tlh/));
      process.env.OCR_LANGUAGES = 'eng';
      process.env.TESSDATA_PREFIX = '/nowhere';
      await assert.rejects(read(image), refuses('SERVICE_UNAVAILABLE', /apt-get install tesseract-ocr-eng/));
      await warm();
    });

    test('a job whose caller left is not begun', async () => {
      const image = fixture('two-columns');
      const job: OcrJob = {
        kind: 'ocr',
        requestId: 'test',
        pageNumber: 1,
        width: image.width,
        height: image.height,
        dpi: DPI,
        languages: [],
      };
      await assert.rejects(handle(job, image.pixels, { ...context, signal: AbortSignal.abort() }), {
        name: 'AbortError',
      });
    });
  });

describe('a native engine', {
  skip: !nativeVersion() && !process.env.CI ? 'SKIPPED: no tesseract 5 is installed' : false,
}, () => {
  const options: ReadingOptions = { dpi: DPI, layout: 'page', threshold: 'global' };
  const hold = (pid: number) =>
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
      } catch {
        return [];
      }
    });

  test('reads the same from one process for all pages and from a process a page', async () => {
    const engines = [
      await NativeEngine.load(configuredLanguages(), true),
      await NativeEngine.load(configuredLanguages(), false),
    ] as const;
    for (const name of ['letter', 'two-columns', 'letter']) {
      const [stream, single] = [
        await engines[0].read(fixture(name), options),
        await engines[1].read(fixture(name), options),
      ];
      assert.ok(stream.length > 5);
      assert.deepEqual(stream, single);
    }
    for (const engine of engines) await engine.close();
  });

  test('leaves no pixels in any folder, nor in memory after the page', async () => {
    const before = readdirSync('/dev/shm');
    const added = () =>
      readdirSync('/dev/shm').filter((name) => /^parsemesh-(?!office-)/.test(name) && !before.includes(name));
    const engine = await NativeEngine.load(configuredLanguages());
    let wasRead = false;
    const reading = engine.read(fixture('letter'), options).finally(() => {
      wasRead = true;
    });
    // Another test process may have a file there, but only between its creation and its removal a moment later.
    while (added().length > 0 && !wasRead) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(wasRead, false, 'the page must have no name in the folder while it is read');
    await reading;
    assert.deepEqual(added(), []);
    const held = hold(process.pid).filter((path) => path.startsWith('/dev/shm/parsemesh'));
    assert.ok(
      held.every((path) => path.endsWith('(deleted)')),
      held.join(),
    );
    await engine.close();
  });

  test('a process that crashes inside a page fails that page, and the next one gets another', async () => {
    const engine = await NativeEngine.load(configuredLanguages());
    const reading = engine.read(fixture('letter'), options);
    // The newest child that reads a list: the worker's own engine may hold another.
    const child = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8')
      .trim()
      .split(' ')
      .map(Number)
      .findLast((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('stream_filelist'));
    assert.ok(child);
    process.kill(child, 'SIGSEGV');
    await assert.rejects(reading, { name: 'NativeEndError' });
    assert.ok((await engine.read(fixture('letter'), options)).length > 5);
    await engine.close();
  });
});
