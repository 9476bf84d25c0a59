// Tests that mode auto uses the text layer of a page if it matches the visible text, and OCR otherwise.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { ParseResponse } from '#shared/contract/response.ts';
import { parse, successData } from '../harness/client.ts';
import { TEXT_LAYER_PAGES, textLayers } from '../harness/documents/text-layers.ts';
import { type Product, startProduct } from '../harness/product.ts';

type Data = ParseResponse['data'];

describe('mode auto', () => {
  let product: Product;
  let auto: Data;
  const parseLayers = async (mode: string): Promise<Data> => {
    const options = { parsers: [{ type: 'pdf', mode, blocks: true, pages: true }] };
    return successData(await parse(product, { file: await textLayers(), fileName: 'layers.pdf', options }));
  };
  before(async () => {
    product = await startProduct({ transport: 'memory' });
    auto = await parseLayers('auto');
  });
  after(() => product?.stop());

  for (const [index, { name, source, texts, otherTexts = [], absent = [] }] of TEXT_LAYER_PAGES.entries())
    test(`${name}: ${source === null ? 'no blocks' : `the source is ${source}`}`, () => {
      const page = auto.blocks?.[index];
      assert.equal(page?.status, 'ok');
      const shown = JSON.stringify(page.items.map((item) => [item.source, item.content]));
      const other = source === 'native_text' ? 'layout_ocr' : 'native_text';
      const itemsWith = (words: string) => page.items.filter((item) => item.content.includes(words));
      const expected = [...texts.map((words) => [words, source]), ...otherTexts.map((words) => [words, other])];
      for (const [words = '', from] of expected as [string, string | null][])
        assert.deepEqual(
          itemsWith(words).map((item) => item.source),
          [from],
          `"${words}" in ${shown}`,
        );
      for (const words of absent) assert.deepEqual(itemsWith(words), [], shown);
      if (source === null) assert.deepEqual(page.items, []);
      for (const item of page.items)
        assert.equal(item.confidence.ocr === null, item.source === 'native_text' || item.content === '', shown);
      // OCR reads a rendered picture, and the boxes of the blocks are relative to its size.
      if (source === 'layout_ocr') assert.ok((page.width ?? 0) > 0 && (page.height ?? 0) > 0);
    });

  test('mode fast uses no OCR, and its warning names the pages that need it', async () => {
    const fast = await parseLayers('fast');
    for (const page of fast.blocks ?? [])
      for (const item of page.items) assert.equal(item.source, 'native_text', item.content);
    for (const name of [
      'a scan without a text layer',
      'a Type 3 font without ToUnicode',
      'a scan with a hidden text layer full of OCR errors',
    ]) {
      const number = TEXT_LAYER_PAGES.findIndex((page) => page.name === name) + 1;
      assert.match(fast.warning ?? '', new RegExp(`\\bpage ${number} (?:(?!page \\d).)*use mode auto or ocr`), name);
    }
  });
});
