// Reads the content of a signed S/MIME message (CMS SignedData, RFC 5652), and recognizes an encrypted one.

/** `encrypted`: the content cannot be read without a key. `unknown`: not a CMS structure, or of a type without content. */
type CmsContent = { kind: 'signed'; content: Buffer } | { kind: 'encrypted' } | { kind: 'unknown' };

interface Element {
  tag: number;
  constructed: boolean;
  start: number;
  /** The end of the content. */
  end: number;
  /** The end of the element, after the end marker of an indefinite length. */
  next: number;
}

const SEQUENCE = 0x10;
const OCTET_STRING = 0x04;
const OBJECT_IDENTIFIER = 0x06;
const SIGNED_DATA = '2a864886f70d010702';
/** EnvelopedData, EncryptedData, AuthEnvelopedData. */
const ENCRYPTED = new Set(['2a864886f70d010703', '2a864886f70d010706', '2a864886f70d0109100117']);
const DEPTH = 32;

/** The element at an offset (X.690, 8.1); undefined if it is damaged. */
function elementAt(bytes: Buffer, at: number, limit: number, depth = 0): Element | undefined {
  if (at + 2 > limit || depth > DEPTH) return undefined;
  const tag = bytes[at] ?? 0;
  if ((tag & 0x1f) === 0x1f) return undefined;
  const first = bytes[at + 1] ?? 0;
  const constructed = (tag & 0x20) !== 0;
  if (first === 0x80) return indefinite(bytes, at, limit, depth);
  let length = first;
  let start = at + 2;
  if (first > 0x80) {
    const count = first & 0x7f;
    if (count > 4 || start + count > limit) return undefined;
    length = bytes.readUIntBE(start, count);
    start += count;
  }
  const end = start + length;
  return end > limit ? undefined : { tag: tag & 0xdf, constructed, start, end, next: end };
}

/** An element that ends with two null bytes instead of having a length. */
function indefinite(bytes: Buffer, at: number, limit: number, depth: number): Element | undefined {
  const start = at + 2;
  for (let inner = start; inner + 2 <= limit; ) {
    if (bytes[inner] === 0 && bytes[inner + 1] === 0)
      return { tag: (bytes[at] ?? 0) & 0xdf, constructed: true, start, end: inner, next: inner + 2 };
    const element = elementAt(bytes, inner, limit, depth + 1);
    if (!element) return undefined;
    inner = element.next;
  }
  return undefined;
}

/** The first elements inside an element. */
function inside(bytes: Buffer, element: Element | undefined, most: number): Element[] {
  const found: Element[] = [];
  if (!element) return found;
  for (let at = element.start; at < element.end && found.length < most; ) {
    const child = elementAt(bytes, at, element.end);
    if (!child) break;
    found.push(child);
    at = child.next;
  }
  return found;
}

/** The bytes of an octet string, which may be divided into pieces. */
function octets(bytes: Buffer, element: Element, depth = 0): Buffer[] {
  if (!element.constructed) return [bytes.subarray(element.start, element.end)];
  if (depth > DEPTH) return [];
  return inside(bytes, element, Number.POSITIVE_INFINITY).flatMap((child) => octets(bytes, child, depth + 1));
}

export function readCms(bytes: Buffer): CmsContent {
  const outer = elementAt(bytes, 0, bytes.length);
  const [type, wrapped] = inside(bytes, outer, 2);
  if (outer?.tag !== SEQUENCE || type?.tag !== OBJECT_IDENTIFIER) return { kind: 'unknown' };
  const name = bytes.toString('hex', type.start, type.end);
  if (ENCRYPTED.has(name)) return { kind: 'encrypted' };
  if (name !== SIGNED_DATA || !wrapped) return { kind: 'unknown' };
  const signedData = inside(bytes, wrapped, 1)[0];
  // The version, the digest algorithms, and the encapsulated content: its type and the content itself.
  const encapsulated = inside(bytes, signedData, 3)[2];
  const explicit = inside(bytes, encapsulated, 2)[1];
  const content = inside(bytes, explicit, 1)[0];
  if (content?.tag !== OCTET_STRING) return { kind: 'unknown' };
  return { kind: 'signed', content: Buffer.concat(octets(bytes, content)) };
}
