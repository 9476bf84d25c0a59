// Provides the PDF files of the tests of parsers and blocks.
import { readFile } from 'node:fs/promises';
import { pdf } from '../harness/documents.ts';
import type { Product } from '../harness/product.ts';
import { type Data, expectSuccess } from './contract-case.ts';

/** Reads `fixtures/pdf/NAME`. */
export const readPdfFixture = (name: string) => readFile(new URL(`../../fixtures/pdf/${name}`, import.meta.url));

export const THREE_PAGE_PDF = pdf(
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

/** Parses the three-page PDF with these parser fields and options. */
export async function parseThreePagePdf(
  product: Product,
  parser: Record<string, unknown> = {},
  options: Record<string, unknown> = {},
): Promise<Data> {
  return expectSuccess(product, {
    file: await THREE_PAGE_PDF,
    fileName: 'log.pdf',
    options: { parsers: [{ type: 'pdf', ...parser }], ...options },
  });
}

/** Parses the scanned PDF with this mode and these parser fields. */
export const parseScannedPdf = async (product: Product, mode: string, parser: Record<string, unknown> = {}) =>
  expectSuccess(product, {
    file: await readPdfFixture('scanned-harbour-report.pdf'),
    fileName: 'scan.pdf',
    options: { parsers: [{ type: 'pdf', mode, ...parser }] },
  });

/** One sentence of each page of the three-page PDF. */
export const PAGE_SENTENCES = [
  'First page, first paragraph.',
  'Second page words stand here.',
  'Third page ends the log.',
];
