// The PDF files that the rows on parsers and blocks ask about, made once.
import { readFile } from 'node:fs/promises';
import { pdf } from '../harness/documents.ts';
import type { Product } from '../harness/product.ts';
import { type Data, parsed } from './row.ts';

export const fixture = (name: string) => readFile(new URL(`../../fixtures/pdf/${name}`, import.meta.url));

export const LOG = pdf(
  [
    { title: 'Harbour log', lines: ['First page, first paragraph.', 'First page, second paragraph.'] },
    {
      lines: ['Second page words stand here.'],
      table: [
        ['Boat', 'Length'],
        ['Petrel', '42'],
      ],
    },
    { title: 'Closing', lines: ['Third page ends the log.'] },
  ],
  { title: 'Harbour log of 1902' },
);

/** Parses the three-page log with these parser fields and options. */
export async function log(
  product: Product,
  parser: Record<string, unknown> = {},
  options: Record<string, unknown> = {},
): Promise<Data> {
  return parsed(product, {
    file: await LOG,
    fileName: 'log.pdf',
    options: { parsers: [{ type: 'pdf', ...parser }], ...options },
  });
}

export const scan = async (product: Product, mode: string, parser: Record<string, unknown> = {}) =>
  parsed(product, {
    file: await fixture('scanned-harbour-report.pdf'),
    fileName: 'scan.pdf',
    options: { parsers: [{ type: 'pdf', mode, ...parser }] },
  });

export const SENTENCES = ['First page, first paragraph.', 'Second page words stand here.', 'Third page ends the log.'];
