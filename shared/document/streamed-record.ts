// Writes the record of a document whose texts are written while they are sent, so that no text of the record is in memory as a whole.
import type { RenderOptions } from '../contract/jobs.ts';
import type { FieldName } from '../contract/response.ts';
import { listImages, listLinks } from './addresses.ts';
import type { StreamedTexts } from './document.ts';
import { jsonString } from './text-pieces.ts';
import { parseHtml } from './tree.ts';

/** Fields that a converter without pages leaves to the enrich service, or never has. */
type NotRendered = 'pages' | 'blocks' | 'summary' | 'json';

/**
 * The JSON of the fields in `options.fields`, in chunks.
 * @throws ParseError DOCUMENT_TOO_COMPLEX above DOCUMENT_LIMITS
 */
export function* streamedRecord(
  texts: StreamedTexts,
  { fields }: Pick<RenderOptions, 'fields'>,
): Generator<Uint8Array> {
  let separator = '{';
  for (const field of fields) {
    const content = contentOf(texts, field);
    if (content === undefined) continue;
    yield Buffer.from(`${separator}"${field}":`);
    yield* content;
    separator = ',';
  }
  yield Buffer.from(separator === '{' ? '{}' : '}');
}

function contentOf(texts: StreamedTexts, field: FieldName): Iterable<Uint8Array> | undefined {
  switch (field) {
    case 'markdown':
      return jsonString(texts.markdown());
    case 'html':
    case 'rawHtml':
      return jsonString(texts.html());
    case 'links':
    case 'images': {
      const html = texts.references();
      const list = field === 'links' ? listLinks : listImages;
      return [Buffer.from(JSON.stringify(html === '' ? [] : list(parseHtml(html).body.children)))];
    }
    default:
      field satisfies NotRendered;
      return undefined;
  }
}
