// The mixed documents of the load: each kind with a word of its own request in it, so that another request's content would be seen.
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ServiceName } from '#shared/contract/services.ts';
import { type Content, csv, docx, epub, html, odt, pdf, pptx, rtf, xlsx } from '../harness/documents.ts';

export interface Question {
  /** What the counts call it. */
  kind: string;
  fileName: string;
  file: Uint8Array | string;
  options: Record<string, unknown>;
  /** Words that the answer must hold. */
  words: readonly string[];
  /** Text that the answer must not hold. */
  absent?: readonly string[];
}

/** Words that no document of another request holds: `heron` and eight letters. */
export const TOKEN = /heron[a-p]{8}/g;

function newToken(): string {
  const letters = [...randomBytes(4).toString('hex')].map((digit) => 'abcdefghijklmnop'[Number.parseInt(digit, 16)]);
  return `heron${letters.join('')}`;
}

function contentOf(token: string, paragraphs = 2): Content {
  return {
    title: `Harbour report ${token}`,
    paragraphs: Array.from({ length: paragraphs }, (_, index) => `Watch ${index + 1}: the keeper wrote down ${token}.`),
    table: [
      ['Boat', 'Length'],
      ['Petrel', token],
    ],
  };
}

const bodyHtml = (content: Content) =>
  `<h1>${content.title}</h1>${content.paragraphs.map((text) => `<p>${text}</p>`).join('')}`;

type Maker = (token: string) => Promise<Omit<Question, 'kind'>> | Omit<Question, 'kind'>;

const plain = (extension: string, make: (content: Content) => Promise<Uint8Array> | Uint8Array | string): Maker => {
  return async (token) => ({
    fileName: `report${extension}`,
    file: await make(contentOf(token)),
    options: {},
    words: ['Harbour report', token],
  });
};

const scanned = readFile(new URL('../../fixtures/pdf/scanned-harbour-report.pdf', import.meta.url));

const large = (token: string, options: Record<string, unknown>) => ({
  fileName: 'large.csv',
  file: `${csv(contentOf(token))}${`Kittiwake,${token} north by north-west\r\n`.repeat(12_000)}`,
  options,
  words: [token, 'Kittiwake'],
});

const MAKERS: Readonly<Record<string, Maker>> = {
  csv: plain('.csv', csv),
  html: plain('.html', html),
  docx: plain('.docx', docx),
  xlsx: plain('.xlsx', xlsx),
  pptx: plain('.pptx', pptx),
  odt: plain('.odt', odt),
  epub: plain('.epub', (content) => epub(content, bodyHtml(content))),
  rtf: plain('.rtf', rtf),
  pdf: plain('.pdf', (content) => pdf([{ title: content.title, lines: content.paragraphs, table: content.table }])),
  // Its words are in a picture, the same for all.
  scan: async () => ({
    fileName: 'scan.pdf',
    file: await scanned,
    options: {},
    words: ['Harbour report', 'seventeen herons'],
  }),
  pii: (token) => ({
    fileName: 'crew.html',
    file: html({ ...contentOf(token), paragraphs: [`Write to anna.keller@example.com about ${token}.`] }),
    options: { redactPII: { entities: ['EMAIL'] } },
    words: [token, 'EMAIL'],
    absent: ['anna.keller'],
  }),
  summary: (token) => ({
    fileName: 'report.html',
    file: html(contentOf(token, 6)),
    options: { formats: ['markdown', 'summary'] },
    words: [token, '"summary"'],
  }),
  // Past what fits a message: through the payload store, both ways.
  large: (token) => large(token, {}),
  // Neither a job nor a payload touches a disk, so a bus that stops forgets both.
  'zdr docx': (token) => ({
    fileName: 'report.docx',
    file: docx(contentOf(token)),
    options: { zeroDataRetention: true },
    words: ['Harbour report', token],
  }),
  'zdr large': (token) => large(token, { zeroDataRetention: true }),
};

export const KINDS: readonly string[] = Object.keys(MAKERS);

/** A document of one kind with a word of its own. */
export async function question(kind: string): Promise<Question> {
  const make = MAKERS[kind];
  if (!make) throw new Error(`no such kind of question: ${kind}`);
  return { kind, ...(await make(newToken())) };
}

/** A document that keeps the service at work for a second or more, for faults that must hit a job at work. */
export async function longQuestion(service: ServiceName): Promise<Question> {
  const token = newToken();
  const long = contentOf(token, service === 'pii' ? 1_500 : 12_000);
  const asked = { kind: `long ${service}`, words: [token], options: {} };
  switch (service) {
    case 'csv':
      return { ...asked, fileName: 'long.csv', file: `${token},\r\n${'Petrel,42\r\n'.repeat(600_000)}` };
    case 'html':
      return { ...asked, fileName: 'long.html', file: html(long) };
    case 'office':
      return { ...asked, fileName: 'long.docx', file: docx(long) };
    case 'pdf': {
      const pages = Array.from({ length: 150 }, () => ({ title: long.title, lines: long.paragraphs.slice(0, 20) }));
      return { ...asked, fileName: 'long.pdf', file: await pdf(pages) };
    }
    case 'ocr':
      return { ...(await question('scan')), kind: asked.kind };
    case 'pii':
      return { ...asked, fileName: 'long.html', file: html(long), options: { redactPII: true } };
    default:
      return { ...asked, fileName: 'long.html', file: html(long), options: { formats: ['markdown', 'summary'] } };
  }
}
