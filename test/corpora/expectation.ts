// Reads the expected outcome of each corpus file from the truth next to it, and checks a response against it.
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { type Answer, type ErrorBody, errorBody, successData } from '../harness/client.ts';

/**
 * `text`: 200 with Markdown. `textOrEmpty`: 200, with a `warning` if the Markdown is empty. `encrypted`: 422 DOCUMENT_ENCRYPTED.
 * `rejected`: a 4xx about the document. `either`: a 200, or a 4xx about the document.
 */
export type Outcome = 'text' | 'textOrEmpty' | 'encrypted' | 'rejected' | 'either';

interface Expectation {
  outcome: Outcome;
  /** Texts that the response must not contain: the content of a ZIP bomb or of a local file that a document refers to. */
  forbid: readonly string[];
}

const officeRow = z.object({
  file: z.string(),
  class: z.string(),
  expect: z.enum(['error', 'markdown', 'either']),
  forbid: z.array(z.string()),
});
const pdfRow = z.object({ name: z.string(), poppler_opens: z.boolean(), encrypted: z.boolean() });

/** Statuses about the document. 401, 408 and 429 are not. */
const REJECTION_STATUSES: ReadonlySet<number> = new Set([400, 413, 422]);

type Truth = ReadonlyMap<string, Expectation>;

function readOfficeTruth(path: string): Truth {
  const rows = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
  return new Map(
    rows.map((line) => {
      const row = officeRow.parse(JSON.parse(line));
      const error = row.class === 'encrypted' ? 'encrypted' : 'rejected';
      const outcome = row.expect === 'markdown' ? 'text' : row.expect === 'either' ? 'either' : error;
      return [row.file, { outcome, forbid: row.forbid }];
    }),
  );
}

/**
 * The list states only whether poppler opens the file. If it does, the response must be 200; pages without text (forms, drawings) need a
 * warning. An encrypted file that poppler does not open needs a password. Other broken files may be repaired or rejected.
 */
function readPdfTruth(path: string): Truth {
  const rows = z.array(pdfRow).parse(JSON.parse(readFileSync(path, 'utf8')));
  return new Map(
    rows.map((row) => [
      row.name,
      { outcome: row.poppler_opens ? 'textOrEmpty' : row.encrypted ? 'encrypted' : 'either', forbid: [] },
    ]),
  );
}

const truths = new Map<string, Truth>();

function truthFor(path: string): Truth | undefined {
  const folder = dirname(dirname(path));
  const known = truths.get(folder);
  if (known) return known;
  const office = join(folder, 'expect.jsonl');
  const pdf = join(folder, 'list.json');
  const truth = existsSync(office) ? readOfficeTruth(office) : existsSync(pdf) ? readPdfTruth(pdf) : undefined;
  if (truth) truths.set(folder, truth);
  return truth;
}

/** The expectation for a file. In a corpus without a list of outcomes, all files have text. */
export function expectationOf(path: string): Expectation {
  return truthFor(path)?.get(basename(path)) ?? { outcome: 'text', forbid: [] };
}

export interface SweepResult {
  kind: 'text' | 'empty' | 'rejected' | 'failed';
  /** The reason of a failure, the error message or the warning. */
  note: string;
}

const failed = (note: string): SweepResult => ({ kind: 'failed', note: note.replaceAll(/\s+/g, ' ').slice(0, 300) });

function checkSuccess(answer: Answer, { outcome, forbid }: Expectation): SweepResult {
  const data = successData(answer);
  if (outcome === 'encrypted' || outcome === 'rejected') return failed(`200, but the truth is ${outcome}`);
  const leaked = forbid.find((text) => answer.text.includes(text));
  if (leaked !== undefined) return failed(`the response contains forbidden text (${leaked.slice(0, 30)})`);
  if (data.markdown === undefined) return failed('200 without `markdown`');
  if (data.markdown.trim() !== '') return { kind: 'text', note: data.warning ?? '' };
  if (outcome === 'text') return failed(`empty Markdown (${data.warning ?? 'no warning'})`);
  return data.warning ? { kind: 'empty', note: data.warning } : failed('empty Markdown without a warning');
}

function checkError(answer: Answer, { outcome }: Expectation): SweepResult {
  const body: ErrorBody = errorBody(answer, answer.status);
  const note = `${answer.status} ${body.code}: ${body.error}`;
  if (!REJECTION_STATUSES.has(answer.status)) return failed(note);
  if (outcome === 'text' || outcome === 'textOrEmpty') return failed(note);
  if (outcome === 'encrypted' && body.code !== 'DOCUMENT_ENCRYPTED')
    return failed(`${note} (expected 422 DOCUMENT_ENCRYPTED)`);
  return { kind: 'rejected', note };
}

/** Checks a response against the expectation and against the documented shape. */
export function checkAnswer(answer: Answer, expectation: Expectation): SweepResult {
  try {
    return answer.status === 200 ? checkSuccess(answer, expectation) : checkError(answer, expectation);
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error));
  }
}
