// Checks docs/api.md, "Pictures inside the document": the images format with `embedded`, for every format that holds pictures.
import assert from 'node:assert/strict';
import { Firecrawl } from 'firecrawl';
import { PDFDocument } from 'pdf-lib';
import type { EmbeddedPicture, LinkedImage } from '#shared/contract/response.ts';
import { documentsWithPictures, type Pictures, picturesDocx, pngOf } from '../harness/documents/pictures.ts';
import type { Product } from '../harness/product.ts';
import { type ContractCase, type Data, expectError, expectSuccess, htmlPage } from './contract-case.ts';

const EMBEDDED = ['markdown', { type: 'images', embedded: true }];

const pictures = async (): Promise<Pictures> => ({
  alt: 'A boat & its crew',
  boat: await pngOf(40, 30, '#205080'),
  map: await pngOf(64, 48, '#e0c080'),
});

/** The items of `images`, of which each must be an object. */
function imagesOf(data: Data): (EmbeddedPicture | LinkedImage)[] {
  return (data.images ?? []).map((item) => {
    assert.ok(typeof item === 'object', 'with `embedded`, each image is an object');
    return item;
  });
}

const picturesOf = (data: Data): EmbeddedPicture[] => imagesOf(data).filter((item) => 'id' in item);
const referencesOf = (markdown: string): string[] =>
  [...markdown.matchAll(/!\[[^\]]*\]\(([^)]*)\)/g)].map(([, id]) => id ?? '');

async function expectPictures(product: Product, document: { fileName: string; file: Buffer }): Promise<void> {
  const { boat, map, alt } = await pictures();
  const data = await expectSuccess(product, { ...document, options: { formats: EMBEDDED } });
  const found = picturesOf(data);
  assert.deepEqual(
    found.map(({ id, mimeType, width, height }) => [id, mimeType, width, height]),
    [
      ['image-1.png', 'image/png', 40, 30],
      ['image-2.png', 'image/png', 64, 48],
    ],
  );
  assert.deepEqual(
    found.map(({ base64 }) => Buffer.from(base64, 'base64')),
    [boat, map],
  );
  assert.equal(found[0]?.alt, alt);
  assert.deepEqual(referencesOf(data.markdown ?? ''), ['image-1.png', 'image-1.png', 'image-2.png']);
  if (document.fileName.endsWith('.pptx'))
    assert.deepEqual(
      found.map(({ page }) => page),
      [1, 2],
    );
}

export const cases: ContractCase[] = [
  {
    name: 'images with `embedded` returns the pictures of office, EPUB and HTML files, once each, with references in the Markdown',
    run: async (product) => {
      for (const document of documentsWithPictures(await pictures())) await expectPictures(product, document);
    },
  },
  {
    name: 'images without `embedded` returns URLs, and the Markdown has placeholders',
    run: async (product) => {
      for (const embedded of [undefined, false])
        for (const document of documentsWithPictures(await pictures())) {
          const data = await expectSuccess(product, {
            ...document,
            options: { formats: ['markdown', { type: 'images', ...(embedded === undefined ? {} : { embedded }) }] },
          });
          assert.deepEqual(data.images, [], document.fileName);
          assert.doesNotMatch(data.markdown ?? '', /image-\d|picture:/, document.fileName);
        }
    },
  },
  {
    name: 'images with `embedded` returns linked images as `{url}` in document order, and keeps their URLs in the Markdown',
    run: async (product) => {
      const { boat } = await pictures();
      const data = await expectSuccess(product, {
        ...htmlPage(
          `<img src="/first.png" alt="one"><img src="data:image/png;base64,${boat.toString('base64')}" alt="two"><img src="https://example.com/last.png">`,
          '<base href="https://example.com/folder/">',
        ),
        options: { formats: [...EMBEDDED, 'html'] },
      });
      assert.deepEqual(
        imagesOf(data).map((item) => ('id' in item ? item.id : item.url)),
        ['https://example.com/first.png', 'image-1.png', 'https://example.com/last.png'],
      );
      assert.deepEqual(referencesOf(data.markdown ?? ''), [
        'https://example.com/first.png',
        'image-1.png',
        'https://example.com/last.png',
      ]);
      assert.match(data.html ?? '', /<img src="image-1\.png" alt="two">/);
    },
  },
  {
    name: 'images with `embedded` leaves out a picture that is not shown, and a damaged one with a warning',
    run: async (product) => {
      const { boat } = await pictures();
      const image = (bytes: Buffer, alt: string) =>
        `<p><img src="data:image/png;base64,${bytes.toString('base64')}" alt="${alt}"></p>`;
      const data = await expectSuccess(product, {
        ...htmlPage(
          `<header>${image(await pngOf(9, 9, 'red'), 'logo')}</header><main><h1>Boats</h1>${image(boat, 'boat')}${image(Buffer.from('no picture'), 'broken')}${image(await pngOf(1, 1, 'red'), 'pixel')}</main>`,
        ),
        options: { formats: EMBEDDED },
      });
      assert.equal(picturesOf(data).length, 1);
      assert.equal(data.markdown, '# Boats\n\n![boat](image-1.png)\n\n![broken]()\n\n![pixel]()');
      assert.match(data.warning ?? '', /1 picture inside the document was left out/);
    },
  },
  {
    name: 'images with `embedded` gives no picture the name of another file of the document',
    run: async (product) => {
      const { boat } = await pictures();
      const data = await expectSuccess(product, {
        ...htmlPage(`<img src="image-1.png"><img src="data:image/png;base64,${boat.toString('base64')}">`),
        options: { formats: EMBEDDED },
      });
      assert.deepEqual(
        picturesOf(data).map(({ id }) => id),
        ['image-2.png'],
      );
    },
  },
  {
    name: 'images with `embedded` together with redactPII returns 400',
    run: async (product) => {
      const body = await expectError(
        product,
        { ...picturesDocx(await pictures()), options: { formats: EMBEDDED, redactPII: true } },
        400,
        'BAD_REQUEST',
      );
      assert.match(body.error, /embedded/);
      assert.equal(body.details?.[0]?.path, 'formats');
    },
  },
  {
    name: 'images with `embedded` works together with a summary',
    run: async (product) => {
      const data = await expectSuccess(product, {
        ...picturesDocx(await pictures()),
        options: { formats: [...EMBEDDED, 'summary'] },
      });
      assert.equal(picturesOf(data).length, 2);
      assert.equal(typeof data.summary, 'string');
    },
  },
  {
    name: 'npm `firecrawl` passes the pictures of images with `embedded` through',
    run: async (product) => {
      const { fileName, file } = picturesDocx(await pictures());
      // The types of the package know URLs only.
      const formats = EMBEDDED as unknown as 'markdown'[];
      const client = new Firecrawl({ apiKey: product.key, apiUrl: product.url });
      const document = await client.parse({ data: file, filename: fileName }, { formats });
      assert.equal(document.images?.length, 2);
      assert.match(document.markdown ?? '', /!\[[^\]]*\]\(image-1\.png\)/);
    },
  },
  {
    name: 'images with `embedded` returns the pictures of a PDF with page and place, and the references agree in Markdown, pages and blocks',
    run: async (product) => {
      const { boat, map } = await pictures();
      const document = await PDFDocument.create();
      const [first, second] = [await document.embedPng(boat), await document.embedPng(map)];
      const one = document.addPage([400, 400]);
      one.drawText('The boat lies in the harbour.', { x: 40, y: 360, size: 12 });
      one.drawImage(first, { x: 40, y: 200, width: 80, height: 60 });
      document.addPage([400, 400]).drawImage(second, { x: 100, y: 100, width: 200, height: 100 });
      const data = await expectSuccess(product, {
        file: Buffer.from(await document.save()),
        fileName: 'pictures.pdf',
        options: { formats: EMBEDDED, parsers: [{ type: 'pdf', mode: 'fast', pages: true, blocks: true }] },
      });
      assert.deepEqual(
        picturesOf(data).map(({ id, page, bbox, width, height }) => [id, page, bbox, width, height]),
        [
          ['image-1.png', 1, [0.1, 0.35, 0.3, 0.5], 40, 30],
          ['image-2.png', 2, [0.25, 0.5, 0.75, 0.75], 64, 48],
        ],
      );
      const { markdown = '' } = data;
      assert.equal(markdown, 'The boat lies in the harbour.\n\n![](image-1.png)\n\n![](image-2.png)');
      assert.equal(data.pages?.[1]?.markdown, '![](image-2.png)');
      for (const { content, markdownSpan } of (data.blocks ?? []).flatMap(({ items }) => items))
        assert.equal(markdownSpan && markdown.slice(...markdownSpan), content);
    },
  },
  {
    name: 'images with `embedded` returns no picture for an uploaded image file',
    run: async (product) => {
      const data = await expectSuccess(product, {
        file: await pngOf(300, 200, 'white'),
        fileName: 'scan.png',
        options: { formats: EMBEDDED },
      });
      assert.deepEqual(data.images, []);
    },
  },
];
