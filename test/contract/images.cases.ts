// Checks image files (docs/api.md, "Images"): pages, sizes, modes, metadata, credits, and wrong names.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { parse } from '../harness/client.ts';
import { type ImageExtension, type Picture, png, printedPage, tiff, toSharp } from '../harness/documents/images.ts';
import { CONTENT, pdf, sample } from '../harness/documents.ts';
import { type ContractCase, expectError, expectErrorThenServing, expectSuccess } from './contract-case.ts';

const page = (title: string): Promise<Picture> =>
  printedPage({ title, paragraphs: ['The keeper counted the boats.'], table: [] });
const TITLES = ['First watch', 'Second watch', 'Third watch'] as const;

/** Three pages, with a smaller copy of the first between them that is no page. */
async function watches(): Promise<Buffer> {
  const [first, second, third] = await Promise.all(TITLES.map(page));
  assert.ok(first && second && third);
  const small = { width: 8, height: 8, pixels: new Uint8Array(64), subfileType: 1 };
  return tiff([first, small, second, third].map((picture) => ({ dpi: { x: 200, y: 200 }, ...picture })));
}

const parser = (fields: object) => ({ parsers: [{ type: 'pdf', ...fields }] });

const EXTENSIONS: readonly ImageExtension[] = ['.png', '.jpg', '.tif', '.webp', '.bmp', '.gif'];

const wrongNames: ContractCase[] = EXTENSIONS.flatMap((extension) =>
  ['.docx', '.pdf', extension === '.png' ? '.gif' : '.png'].map(
    (name): ContractCase => ({
      name: `reads ${extension} content named ${name} by its content`,
      run: async (product) => {
        const { bytes } = await sample(extension);
        const request = { file: bytes, fileName: `page${name}`, options: parser({ mode: 'fast' }) };
        const { metadata } = await expectSuccess(product, request);
        const own = await expectSuccess(product, { ...request, fileName: `page${extension}` });
        assert.equal(metadata.contentType, own.metadata.contentType);
        assert.match(metadata.contentType ?? '', /^image\//);
      },
    }),
  ),
);

export const cases: ContractCase[] = [
  ...wrongNames,
  {
    name: 'reads a PDF named .png as a PDF',
    run: async (product) => {
      const file = await pdf([{ title: CONTENT.title, lines: CONTENT.paragraphs }]);
      const { metadata, markdown } = await expectSuccess(product, { file, fileName: 'page.png' });
      assert.equal(metadata.contentType, 'application/pdf');
      assert.match(markdown ?? '', /seventeen herons/);
    },
  },
  {
    name: 'each image of a TIFF is a page: `pages`, `pageMarkers`, `numPages` and `totalPages`; a document costs 1 credit',
    run: async (product) => {
      const data = await expectSuccess(product, {
        file: await watches(),
        fileName: 'log.tiff',
        options: parser({ pages: true, pageMarkers: true }),
      });
      assert.deepEqual(
        data.pages?.map(({ pageNumber, markdown }) => [pageNumber, markdown.split('\n', 1)[0]?.replace(/^#+ /, '')]),
        TITLES.map((title, n) => [n + 1, title]),
      );
      assert.match(data.markdown ?? '', /\n---\n\n<!-- page 2 -->\n\n#+ Second watch/);
      assert.deepEqual([data.metadata.numPages, data.metadata.totalPages, data.metadata.creditsUsed], [3, 3, 1]);
    },
  },
  {
    name: 'reads a fax whose resolution differs across and down, with its table',
    run: async (product) => {
      const file = await readFile(new URL('../../fixtures/tiff/group3-204-by-98-dpi.tif', import.meta.url));
      const data = await expectSuccess(product, { file, fileName: 'fax.tif' });
      for (const words of ['Harbour report', 'seventeen herons', 'before the storm'])
        assert.ok(data.markdown?.includes(words), data.markdown);
      assert.match(data.markdown ?? '', /\| *Kittiwake *\| *57 *\|/);
    },
  },
  {
    name: '`maxPages` limits the pages of a TIFF',
    run: async (product) => {
      const data = await expectSuccess(product, {
        file: await watches(),
        fileName: 'log.tiff',
        options: parser({ maxPages: 1 }),
      });
      assert.doesNotMatch(data.markdown ?? '', /Second/);
      assert.deepEqual([data.metadata.numPages, data.metadata.totalPages], [1, 3]);
    },
  },
  {
    name: '`blocks` of an image have its size in pixels as displayed, with the Exif orientation applied',
    run: async (product) => {
      const picture = await page('First watch');
      const turned = await toSharp(picture)
        .rotate(270)
        .toColourspace('b-w')
        .withMetadata({ orientation: 6 })
        .jpeg()
        .toBuffer();
      for (const mode of ['auto', 'fast']) {
        const data = await expectSuccess(product, {
          file: turned,
          fileName: 'photo.jpg',
          options: parser({ blocks: true, mode }),
        });
        const [block] = data.blocks ?? [];
        assert.deepEqual([block?.width, block?.height, block?.status], [picture.width, picture.height, 'ok']);
        if (mode === 'fast') continue;
        const [, top = 1] = block?.items[0]?.bbox ?? [];
        assert.ok(top < 0.3, 'the title is at the top of the displayed page');
        assert.equal(block?.items[0]?.source, 'layout_ocr');
      }
    },
  },
  {
    name: 'mode `fast` returns 200 with empty Markdown and a warning for an image, as for a scanned PDF',
    run: async (product) => {
      const { bytes, fileName } = await sample('.png');
      const data = await expectSuccess(product, { file: bytes, fileName, options: parser({ mode: 'fast' }) });
      assert.equal(data.markdown, '');
      assert.match(data.warning ?? '', /page 1 has no text layer; use mode auto or ocr/);
    },
  },
  {
    name: 'the metadata of an image hold its descriptions, and never the place where it was taken',
    run: async (product) => {
      const file = await toSharp(await page('First watch'))
        .withExif({
          IFD0: { ImageDescription: 'Log of the lighthouse', Artist: 'A. Keeper' },
          IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 3230/100' },
        })
        .jpeg()
        .toBuffer();
      const { metadata } = await expectSuccess(product, { file, fileName: 'photo.jpeg' });
      assert.deepEqual(
        [metadata.title, metadata.description, metadata.author],
        ['First watch', 'Log of the lighthouse', 'A. Keeper'],
      );
      assert.doesNotMatch(JSON.stringify(metadata), /gps|latitude|3230/i);
    },
  },
  {
    name: 'a truncated image is read as far as possible: the page is `partial`, with a warning',
    run: async (product) => {
      const picture = await page('First watch');
      const file = tiff([{ dpi: { x: 200, y: 200 }, ...picture }]);
      const data = await expectSuccess(product, {
        file: file.subarray(0, Math.round(file.length * 0.6)),
        fileName: 'cut.tiff',
        options: parser({ blocks: true }),
      });
      assert.match(data.markdown ?? '', /First watch/);
      assert.equal(data.blocks?.[0]?.status, 'partial');
      assert.match(data.warning ?? '', /page 1 is damaged: only a part of it could be read/);
    },
  },
  {
    name: 'an animation is read as its first image, with a warning',
    run: async (product) => {
      const [first, second] = await Promise.all([page('First watch'), page('Second watch')]);
      assert.ok(first && second);
      const stacked = { ...first, height: first.height * 2, pixels: Buffer.concat([first.pixels, second.pixels]) };
      const file = await toSharp(stacked, first.height)
        .gif({ delay: [100, 100] })
        .toBuffer();
      const data = await expectSuccess(product, { file, fileName: 'film.gif' });
      assert.match(data.markdown ?? '', /First watch/);
      assert.doesNotMatch(data.markdown ?? '', /Second/);
      assert.match(data.warning ?? '', /animation of 2 images: only the first was read/);
    },
  },
  {
    name: 'returns 422 DOCUMENT_TOO_COMPLEX for an image of 100,000 x 100,000 pixels in a small file',
    run: (product) =>
      expectErrorThenServing(
        product,
        parse(product, { file: png(100_000, 100_000), fileName: 'bomb.png' }),
        422,
        'DOCUMENT_TOO_COMPLEX',
        /100000 x 100000 pixels/,
      ),
  },
  {
    name: 'returns 422 DOCUMENT_CORRUPT for an image of which nothing can be decoded',
    run: async (product) => {
      const { bytes } = await sample('.webp');
      await expectError(product, { file: bytes.subarray(0, 2_000), fileName: 'cut.webp' }, 422, 'DOCUMENT_CORRUPT');
      await expectError(product, { file: png(50, 50), fileName: 'empty.png' }, 422, 'DOCUMENT_CORRUPT');
    },
  },
  {
    name: 'returns 400 for an SVG, under its own name and under that of an image',
    run: async (product) => {
      const file = '<svg xmlns="http://www.w3.org/2000/svg"><text y="20">herons</text></svg>';
      for (const fileName of ['drawing.svg', 'drawing.png'])
        await expectError(product, { file, fileName }, 400, 'UNSUPPORTED_FILE_TYPE');
    },
  },
];
