// Reads an eml file (RFC 5322, MIME) as a mail message: selects the body, and collects pictures, messages and attachments.
import { ParseError } from '#shared/contract/errors.ts';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { readCms } from './cms.ts';
import { decodeHeader, decodeMailText, readAddresses, readDate, withoutComments } from './header-values.ts';
import { type MailMessage, type MailPart, type MailPictures, MailText } from './message.ts';
import { headerOf, type MimeCount, type MimePart, readMime } from './mime.ts';
import { joinFlowedLines, readQuotedLines } from './text-body.ts';

const PGP_MESSAGE = /^\s*-----BEGIN PGP MESSAGE-----/;
const REPORTS = new Set([
  'message/delivery-status',
  'message/disposition-notification',
  'message/feedback-report',
  'text/rfc822-headers',
]);
const MESSAGES = new Set(['message/rfc822', 'message/global', 'message/news']);
const CMS = new Set(['application/pkcs7-mime', 'application/x-pkcs7-mime']);
const SIGNATURES = new Set([
  'application/pkcs7-signature',
  'application/x-pkcs7-signature',
  'application/pgp-signature',
]);
/** The address of a picture in the source of an HTML text. */
const SOURCE = /\bsrc\s{0,8}=\s{0,8}["']?([^"'\s>]{1,1000})/gi;
/** Signed content in signed content is read up to this depth. */
const SIGNATURE_DEPTH = 5;

/** @throws ParseError DOCUMENT_CORRUPT, DOCUMENT_TOO_COMPLEX, DOCUMENT_ENCRYPTED */
export function readEml(bytes: Buffer, pictures: MailPictures): MailMessage {
  return new EmlReader(pictures).message(readMime(bytes, { parts: 0 }), 0);
}

/**
 * The parts of a signed message of Outlook: an attachment with the CMS structure, or with a multipart/signed.
 * @throws ParseError as `readEml`
 */
export function readSignedContent(data: Buffer, pictures: MailPictures): Pick<MailMessage, 'body' | 'attachments'> {
  const cms = readCms(data);
  if (cms.kind === 'encrypted') throw encrypted();
  return readEml(cms.kind === 'signed' ? cms.content : data, pictures);
}

function encrypted(): ParseError {
  return new ParseError('DOCUMENT_ENCRYPTED', 'The message is encrypted (S/MIME or PGP): decrypt it and send it again');
}

class EmlReader {
  readonly #pictures: MailPictures;
  readonly #count: MimeCount = { parts: 1 };
  readonly #text = new MailText();
  /** Signatures around the part that is read. */
  #signatures = 0;

  constructor(pictures: MailPictures) {
    this.#pictures = pictures;
  }

  /** @param depth the number of messages around this one */
  message(root: MimePart, depth: number): MailMessage {
    const people = (name: string) => (root.headers.get(name) ?? []).flatMap((value) => readAddresses(value));
    const date = root.headers.get('date')?.[0] ?? '';
    const isoDate = readDate(date);
    const message: MailMessage = {
      subject: headerOf(root, 'subject'),
      from: people(root.headers.has('from') ? 'from' : 'sender'),
      to: people('to'),
      cc: people('cc'),
      date: decodeHeader(withoutComments(date)),
      ...(isoDate === undefined ? {} : { isoDate }),
      body: [],
      attachments: [],
    };
    this.#show(root, message, depth, new Resources([], this.#pictures));
    return message;
  }

  #show(part: MimePart, message: MailMessage, depth: number, resources: Resources): void {
    const { type } = part;
    if (type === 'multipart/alternative') this.#alternative(part, message, depth, resources);
    else if (type === 'multipart/related') this.#related(part, message, depth, resources);
    else if (type === 'multipart/encrypted') this.#encrypted(part, message, depth);
    else if (part.children.length > 0) {
      // Pictures of an HTML part may also be next to it in a multipart/mixed.
      const inner = new Resources(part.children, this.#pictures, resources);
      for (const child of part.children) if (!SIGNATURES.has(child.type)) this.#show(child, message, depth, inner);
      inner.listUnused(message);
    } else if (MESSAGES.has(type)) this.#nested(part, message, depth);
    else if (CMS.has(type)) this.#cms(part, message, depth, resources);
    else if (isBody(part, message)) this.#body(part, message, depth, resources);
    else if (!resources.owns(part)) attach(part, message);
  }

  #alternative(part: MimePart, message: MailMessage, depth: number, resources: Resources): void {
    const { children } = part;
    const shown =
      children.findLast((child) => holdsText(child, 'text/html')) ??
      children.findLast((child) => holdsText(child, 'text/plain')) ??
      children.at(-1);
    for (const child of children) {
      if (child === shown) this.#show(child, message, depth, resources);
      else
        for (const leaf of leavesOf(child))
          if (leaf.disposition === 'attachment' || !/^text\/|^image\//.test(leaf.type)) attach(leaf, message);
    }
  }

  #related(part: MimePart, message: MailMessage, depth: number, resources: Resources): void {
    const start = part.parameters.get('start');
    const root =
      part.children.find((child) => start !== undefined && contentId(child) === plainId(start)) ?? part.children[0];
    const inner = new Resources(
      part.children.filter((child) => child !== root),
      this.#pictures,
      resources,
    );
    if (root) this.#show(root, message, depth, inner);
    for (const child of part.children)
      if (child !== root && !inner.owns(child)) this.#show(child, message, depth, inner);
    inner.listUnused(message);
  }

  /** An encrypted message is refused. An encrypted part of a message is listed as an attachment. */
  #encrypted(part: MimePart, message: MailMessage, depth: number): void {
    if (depth === 0 && message.body.length === 0) throw encrypted();
    const leaves = leavesOf(part);
    for (const leaf of leaves) if (leaf.type !== 'application/pgp-encrypted') attach(leaf, message);
  }

  #cms(part: MimePart, message: MailMessage, depth: number, resources: Resources): void {
    const cms = readCms(part.content());
    if (cms.kind === 'signed' && this.#signatures < SIGNATURE_DEPTH) {
      this.#signatures++;
      this.#show(readMime(cms.content, this.#count, depth + 1), message, depth, resources);
      this.#signatures--;
    } else if (cms.kind === 'encrypted') this.#encrypted(part, message, depth);
    else attach(part, message);
  }

  #nested(part: MimePart, message: MailMessage, depth: number): void {
    const bytes = part.content();
    if (depth + 1 > DOCUMENT_LIMITS.mailMessageDepth || bytes.length === 0) {
      attach(part, message);
      return;
    }
    try {
      message.body.push({ kind: 'message', message: this.message(readMime(bytes, this.#count, depth + 1), depth + 1) });
    } catch (cause) {
      if (!(cause instanceof ParseError) || cause.code !== 'DOCUMENT_CORRUPT') throw cause;
      attach(part, message);
    }
  }

  #body(part: MimePart, message: MailMessage, depth: number, resources: Resources): void {
    const html = part.type === 'text/html';
    const text = decodeMailText(part.content(), part.parameters.get('charset'), html);
    if (PGP_MESSAGE.test(text)) {
      this.#encrypted(part, message, depth);
      return;
    }
    if (text.trim() === '') return;
    this.#text.add(text);
    if (html) resources.markUsed(text);
    const flowed = part.parameters.get('format')?.toLowerCase() === 'flowed';
    const deleteSpace = part.parameters.get('delsp')?.toLowerCase() === 'yes';
    const written: MailPart = html
      ? { kind: 'html', html: text, picture: (address) => resources.picture(address) }
      : REPORTS.has(part.type)
        ? { kind: 'report', text }
        : { kind: 'text', lines: flowed ? joinFlowedLines(text, deleteSpace) : readQuotedLines(text) };
    message.body.push(written);
  }
}

/** The pictures that an HTML part may show, by Content-ID and Content-Location (RFC 2392, RFC 2557). */
class Resources {
  readonly #parts = new Map<string, MimePart>();
  readonly #owned = new Set<MimePart>();
  readonly #used = new Set<MimePart>();
  readonly #addresses = new Map<MimePart, string>();
  readonly #pictures: MailPictures;
  readonly #outer: Resources | undefined;

  constructor(parts: readonly MimePart[], pictures: MailPictures, outer?: Resources) {
    this.#pictures = pictures;
    this.#outer = outer;
    for (const part of parts) {
      if (!part.type.startsWith('image/')) continue;
      const keys = [contentId(part), headerOf(part, 'content-location')].filter((key) => key !== '');
      if (keys.length === 0) continue;
      this.#owned.add(part);
      for (const key of keys) if (!this.#parts.has(key)) this.#parts.set(key, part);
    }
  }

  owns(part: MimePart): boolean {
    return this.#owned.has(part) || (this.#outer?.owns(part) ?? false);
  }

  /** Notes the pictures that an HTML text shows. */
  markUsed(html: string): void {
    for (const [, source = ''] of html.matchAll(SOURCE)) {
      const part = this.#parts.get(pictureKey(source));
      if (part) this.#used.add(part);
    }
    this.#outer?.markUsed(html);
  }

  picture(source: string): string | undefined {
    const part = this.#parts.get(pictureKey(source));
    if (!part) return this.#outer?.picture(source);
    const address = this.#addresses.get(part) ?? this.#pictures.address(part.type, part.content);
    this.#addresses.set(part, address);
    return address;
  }

  /** Lists the pictures that no HTML part shows. */
  listUnused(message: MailMessage): void {
    for (const part of this.#owned) if (!this.#used.has(part)) attach(part, message);
  }
}

function plainId(raw: string): string {
  let id = raw.trim().replace(/^<|>$/g, '');
  try {
    id = decodeURIComponent(id);
  } catch {
    // Not percent-encoded.
  }
  return id;
}

const pictureKey = (source: string): string => plainId(source.replace(/^cid:/i, ''));

const contentId = (part: MimePart): string => plainId(headerOf(part, 'content-id'));

/** All parts below a part that are not multiparts. */
function leavesOf(part: MimePart): MimePart[] {
  return part.children.length === 0 ? [part] : part.children.flatMap(leavesOf);
}

function holdsText(part: MimePart, type: string): boolean {
  return leavesOf(part).some((leaf) => leaf.type === type && leaf.disposition !== 'attachment' && !leaf.empty);
}

/** Whether a part is shown as text of the message. A text with a file name, after the body, is an attachment. */
function isBody(part: MimePart, message: MailMessage): boolean {
  if (part.disposition === 'attachment') return false;
  if (REPORTS.has(part.type)) return true;
  if (!['text/plain', 'text/html', 'text/enriched', 'text/richtext'].includes(part.type)) return false;
  return part.fileName === undefined || message.body.length === 0;
}

function attachmentOf(part: MimePart): MailMessage['attachments'][number] {
  const subject = MESSAGES.has(part.type)
    ? /^subject:[ \t]*([^\r\n]{1,200})/im.exec(part.content().toString('latin1', 0, 16_384))?.[1]
    : undefined;
  const name = part.fileName ?? (subject === undefined ? '' : decodeHeader(subject));
  return { name: name === '' ? 'unnamed' : name, mimeType: part.type, size: part.content().length };
}

function attach(part: MimePart, message: MailMessage): void {
  if (part.content().length > 0 || part.fileName !== undefined) message.attachments.push(attachmentOf(part));
}
