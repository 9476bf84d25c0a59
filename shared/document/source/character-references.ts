// Decodes HTML character references one at a time and returns their length, so that an edit can replace a complete reference in the source.
import { parseDocument } from 'htmlparser2';

const REFERENCE = /&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});/iy;
const DECODED = new Map<string, string>([
  ['&amp;', '&'],
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&apos;', "'"],
  ['&#39;', "'"],
  ['&nbsp;', '\u00a0'],
]);
/** Maximum number of entries of the cache. A document can contain a reference for each Unicode character. */
const CACHE_SIZE = 10_000;

function decode(reference: string): string {
  const known = DECODED.get(reference);
  if (known !== undefined) return known;
  const node = parseDocument(reference).children[0];
  const text = node && 'data' in node && typeof node.data === 'string' ? node.data : reference;
  if (DECODED.size < CACHE_SIZE) DECODED.set(reference, text);
  return text;
}

/** The character reference at `position` (the index of a `&`), decoded; undefined if there is none. */
export function readReference(source: string, position: number): { text: string; length: number } | undefined {
  REFERENCE.lastIndex = position;
  const match = REFERENCE.exec(source);
  if (!match) return undefined;
  const text = decode(match[0]);
  return text === match[0] ? undefined : { text, length: match[0].length };
}
