// Prints the scores of PDF reading: published figures of other engines and the figures of this run.
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
  'CPU ms per page',
] as const;

/**
 * Scores on the dev and the held-out part of the corpora, measured once on one machine (pymupdf4llm 1.28.2 with its layout model,
 * pdf-inspector 1.25). The CPU times can be compared with each other only. `npm run bench -- pdf` measures all engines in one run.
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
  ['pdfjs getTextContent only', '.494/.551', '-', '0', '0', '.315', '0', '0', '-', '7.5'],
  ['best engine per document', '.966/.952', '-', '-', '-', '.865/.843', '-', '.956/.975', '28 of 46', '-'],
  ['goal', '.93', '.965', '.85', '.92', '.87', '.90', '.94', '34 of 46', '7'],
];

const score = z.number().nullable();
const testCount = z.object({ pass: z.number(), n: z.number() });
const documentScores = z.object({
  n: z.number(),
  overall: score,
  nid: score,
  teds: score,
  mhs: score,
  head_f1: score,
  head_level: score,
});
const scoreFile = z.object({
  scores: z.record(
    z.string(),
    z.object({
      rendered: z.object({ overall: score, nid: score, teds: score, mhs: score }).optional(),
      long: z.object({ overall: score }).optional(),
      icdar2013: z.object({ teds: score, adj_f1: score }).optional(),
      olmocr: z.object({ born_digital: testCount }).optional(),
      real: documentScores.extend({ by_renderer: z.record(z.string(), documentScores) }).optional(),
    }),
  ),
});

export interface MeasuredEngine {
  name: string;
  /** Path of the JSON file that score.py of the corpus wrote. */
  scores: string;
}

const formatScore = (value: number | null | undefined) =>
  value === null || value === undefined ? '-' : value.toFixed(3).replace(/^0/, '');

function readScores(path: string) {
  return scoreFile.parse(JSON.parse(readFileSync(path, 'utf8'))).scores.dev ?? {};
}

function engineRow({ name, scores }: MeasuredEngine): string[] {
  const { rendered, long, icdar2013, olmocr } = readScores(scores);
  return [
    `${name}, this run (dev)`,
    ...[rendered?.overall, rendered?.nid, rendered?.teds, rendered?.mhs, long?.overall, icdar2013?.teds].map(
      formatScore,
    ),
    formatScore(icdar2013?.adj_f1),
    olmocr ? `${olmocr.born_digital.pass} of ${olmocr.born_digital.n}` : '-',
    'see bench',
  ];
}

export function printPdfTable(measured: readonly MeasuredEngine[]): void {
  printTable('PDF, dev / held-out', COLUMNS, [...PUBLISHED, ...measured.map(engineRow)]);
}

/** Prints the scores of the corpus `real`, in total and by the form of the source. @param scores as in `MeasuredEngine` */
export function printRealDocuments(scores: string): void {
  const { real } = readScores(scores);
  if (!real) return;
  const row = (label: string, { n, overall, nid, teds, mhs, head_f1, head_level }: z.infer<typeof documentScores>) => [
    label,
    String(n),
    ...[overall, nid, teds, mhs, head_f1, head_level].map(formatScore),
  ];
  printTable(
    'PDF, corpus real (dev)',
    ['source form', 'documents', 'overall', 'NID', 'TEDS', 'MHS', 'heading F1', 'heading level'],
    [row('all', real), ...Object.entries(real.by_renderer).map(([form, one]) => row(form, one))],
  );
}
