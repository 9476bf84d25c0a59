// Writes a record as the documents that Open WebUI reads (docs/api.md, "Open WebUI"): one for each page, or one for a file without pages.
import type { DocumentMetadata, RecordReport } from '#shared/contract/jobs.ts';
import type { Page } from '#shared/contract/response.ts';
import { membersOf, notARecord } from './record.ts';

const MARKDOWN_KEY = Buffer.from('"markdown":');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Metadata for every document of a file. The names are those of LangChain, where Open WebUI has its documents from. */
function fileMetadata({ metadata, warnings }: RecordReport): DocumentMetadata {
  return {
    ...metadata,
    ...(metadata.sourceURL === undefined ? {} : { source: metadata.sourceURL }),
    ...(metadata.totalPages === undefined ? {} : { total_pages: metadata.totalPages }),
    ...(warnings.length === 0 ? {} : { warning: warnings.join(' ') }),
  };
}

/**
 * Writes `{"page_content": "...", "metadata": {...}}`.
 * @param fields JSON text of a record whose only field is `markdown`, in chunks
 * @throws ParseError BAD_GATEWAY for another record
 */
export async function* writeDocument(
  fields: AsyncIterable<Uint8Array>,
  report: RecordReport,
): AsyncGenerator<Uint8Array> {
  let start: Buffer | undefined = Buffer.alloc(0);
  for await (const text of membersOf(fields)) {
    if (!start) {
      yield text;
      continue;
    }
    start = Buffer.concat([start, text]);
    if (start.length < MARKDOWN_KEY.length) continue;
    if (!start.subarray(0, MARKDOWN_KEY.length).equals(MARKDOWN_KEY)) throw notARecord();
    yield Buffer.from('{"page_content":');
    yield start.subarray(MARKDOWN_KEY.length);
    start = undefined;
  }
  if (start) throw notARecord();
  yield Buffer.from(`,"metadata":${JSON.stringify(fileMetadata(report))}}`);
}

/**
 * Writes an array with one document for each page. Its metadata has `page` from 0, `page_label` from 1, and `total_pages`.
 * @param fields JSON text of a record whose only field is `pages`, in chunks
 * @throws ParseError BAD_GATEWAY for another record
 */
export async function* writePageDocuments(
  fields: AsyncIterable<Uint8Array>,
  report: RecordReport,
): AsyncGenerator<Uint8Array> {
  const ofFile = fileMetadata(report);
  let separator = '[';
  for await (const text of innerObjects(membersOf(fields))) {
    const { pageNumber, markdown } = JSON.parse(text) as Page;
    const document = {
      page_content: markdown,
      metadata: { ...ofFile, page: pageNumber - 1, page_label: String(pageNumber) },
    };
    yield Buffer.from(`${separator}${JSON.stringify(document)}`);
    separator = ',';
  }
  yield Buffer.from(separator === '[' ? '[]' : ']');
}

/** Yields the text of each outermost object in a JSON text, so that only one of them is in memory. */
async function* innerObjects(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let object: Uint8Array[] = [];
  let depth = 0;
  let inString = false;
  let escaped = false;
  for await (const chunk of chunks) {
    let start = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) inString = false;
      } else if (byte === QUOTE) inString = true;
      else if (byte === OPEN_BRACE && depth++ === 0) start = at;
      else if (byte === CLOSE_BRACE && --depth === 0) {
        yield Buffer.concat([...object, chunk.subarray(start, at + 1)]).toString('utf8');
        object = [];
      }
    }
    if (depth > 0) object.push(chunk.subarray(start));
  }
}
