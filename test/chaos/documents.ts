// Creates the requests of the load, each with a random token, so that a response with content of another request is detected.
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ServiceName } from '#shared/contract/services.ts';
import { type Content, csv, docx, epub, html, odt, pdf, pptx, rtf, xlsx } from '../harness/documents.ts';

export interface LoadRequest {
  /** Name in the counts. */
  kind: string;
  fileName: string;
  file: Uint8Array | string;
  options: Record<string, unknown>;
  /** Text that the response must contain. */
  words: readonly string[];
  /** Text that the response must not contain. */
  absent?: readonly string[];
}

/** Tokens: `heron` and eight letters. No other request has the same token. */
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

type RequestBuilder = (token: string) => Promise<Omit<LoadRequest, 'kind'>> | Omit<LoadRequest, 'kind'>;

const report = (
  extension: string,
  write: (content: Content) => Promise<Uint8Array> | Uint8Array | string,
): RequestBuilder => {
  return async (token) => ({
    fileName: `report${extension}`,
    file: await write(contentOf(token)),
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

const BUILDERS: Readonly<Record<string, RequestBuilder>> = {
  csv: report('.csv', csv),
  html: report('.html', html),
  docx: report('.docx', docx),
  xlsx: report('.xlsx', xlsx),
  pptx: report('.pptx', pptx),
  odt: report('.odt', odt),
  epub: report('.epub', (content) => epub(content, bodyHtml(content))),
  rtf: report('.rtf', rtf),
  pdf: report('.pdf', (content) => pdf([{ title: content.title, lines: content.paragraphs, table: content.table }])),
  // The text of a scan is a picture, so it has no token.
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
  // Too large for a message: request and response go through the payload store.
  large: (token) => large(token, {}),
  // With zero data retention, job and payload are in memory only, so they are lost when the bus stops.
  'zdr docx': (token) => ({
    fileName: 'report.docx',
    file: docx(contentOf(token)),
    options: { zeroDataRetention: true },
    words: ['Harbour report', token],
  }),
  'zdr large': (token) => large(token, { zeroDataRetention: true }),
};

export const KINDS: readonly string[] = Object.keys(BUILDERS);

/** Creates a request of one kind with a new token. @throws Error for an unknown kind */
export async function createRequest(kind: string): Promise<LoadRequest> {
  const build = BUILDERS[kind];
  if (!build) throw new Error(`unknown kind of request: ${kind}`);
  return { kind, ...(await build(newToken())) };
}

/** Creates a request that the service works on for a second or more, so that a fault can happen during its job. */
export async function createLongRequest(service: ServiceName): Promise<LoadRequest> {
  const token = newToken();
  const long = contentOf(token, service === 'pii' ? 1_500 : 12_000);
  const common = { kind: `long ${service}`, words: [token], options: {} };
  switch (service) {
    case 'csv':
      return { ...common, fileName: 'long.csv', file: `${token},\r\n${'Petrel,42\r\n'.repeat(600_000)}` };
    case 'html':
      return { ...common, fileName: 'long.html', file: html(long) };
    case 'office':
      return { ...common, fileName: 'long.docx', file: docx(long) };
    case 'pdf': {
      const pages = Array.from({ length: 150 }, () => ({ title: long.title, lines: long.paragraphs.slice(0, 20) }));
      return { ...common, fileName: 'long.pdf', file: await pdf(pages) };
    }
    case 'ocr':
      return { ...(await createRequest('scan')), kind: common.kind };
    case 'pii':
      return { ...common, fileName: 'long.html', file: html(long), options: { redactPII: true } };
    default:
      return { ...common, fileName: 'long.html', file: html(long), options: { formats: ['markdown', 'summary'] } };
  }
}
