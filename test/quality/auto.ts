// Compares the source that mode auto uses for each page with the expected source in auto-pages.ts.
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { ParseResponse } from '#shared/contract/response.ts';
import { parse, successData } from '../harness/client.ts';
import type { Product } from '../harness/product.ts';
import { AUTO_PAGES, type PageSource } from './auto-pages.ts';

type Block = NonNullable<ParseResponse['data']['blocks']>[number];

/** The source that the product used for a page. */
function sourceOf({ items }: Block): PageSource {
  const sources = new Set(items.filter((item) => item.content !== '').map((item) => item.source));
  if (sources.size === 0) return 'nothing';
  if (!sources.has('native_text')) return 'ocr';
  return sources.has('layout_ocr') ? 'pictures' : 'text';
}

const matches = (found: PageSource | undefined, expected: PageSource): boolean =>
  found === expected || (expected === 'text' && found === 'pictures');

/** Prints each page with an unexpected source, and sets the exit code to 1 if there is one. */
export async function checkAutoPages(corpora: string, product: Pick<Product, 'url' | 'key'>): Promise<void> {
  let correct = 0;
  let total = 0;
  for (const [path, expected] of Object.entries(AUTO_PAGES)) {
    const file = readFileSync(join(corpora, path));
    const options = {
      timeout: 240_000,
      onlyMainContent: false,
      parsers: [{ type: 'pdf', mode: 'auto', blocks: true }],
    };
    const data = successData(
      await parse(product, { file, fileName: basename(path), options, clientTimeoutMs: 250_000 }),
    );
    const found = data.blocks?.map(sourceOf) ?? [];
    if (found.length !== expected.length) console.log(`${path}: ${found.length} pages, ${expected.length} expected`);
    expected.forEach((source, index) => {
      total += 1;
      if (matches(found[index], source)) correct += 1;
      else console.log(`${path}, page ${index + 1}: ${found[index] ?? 'missing'}, expected ${source}`);
    });
    if (found.length > expected.length) total += found.length - expected.length;
  }
  console.log(`mode auto: ${correct} of ${total} pages are read from the expected source`);
  if (correct < total) process.exitCode = 1;
}
