// Asks mode auto for each page of the development files that mix text and scans, and holds its choice against the table of what a reader would take.
import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { ParseResponse } from '#shared/contract/response.ts';
import { wrapScan } from '../corpora/scan.ts';
import { parse, successData } from '../harness/client.ts';
import type { Product } from '../harness/product.ts';
import { AUTO_PAGES, type PageSource } from './auto-pages.ts';

type Block = NonNullable<ParseResponse['data']['blocks']>[number];

/** What a page of the answer was taken from. */
function sourceOf({ items }: Block): PageSource {
  const sources = new Set(items.filter((item) => item.content !== '').map((item) => item.source));
  if (sources.size === 0) return 'nothing';
  if (!sources.has('native_text')) return 'ocr';
  return sources.has('layout_ocr') ? 'pictures' : 'text';
}

const agrees = (found: PageSource | undefined, expected: PageSource): boolean =>
  found === expected || (expected === 'text' && found === 'pictures');

/** Prints every page whose source is not the expected one; the process fails where there is one. */
export async function checkAutoPages(corpora: string, product: Pick<Product, 'url' | 'key'>): Promise<void> {
  let right = 0;
  let all = 0;
  for (const [path, expected] of Object.entries(AUTO_PAGES)) {
    const bytes = readFileSync(join(corpora, path));
    const file = path.endsWith('.pdf') ? bytes : await wrapScan(bytes, extname(path));
    const options = {
      timeout: 240_000,
      onlyMainContent: false,
      parsers: [{ type: 'pdf', mode: 'auto', blocks: true }],
    };
    const data = successData(await parse(product, { file, fileName: 'page.pdf', options, patienceMs: 250_000 }));
    const found = data.blocks?.map(sourceOf) ?? [];
    if (found.length !== expected.length) console.log(`${path}: ${found.length} pages, ${expected.length} expected`);
    expected.forEach((source, index) => {
      all += 1;
      if (agrees(found[index], source)) right += 1;
      else console.log(`${path}, page ${index + 1}: ${found[index] ?? 'not there'}, expected ${source}`);
    });
    if (found.length > expected.length) all += found.length - expected.length;
  }
  console.log(`mode auto: ${right} of ${all} pages are taken from where a reader would`);
  if (right < all) process.exitCode = 1;
}
