// Reads an Outlook message (MS-OXMSG) as a mail message: people, body (HTML, RTF or text), embedded messages and attachments.
import { ParseError } from '#shared/contract/errors.ts';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { CompoundFile, type Storage } from '#shared/readers/compound-file.ts';
import { readSignedContent } from './eml.ts';
import { decodeMailText, readDate } from './header-values.ts';
import { type MailMessage, type MailPart, type MailPictures, MailText } from './message.ts';
import { MsgProperties } from './msg-properties.ts';
import { codepageCharset, decompressRtf, readEncapsulated } from './rtf.ts';
import { readQuotedLines } from './text-body.ts';

/** Property ids (MS-OXPROPS). */
const ID = {
  subject: 0x0037,
  messageClass: 0x001a,
  transportHeaders: 0x007d,
  submitTime: 0x0039,
  deliveryTime: 0x0e06,
  senderName: 0x0c1a,
  senderAddress: 0x0c1f,
  senderSmtp: 0x5d01,
  representedName: 0x0042,
  representedAddress: 0x0065,
  representedSmtp: 0x5d02,
  displayTo: 0x0e04,
  displayCc: 0x0e03,
  body: 0x1000,
  html: 0x1013,
  rtf: 0x1009,
  codepage: 0x3fde,
  name: 0x3001,
  address: 0x3003,
  smtp: 0x39fe,
  recipientType: 0x0c15,
  longFileName: 0x3707,
  fileName: 0x3704,
  mimeType: 0x370e,
  contentId: 0x3712,
  contentLocation: 0x3713,
  data: 0x3701,
} as const;
const RECIPIENT = { to: 1, cc: 2 } as const;

/** @throws ParseError UNSUPPORTED_FILE_TYPE (400), DOCUMENT_CORRUPT, DOCUMENT_TOO_COMPLEX, DOCUMENT_ENCRYPTED */
export function readMsg(bytes: Buffer, pictures: MailPictures): MailMessage {
  const file = new CompoundFile(bytes);
  const properties = new MsgProperties(file, file.tree(), 32);
  if (!properties.exists)
    throw new ParseError(
      'UNSUPPORTED_FILE_TYPE',
      'Unsupported file type: the file is a binary container that holds no Outlook message',
    );
  return new MsgReader(file, pictures).message(properties, 0);
}

class MsgReader {
  readonly #file: CompoundFile;
  readonly #pictures: MailPictures;
  readonly #text = new MailText();
  #parts = 0;

  constructor(file: CompoundFile, pictures: MailPictures) {
    this.#file = file;
    this.#pictures = pictures;
  }

  message(properties: MsgProperties, depth: number): MailMessage {
    const charset = properties.charset();
    const text = (id: number) => properties.string(id, charset).trim();
    const headers = text(ID.transportHeaders);
    const stated = /^Date:[ \t]*([^\r\n]{1,200})/im.exec(headers)?.[1];
    const isoDate = properties.time(ID.submitTime) ?? properties.time(ID.deliveryTime) ?? (stated && readDate(stated));
    const from =
      person(text(ID.representedName), text(ID.representedSmtp) || text(ID.representedAddress)) ||
      person(text(ID.senderName), text(ID.senderSmtp) || text(ID.senderAddress));
    const recipients = this.#children(properties.storage, '__recip_version1.0_');
    const people = (kind: number, shown: number): string[] => {
      const listed = recipients
        .filter((recipient) => recipient.number(ID.recipientType) === kind)
        .map((one) =>
          person(
            one.string(ID.name, charset).trim(),
            one.string(ID.smtp, charset).trim() || one.string(ID.address, charset).trim(),
          ),
        )
        .filter((name) => name !== '');
      return listed.length > 0
        ? listed
        : text(shown)
            .split(/\s*;\s*/)
            .filter((name) => name !== '');
    };
    const message: MailMessage = {
      subject: text(ID.subject),
      from: from === '' ? [] : [from],
      to: people(RECIPIENT.to, ID.displayTo),
      cc: people(RECIPIENT.cc, ID.displayCc),
      date: stated?.trim() ?? (isoDate === undefined ? '' : new Date(isoDate).toUTCString()),
      ...(isoDate === undefined ? {} : { isoDate }),
      body: [],
      attachments: [],
    };
    const attachments = this.#children(properties.storage, '__attach_version1.0_');
    if (/^IPM\.Note\.SMIME/i.test(text(ID.messageClass)) && attachments[0]) {
      const data = attachments[0].binary(ID.data) ?? Buffer.alloc(0);
      const signed = readSignedContent(data, this.#pictures);
      message.body.push(...signed.body);
      message.attachments.push(...signed.attachments);
      return message;
    }
    const body = this.#body(properties, charset, attachments);
    if (body) message.body.push(body);
    this.#attach(attachments, charset, message, depth);
    return message;
  }

  #body(
    properties: MsgProperties,
    charset: string | undefined,
    attachments: readonly MsgProperties[],
  ): MailPart | undefined {
    const codepage = properties.number(ID.codepage);
    const htmlCharset = codepage === undefined ? undefined : codepageCharset(codepage);
    const htmlBytes = properties.binary(ID.html);
    const html = htmlBytes
      ? decodeMailText(htmlBytes, htmlCharset, true)
      : properties.string(ID.html, charset, Number.POSITIVE_INFINITY);
    this.#text.add(html);
    if (html.trim() !== '') return this.#htmlPart(html, attachments, charset);
    const text = properties.string(ID.body, charset, Number.POSITIVE_INFINITY);
    const compressed = properties.binary(ID.rtf);
    const rtf = compressed ? readEncapsulated(decompressRtf(compressed)) : undefined;
    this.#text.add(rtf?.text ?? '');
    if (rtf?.kind === 'html' && rtf.text.trim() !== '') return this.#htmlPart(rtf.text, attachments, charset);
    this.#text.add(text);
    const shown = text.trim() === '' ? (rtf?.text ?? '') : text;
    return shown.trim() === '' ? undefined : { kind: 'text', lines: readQuotedLines(shown) };
  }

  #htmlPart(html: string, attachments: readonly MsgProperties[], charset: string | undefined): MailPart {
    const found = new Map<string, MsgProperties>();
    for (const attachment of attachments)
      for (const id of [ID.contentId, ID.contentLocation]) {
        const key = attachment.string(id, charset).replace(/^<|>$/g, '').trim();
        if (key !== '' && html.includes(key)) found.set(key, attachment);
      }
    for (const attachment of found.values()) this.#shown.add(attachment);
    const addresses = new Map<string, string>();
    const picture = (source: string): string | undefined => {
      const key = source.replace(/^cid:/i, '').trim();
      const attachment = found.get(key);
      if (!attachment) return undefined;
      const known = addresses.get(key);
      if (known !== undefined) return known;
      const address = this.#pictures.address(
        typeOf(attachment, charset),
        () => attachment.binary(ID.data) ?? Buffer.alloc(0),
      );
      addresses.set(key, address);
      return address;
    };
    return { kind: 'html', html, picture };
  }

  /** Attachments that the HTML shows as pictures. */
  readonly #shown = new Set<MsgProperties>();

  #attach(
    attachments: readonly MsgProperties[],
    charset: string | undefined,
    message: MailMessage,
    depth: number,
  ): void {
    for (const attachment of attachments) {
      if (this.#shown.has(attachment)) continue;
      const embedded = attachment.object(ID.data);
      const inner = embedded && new MsgProperties(this.#file, embedded, 24);
      if (inner?.exists && depth < DOCUMENT_LIMITS.mailMessageDepth) {
        message.body.push({ kind: 'message', message: this.message(inner, depth + 1) });
        continue;
      }
      const name = [ID.longFileName, ID.fileName, ID.name]
        .map((id) => attachment.string(id, charset).trim())
        .find((text) => text !== '');
      message.attachments.push({
        name: name ?? 'unnamed',
        mimeType: inner?.exists ? 'application/vnd.ms-outlook' : typeOf(attachment, charset),
        size: attachment.binarySize(ID.data),
      });
    }
  }

  /** The recipients or attachments of a message, in the order of their numbers. */
  #children(storage: Storage, prefix: string): MsgProperties[] {
    const names = [...storage.storages.keys()].filter((name) => name.startsWith(prefix)).sort();
    this.#parts += names.length;
    if (this.#parts > DOCUMENT_LIMITS.mailParts)
      throw new ParseError(
        'DOCUMENT_TOO_COMPLEX',
        `The message has more than ${DOCUMENT_LIMITS.mailParts} recipients and attachments`,
      );
    return names.flatMap((name) => {
      const child = storage.storages.get(name);
      return child ? [new MsgProperties(this.#file, child, 8)] : [];
    });
  }
}

function typeOf(attachment: MsgProperties, charset: string | undefined): string {
  const type = attachment.string(ID.mimeType, charset).trim().toLowerCase();
  if (/^[\w.+-]{1,60}\/[\w.+-]{1,100}$/.test(type)) return type;
  const name = attachment.string(ID.longFileName, charset) || attachment.string(ID.fileName, charset);
  const ending = /\.(png|jpe?g|gif|bmp|webp)$/i.exec(name)?.[1]?.toLowerCase();
  return ending === undefined ? 'application/octet-stream' : `image/${ending === 'jpg' ? 'jpeg' : ending}`;
}

/** `Name <address>`. Addresses of Exchange (`/O=...`) are internal names and are left out. */
function person(name: string, address: string): string {
  const plain = name.replace(/^'|'$/g, '');
  if (!address.includes('@')) return plain;
  return plain === '' || plain === address ? address : `${plain} <${address}>`;
}
