// Decodes the values of mail header fields: encoded words (RFC 2047), parameters (RFC 2231), addresses and dates (RFC 5322).
import { decodeText } from '#shared/readers/charset.ts';

/** Encodings that mail programs declare although the text has another one. */
const UNRELIABLE = /^(?:us-ascii|ascii|ansi_x3\.4-1968|iso-8859-1|latin1|windows-1252|cp1252)$/i;
/** `=?charset*language?encoding?text?=`; the language is ignored (RFC 2231, 5). */
const ENCODED_WORD = /=\?([^?*\s]{1,60})(?:\*[^?\s]{0,60})?\?([bq])\?([^?]*)\?=/gi;
/** A comma or semicolon alone in an encoded word. Python writes it between two people where it folds a long header. */
const ENCODED_SEPARATOR = /=\?[\w-]{1,60}\?q\?=(2C|3B)\?=/gi;
const COMMENT_DEPTH = 20;

/**
 * Decodes text of a mail. Bytes that are valid UTF-8 beyond ASCII are UTF-8, also if the mail declares ASCII or Latin-1.
 * @param markup the text is HTML, which may declare its own charset
 */
export function decodeMailText(bytes: Uint8Array, charset: string | undefined, markup = false): string {
  const declared = charset?.trim();
  if (declared === undefined || declared === '' || UNRELIABLE.test(declared)) {
    const guessed = decodeText(bytes, { markup });
    if (declared === undefined || declared === '' || guessed.charset === 'utf-8') {
      // The escape sequences of ISO-2022-JP are ASCII, which is valid UTF-8.
      if (/\x1b\$[@B]/.test(guessed.text)) return decodeText(bytes, { charset: 'iso-2022-jp' }).text;
      return guessed.text;
    }
  }
  return decodeText(bytes, { markup, ...(declared === undefined ? {} : { charset: declared }) }).text;
}

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

/** Decodes base64, also if it consists of several padded pieces or contains other characters. */
export function decodeBase64(text: string): Buffer {
  const clean = text.replace(/[^A-Za-z0-9+/=]+/g, '');
  const first = clean.indexOf('=');
  if (first < 0 || first >= clean.length - 2) return Buffer.from(clean, 'base64');
  return Buffer.concat(clean.split(/=+/).map((piece) => Buffer.from(piece, 'base64')));
}

/** The value of a hexadecimal digit; -1 for any other character. */
function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = (code | 0x20) - 0x61;
  return letter >= 0 && letter < 6 ? letter + 10 : -1;
}

/** Decodes quoted-printable text (RFC 2045, 6.7) to bytes. White space at the end of a line is not part of the text. */
export function decodeQuotedPrintable(text: string): Buffer {
  const bytes = Buffer.alloc(text.length);
  let length = 0;
  /** The length without the white space at its end. */
  let kept = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x3d) {
      const high = hexDigit(text.charCodeAt(at + 1));
      const low = hexDigit(text.charCodeAt(at + 2));
      if (high >= 0 && low >= 0) {
        bytes[length++] = high * 16 + low;
        kept = length;
        at += 2;
        continue;
      }
      const softBreak = /^[ \t]*\r?\n/.exec(text.slice(at + 1, at + 80))?.[0];
      if (softBreak !== undefined) {
        kept = length;
        at += softBreak.length;
        continue;
      }
    }
    if (code === 0x0a || (code === 0x0d && text.charCodeAt(at + 1) === 0x0a)) length = kept;
    bytes[length++] = code;
    if (code !== 0x20 && code !== 0x09) kept = length;
  }
  return bytes.subarray(0, kept);
}

/**
 * Decodes a header value: raw 8-bit text, and encoded words. White space between two encoded words is not part of the
 * text, and a character may be divided between two of them.
 */
export function decodeHeader(raw: string): string {
  const text = /[\x80-\xff]/.test(raw) ? decodeText(latin1(raw)).text : raw;
  let decoded = '';
  let end = 0;
  let pending: { charset: string; bytes: Buffer[] } | undefined;
  const flush = (): void => {
    if (pending) decoded += decodeMailText(Buffer.concat(pending.bytes), pending.charset);
    pending = undefined;
  };
  for (const match of text.matchAll(ENCODED_WORD)) {
    const [all, charset = '', encoding = '', content = ''] = match;
    const between = text.slice(end, match.index);
    if (pending === undefined || between.trim() !== '') {
      flush();
      decoded += between;
    }
    end = match.index + all.length;
    const bytes =
      encoding.toLowerCase() === 'b' ? decodeBase64(content) : decodeQuotedPrintable(content.replaceAll('_', ' '));
    if (pending?.charset !== charset.toLowerCase()) flush();
    pending ??= { charset: charset.toLowerCase(), bytes: [] };
    pending.bytes.push(bytes);
  }
  flush();
  return cleaned(decoded + text.slice(end));
}

/** Without control characters, and with single spaces. */
function cleaned(text: string): string {
  return text
    .replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]+/g, ' ')
    .replace(/ {2,}/g, ' ')
    .trim();
}

interface Parameters {
  /** The text before the first `;`, in lower case. */
  value: string;
  /** By lower-case name, decoded. */
  parameters: Map<string, string>;
}

/** Reads a value with parameters, such as `Content-Type` (RFC 2045, 5.1; continuations and charsets of RFC 2231). */
export function readParameters(raw: string): Parameters {
  const [value = '', ...rest] = splitOutside(withoutComments(raw), ';');
  const plain = new Map<string, string>();
  const extended = new Map<string, { index: number; encoded: boolean; text: string }[]>();
  for (const piece of rest.slice(0, 200)) {
    const cut = piece.indexOf('=');
    if (cut < 0) continue;
    const name = piece.slice(0, cut).trim().toLowerCase();
    const text = unquote(piece.slice(cut + 1).trim());
    const star = /^([^*]+)\*(?:(\d{1,4})(\*)?)?$/.exec(name);
    if (!star) {
      if (!plain.has(name)) plain.set(name, text);
      continue;
    }
    const [, base = '', index, encoded] = star;
    const pieces = extended.get(base) ?? [];
    pieces.push({ index: Number(index ?? 0), encoded: index === undefined || encoded !== undefined, text });
    extended.set(base, pieces);
  }
  const parameters = new Map<string, string>();
  for (const [name, text] of plain) parameters.set(name, decodeHeader(text));
  for (const [name, pieces] of extended) parameters.set(name, decodeExtended(pieces));
  return { value: value.trim().toLowerCase(), parameters };
}

function decodeExtended(pieces: { index: number; encoded: boolean; text: string }[]): string {
  const bytes: Buffer[] = [];
  let charset: string | undefined;
  for (const { index, encoded, text } of pieces.toSorted((a, b) => a.index - b.index)) {
    let rest = text;
    const head = encoded && index === 0 ? /^([^']{0,60})'[^']{0,60}'/.exec(text) : null;
    if (head) {
      charset = head[1];
      rest = text.slice(head[0].length);
    }
    const plain = encoded
      ? rest.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
      : rest;
    bytes.push(latin1(plain));
  }
  return cleaned(decodeMailText(Buffer.concat(bytes), charset));
}

/** Removes comments in parentheses, which may be nested, but not parentheses in quoted strings (RFC 5322, 3.2.2). */
export function withoutComments(raw: string, onComment?: (comment: string) => void): string {
  if (!raw.includes('(')) return raw;
  let kept = '';
  let comment = '';
  let depth = 0;
  let quoted = false;
  for (let i = 0; i < raw.length; i++) {
    const character = raw.charAt(i);
    if (character === '\\' && (quoted || depth > 0)) {
      if (depth > 0) comment += raw.charAt(i + 1);
      else kept += character + raw.charAt(i + 1);
      i++;
      continue;
    }
    if (character === '"' && depth === 0) quoted = !quoted;
    if (!quoted && character === '(' && depth < COMMENT_DEPTH) {
      if (depth++ > 0) comment += character;
      continue;
    }
    if (!quoted && depth > 0 && character === ')') {
      if (--depth === 0) {
        onComment?.(comment);
        comment = '';
        kept += ' ';
      } else comment += character;
      continue;
    }
    if (depth > 0) comment += character;
    else kept += character;
  }
  return depth > 0 ? raw : kept;
}

/** Splits at a character that is outside quoted strings and angle brackets. */
function splitOutside(text: string, separator: string): string[] {
  const pieces: string[] = [];
  let start = 0;
  let quoted = false;
  let angle = false;
  for (let i = 0; i < text.length; i++) {
    const character = text.charAt(i);
    if (character === '\\' && quoted) i++;
    else if (character === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (character === '<') angle = true;
    else if (character === '>') angle = false;
    else if (character === separator && (!angle || separator === ';')) {
      pieces.push(text.slice(start, i));
      start = i + 1;
    }
  }
  pieces.push(text.slice(start));
  return pieces;
}

function unquote(text: string): string {
  if (!text.startsWith('"')) return text;
  const end = text.endsWith('"') && text.length > 1 ? -1 : undefined;
  return text.slice(1, end).replace(/\\([\s\S])/g, '$1');
}

/**
 * The people of an address field, each as `Name <address>`. The name of a group (RFC 5322, 3.4) stands before its first member. A
 * comment is the name of an address that has no other one.
 */
export function readAddresses(raw: string): string[] {
  const people: string[] = [];
  let groupName = '';
  for (const piece of splitOutside(
    raw.replace(ENCODED_SEPARATOR, (_, code: string) => (code === '2C' ? ',' : ';')),
    ',',
  )) {
    for (const part of splitOutside(piece, ';')) {
      let text = part;
      const group = splitOutside(withoutComments(part), ':');
      if (group.length > 1 && !/[<@]/.test(group[0] ?? '')) {
        if (groupName !== '') people.push(groupName);
        groupName = decodeHeader(unquoteAll(group[0] ?? ''));
        text = group.slice(1).join(':');
      }
      const person = readAddress(text);
      if (person === '') continue;
      people.push(groupName === '' ? person : `${groupName}: ${person}`);
      groupName = '';
    }
  }
  if (groupName !== '') people.push(groupName);
  return people;
}

function readAddress(raw: string): string {
  let comment = '';
  const text = withoutComments(raw, (found) => {
    comment ||= found;
  });
  const angle = /<([^<>]*)>\s*$/.exec(text);
  const name =
    decodeHeader(unquoteAll(angle ? text.slice(0, angle.index) : '')) ||
    (angle || comment === '' ? '' : decodeHeader(comment));
  // A route (`@a,@b:user@c`) is obsolete (RFC 5322, 4.4).
  const address = decodeHeader((angle ? (angle[1] ?? '') : text).replace(/^@[^:]{0,500}:/, '')).replace(
    /\s*([@.])\s*/g,
    '$1',
  );
  if (name === '' || name === address) return address;
  return address === '' ? name : `${name} <${address}>`;
}

/** A phrase without the quotes of its quoted strings. */
function unquoteAll(text: string): string {
  return text.replace(/"((?:[^"\\]|\\[\s\S])*)"/g, (_, inner: string) => inner.replace(/\\([\s\S])/g, '$1')).trim();
}

const DATE =
  /^(?:[A-Za-z]{3,9}\s*,?\s*)?(\d{1,2})[\s-]+([A-Za-z]{3})[a-z]*[\s-]+(\d{2,4})\s+(\d{1,2})\s*:\s*(\d{2})(?:\s*:\s*(\d{2}))?\s*(.*)$/;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
/** Minutes east of Greenwich of the zones with letters (RFC 5322, 4.3). All others mean an unknown zone and are read as UTC. */
const ZONES: Readonly<Record<string, number>> = {
  EST: -300,
  EDT: -240,
  CST: -360,
  CDT: -300,
  MST: -420,
  MDT: -360,
  PST: -480,
  PDT: -420,
};

/** The date in ISO 8601 (UTC); undefined if the value is not a date (RFC 5322, 3.3 and 4.3). */
export function readDate(raw: string): string | undefined {
  const match = DATE.exec(withoutComments(raw).replace(/\s+/g, ' ').trim());
  if (!match) return undefined;
  const [, day, month = '', year = '', hour, minute, second = '0', zone = ''] = match;
  const index = MONTHS.indexOf(month.toLowerCase());
  const short = Number(year);
  const full = year.length >= 4 ? short : short < 50 ? 2000 + short : 1900 + short;
  const offset = /^([+-])(\d{2}):?(\d{2})/.exec(zone);
  const minutes = offset
    ? (offset[1] === '-' ? -1 : 1) * (Number(offset[2]) * 60 + Number(offset[3]))
    : (ZONES[zone.slice(0, 3).toUpperCase()] ?? 0);
  if (index < 0 || Number(day) > 31 || Number(hour) > 24 || Number(minute) > 59) return undefined;
  const time =
    Date.UTC(full, index, Number(day), Number(hour), Number(minute), Math.min(59, Number(second))) - minutes * 60_000;
  return Number.isFinite(time) && full <= 9999 ? new Date(time).toISOString() : undefined;
}
