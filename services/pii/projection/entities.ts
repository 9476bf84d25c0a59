// HTML character references, decoded one at a time with their length, because edits need to know what each one covers.
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
/** There are 2,231 names, and as many numbers as there are characters: only so many are remembered. */
const REMEMBERED = 10_000;

function decode(reference: string): string {
  const known = DECODED.get(reference);
  if (known !== undefined) return known;
  const node = parseDocument(reference).children[0];
  const text = node && 'data' in node && typeof node.data === 'string' ? node.data : reference;
  if (DECODED.size < REMEMBERED) DECODED.set(reference, text);
  return text;
}

/** The reference at `position` (which holds `&`), or undefined. */
export function readReference(source: string, position: number): { text: string; length: number } | undefined {
  REFERENCE.lastIndex = position;
  const match = REFERENCE.exec(source);
  if (!match) return undefined;
  const text = decode(match[0]);
  return text === match[0] ? undefined : { text, length: match[0].length };
}
