// Checks the names, places and limits of the pictures of a document.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import sharp from 'sharp';
import { pngOf } from '#test/harness/documents/pictures.ts';
import { ParseError } from '../contract/errors.ts';
import type { RenderOptions } from '../contract/jobs.ts';
import { DOCUMENT_LIMITS } from '../contract/limits.ts';
import type { EmbeddedPicture } from '../contract/response.ts';
import type { ConvertedDocument, PagedBlock } from './document.ts';
import { PictureCollection } from './pictures.ts';
import { renderRecord } from './render.ts';

const OPTIONS: RenderOptions = {
  fields: ['markdown', 'images'],
  includeTags: [],
  excludeTags: [],
  onlyMainContent: true,
  blockAds: true,
  removeBase64Images: true,
  embeddedImages: true,
  pdf: { mode: 'auto', pages: false, blocks: false, pageMarkers: false },
};
const red = await pngOf(20, 10, 'red');
const blue = await pngOf(20, 10, 'blue');

function render(document: Partial<ConvertedDocument>, options: Partial<RenderOptions> = {}) {
  const complete: ConvertedDocument = { genre: 'document', html: '', metadata: {}, warnings: [], ...document };
  const { fields, warnings } = renderRecord(complete, { ...OPTIONS, ...options });
  return {
    ...fields,
    warnings,
    pictures: (fields.images ?? []).filter((one) => typeof one === 'object' && 'id' in one),
  };
}

const ids = (pictures: readonly EmbeddedPicture[]) => pictures.map(({ id }) => id);
const img = (src: string, alt = '') => `<p><img src="${src}" alt="${alt}"></p>`;

test('names pictures in the order of the output, and reads only those that it shows', () => {
  const pictures = new PictureCollection();
  const hidden = pictures.add('hidden', () => assert.fail('a picture that is not shown must not be read'));
  const second = pictures.add('second', () => blue);
  const first = pictures.add('first', () => red);
  const { markdown, pictures: sent } = render({
    html: `<footer>${img(hidden)}</footer>${img(first, 'A')}${img(second)}${img(first, 'B')}`,
    pictures,
  });
  assert.equal(markdown, '![A](image-1.png)\n\n![](image-2.png)\n\n![B](image-1.png)');
  assert.deepEqual(
    sent.map(({ id, alt, base64 }) => [id, alt, base64]),
    [
      ['image-1.png', 'A', red.toString('base64')],
      ['image-2.png', undefined, blue.toString('base64')],
    ],
  );
});

test('sends equal bytes once, also from different parts of the file', () => {
  const pictures = new PictureCollection();
  const html = img(pictures.add('a', () => red)) + img(pictures.add('b', () => Buffer.from(red)));
  const { markdown, pictures: sent } = render({ html, pictures });
  assert.equal(markdown, '![](image-1.png)\n\n![](image-1.png)');
  assert.equal(sent.length, 1);
});

test('leaves out pictures that cannot be read or are of an unknown type, with one warning', () => {
  const pictures = new PictureCollection();
  const damaged = pictures.add('damaged', () => {
    throw new ParseError('DOCUMENT_CORRUPT');
  });
  const unknown = pictures.add('unknown', () => Buffer.from('words'));
  const { markdown, pictures: sent, warnings } = render({ html: img(damaged, 'map') + img(unknown), pictures });
  assert.equal(markdown, '![map]()');
  assert.deepEqual(sent, []);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? '', /^2 pictures inside the document were left out/);
});

test('leaves out a picture above the limit of one picture', () => {
  const pictures = new PictureCollection();
  const large = Buffer.concat([red, Buffer.alloc(DOCUMENT_LIMITS.pictureBytes)]);
  const html =
    img(
      pictures.add('large', () => large),
      'large',
    ) + img(pictures.add('red', () => red));
  const { markdown, warnings } = render({ html, pictures });
  assert.equal(markdown, '![large]()\n\n![](image-1.png)');
  assert.match(warnings[0] ?? '', /^1 picture inside the document was left out/);
});

test('stops at the limit of all pictures, and does not read the rest', () => {
  const pictures = new PictureCollection();
  const size = DOCUMENT_LIMITS.pictureBytes;
  const count = Math.ceil(DOCUMENT_LIMITS.picturesBytes / size) + 2;
  let read = 0;
  const html = Array.from({ length: count }, (_, index) =>
    img(
      pictures.add(`${index}`, () => {
        read++;
        const bytes = Buffer.alloc(size, index);
        red.copy(bytes);
        return bytes;
      }),
    ),
  ).join('');
  const { pictures: sent, warnings } = render({ html, pictures });
  assert.equal(sent.length, Math.floor(DOCUMENT_LIMITS.picturesBytes / size));
  assert.equal(read, sent.length);
  assert.match(warnings[0] ?? '', new RegExp(`^${count - sent.length} pictures`));
});

test('stops at the limit of the number of pictures', async () => {
  const pictures = new PictureCollection();
  const count = DOCUMENT_LIMITS.pictures + 3;
  // The bytes after the end of a GIF make each file different.
  const gif = await sharp(red).gif().toBuffer();
  const html = Array.from({ length: count }, (_, index) =>
    img(pictures.add(`${index}`, () => Buffer.concat([gif, Buffer.from(String(index))]))),
  ).join('');
  const { pictures: sent, warnings } = render({ html, pictures });
  assert.equal(sent.length, DOCUMENT_LIMITS.pictures);
  assert.match(warnings[0] ?? '', /^3 pictures/);
});

test('gives pictures of a paged document their page and place, and keeps spans exact', () => {
  const pictures = new PictureCollection();
  const block = (html: string, more: Partial<PagedBlock> = {}): PagedBlock => ({
    type: 'figure',
    label: null,
    html,
    bbox: [0.1, 0.2, 0.3, 0.4],
    source: 'native_text',
    confidence: { layout: 0.9, ocr: null },
    furniture: false,
    ...more,
  });
  const logo = block(`<figure><img src="${pictures.add('logo', () => blue)}"></figure>`, { furniture: true });
  const figure = block(`<figure><img src="${pictures.add('figure', () => red)}" alt="Sea"></figure>`);
  const page = { width: null, height: null, status: 'ok' as const };
  const document = {
    pages: [
      { ...page, pageNumber: 4, blocks: [logo, block('<p>Words</p>', { type: 'text' }), figure] },
      { ...page, pageNumber: 5, blocks: [logo, figure] },
    ],
    pictures,
  };
  const plain = render(document, { fields: ['markdown', 'images', 'html', 'rawHtml'] });
  assert.equal(plain.markdown, 'Words\n\n![Sea](image-1.png)\n\n![Sea](image-1.png)');
  assert.deepEqual(
    plain.pictures.map(({ id, page: number, bbox }) => [id, number, bbox]),
    [['image-1.png', 4, [0.1, 0.2, 0.3, 0.4]]],
  );
  for (const html of [plain.html ?? '', plain.rawHtml ?? '']) {
    assert.match(html, /src="image-1\.png"/);
    assert.doesNotMatch(html, /picture:/);
  }
  const all = render(document, { fields: ['markdown', 'images', 'blocks'] });
  assert.deepEqual(ids(all.pictures), ['image-1.png', 'image-2.png']);
  for (const { items } of all.blocks ?? [])
    for (const { content, markdownSpan } of items)
      if (markdownSpan) assert.equal(all.markdown?.slice(...markdownSpan), content);
  assert.equal(all.blocks?.[0]?.items[0]?.content, '![](image-1.png)');
});

test('replaces references in Markdown that a converter wrote, but not the same words in the text', () => {
  const pictures = new PictureCollection();
  const address = pictures.add('a', () => red);
  const { markdown, pictures: sent } = render({
    markdown: `| picture:0 |\n\n![x](${address})\n\n![y](picture:7)`,
    pictures,
  });
  assert.equal(markdown, '| picture:0 |\n\n![x](image-1.png)\n\n![y](picture:7)');
  assert.deepEqual(ids(sent), ['image-1.png']);
});

test('does not take an address in an uploaded web page for a picture of the document', () => {
  const { markdown, pictures: sent } = render({ genre: 'webpage', html: img('picture:0', 'x') });
  assert.equal(markdown, '![x](picture:0)');
  assert.deepEqual(sent, []);
});
