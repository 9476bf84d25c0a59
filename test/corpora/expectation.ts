// What each corpus file must be answered with, read from the truth that lies beside it; no file's outcome is decided here by its name.
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { type Answer, type ErrorBody, errorBody, successData } from '../harness/client.ts';

/**
 * `text`: 200 with Markdown. `textOrEmpty`: 200, and where the Markdown is empty a `warning` says why. `encrypted`: 422 DOCUMENT_ENCRYPTED.
 * `refused`: a clear 4xx about the document. `either`: a 200 of any kind, or a clear 4xx.
 */
export type Outcome = 'text' | 'textOrEmpty' | 'encrypted' | 'refused' | 'either';

export interface Expectation {
  outcome: Outcome;
  /** Texts that no answer may hold (what a bomb or a stolen file would unfold to). */
  forbid: readonly string[];
}

const officeRow = z.object({
  file: z.string(),
  class: z.string(),
  expect: z.enum(['error', 'markdown', 'either']),
  forbid: z.array(z.string()),
});
const pdfRow = z.object({ name: z.string(), poppler_opens: z.boolean(), encrypted: z.boolean() });

/** The statuses by which a document can be refused; 401, 408 and 429 say nothing about the document. */
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 422]);

type Truth = ReadonlyMap<string, Expectation>;

function readOfficeTruth(path: string): Truth {
  const rows = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
  return new Map(
    rows.map((line) => {
      const row = officeRow.parse(JSON.parse(line));
      const error = row.class === 'encrypted' ? 'encrypted' : 'refused';
      const outcome = row.expect === 'markdown' ? 'text' : row.expect === 'either' ? 'either' : error;
      return [row.file, { outcome, forbid: row.forbid }];
    }),
  );
}

/**
 * The list says only whether a reader opens the file. One that opens must be answered with 200, but may be a page without text (forms,
 * drawings), which then needs a warning. One that is encrypted and does not open needs a password; a broken one may be mended or refused.
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

/** What the truth beside a file says of it. A corpus without a list of outcomes holds ordinary files, which all have text. */
export function expectationOf(path: string): Expectation {
  return truthFor(path)?.get(basename(path)) ?? { outcome: 'text', forbid: [] };
}

export interface Verdict {
  kind: 'text' | 'empty' | 'refused' | 'failed';
  /** Why it failed, or what the refusal says. */
  note: string;
}

const failed = (note: string): Verdict => ({ kind: 'failed', note: note.replaceAll(/\s+/g, ' ').slice(0, 300) });

function judgeSuccess(answer: Answer, { outcome, forbid }: Expectation): Verdict {
  const data = successData(answer);
  if (outcome === 'encrypted' || outcome === 'refused') return failed(`200 where the truth says ${outcome}`);
  const leaked = forbid.find((text) => answer.text.includes(text));
  if (leaked !== undefined) return failed(`the answer holds forbidden text (${leaked.slice(0, 30)})`);
  if (data.markdown === undefined) return failed('200 without `markdown`');
  if (data.markdown.trim() !== '') return { kind: 'text', note: data.warning ?? '' };
  if (outcome === 'text') return failed(`empty Markdown (${data.warning ?? 'no warning'})`);
  return data.warning ? { kind: 'empty', note: data.warning } : failed('empty Markdown without a warning');
}

function judgeError(answer: Answer, { outcome }: Expectation): Verdict {
  const body: ErrorBody = errorBody(answer, answer.status);
  const said = `${answer.status} ${body.code}: ${body.error}`;
  if (!REFUSALS.has(answer.status)) return failed(said);
  if (outcome === 'text' || outcome === 'textOrEmpty') return failed(said);
  if (outcome === 'encrypted' && body.code !== 'DOCUMENT_ENCRYPTED')
    return failed(`${said} (expected 422 DOCUMENT_ENCRYPTED)`);
  return { kind: 'refused', note: said };
}

/** Whether an answer is what the truth asks for, in the documented shape. */
export function judge(answer: Answer, expectation: Expectation): Verdict {
  try {
    return answer.status === 200 ? judgeSuccess(answer, expectation) : judgeError(answer, expectation);
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error));
  }
}
