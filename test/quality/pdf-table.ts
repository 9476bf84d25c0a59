// The table that PDF reading is judged by: what the peers reach on the same files, as published, beside rows measured now.
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { printTable } from '../bench/table.ts';

const COLUMNS = [
  'engine',
  'rendered overall',
  'NID',
  'TEDS',
  'MHS',
  'reports of 4-9 pages',
  'ICDAR-2013 TEDS',
  'adjacency F1',
  'olmOCR, text layer',
  'CPU ms a page',
] as const;

/**
 * As the project's PDF issue published them: dev / held-out of the corpora, measured once on one machine with the engines of that day
 * (pymupdf4llm 1.28.2 with its layout model, pdf-inspector 1.25). Their CPU ms compare with each other, not with what is measured now:
 * `npm run bench -- pdf` measures all in one run.
 */
const PUBLISHED: readonly (readonly string[])[] = [
  [
    'pymupdf4llm + layout model',
    '.894/.900',
    '-',
    '.831/.777',
    '.812/.847',
    '.825/.826',
    '.853/.893',
    '.899/.925',
    '-',
    '304',
  ],
  ['liteparse', '.891/.879', '-', '.585/.496', '.906/.862', '.793/.759', '.587/.706', '.694/.830', '-', '3.0'],
  ['pdf-inspector', '.825/.862', '-', '.447/.555', '.831/.800', '.706/.732', '.527/.583', '.624/.632', '-', '2.7'],
  ['opendataloader', '.842/.804', '-', '.288/.088', '.888/.868', '.550/.553', '.569/.546', '.591/.588', '-', '-'],
  ['markitdown', '.453/.565', '-', '.2/.3', '0', '.39/.34', '.32/.36', '.42', '-', '87'],
  ['pdfjs getTextContent alone', '.494/.551', '-', '0', '0', '.315', '0', '0', '-', '7.5'],
  ['best peer per document', '.966/.952', '-', '-', '-', '.865/.843', '-', '.956/.975', '28 of 46', '-'],
  ['the goal', '.93', '.965', '.85', '.92', '.87', '.90', '.94', '34 of 46', '7'],
];

const share = z.number().nullable();
const counted = z.object({ pass: z.number(), n: z.number() });
const scoreFile = z.object({
  scores: z.record(
    z.string(),
    z.object({
      rendered: z.object({ overall: share, nid: share, teds: share, mhs: share }).optional(),
      long: z.object({ overall: share }).optional(),
      icdar2013: z.object({ teds: share, adj_f1: share }).optional(),
      olmocr: z.object({ born_digital: counted }).optional(),
    }),
  ),
});

export interface MeasuredEngine {
  name: string;
  /** What the corpus' score.py wrote. */
  scores: string;
}

const figure = (value: number | null | undefined) =>
  value === null || value === undefined ? '-' : value.toFixed(3).replace(/^0/, '');

function row({ name, scores }: MeasuredEngine): string[] {
  const { dev } = scoreFile.parse(JSON.parse(readFileSync(scores, 'utf8'))).scores;
  const { rendered, long, icdar2013, olmocr } = dev ?? {};
  return [
    `${name}, now (dev)`,
    ...[rendered?.overall, rendered?.nid, rendered?.teds, rendered?.mhs, long?.overall, icdar2013?.teds].map(figure),
    figure(icdar2013?.adj_f1),
    olmocr ? `${olmocr.born_digital.pass} of ${olmocr.born_digital.n}` : '-',
    'see bench',
  ];
}

export function printPdfTable(measured: readonly MeasuredEngine[]): void {
  printTable('PDF, dev / held-out', COLUMNS, [...PUBLISHED, ...measured.map(row)]);
}
