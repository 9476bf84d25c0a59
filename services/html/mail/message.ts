// Defines a mail message as the readers of all mail formats return it, so that one writer shows all of them.
import { ParseError } from '#shared/contract/errors.ts';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import type { PictureCollection } from '#shared/document/pictures.ts';

export interface MailMessage {
  subject: string;
  /** `Name <address>` of each person. The name of a group stands before its first member. */
  from: string[];
  to: string[];
  cc: string[];
  /** As the message states it, for display. */
  date: string;
  /** ISO 8601; undefined if the message states no date that can be read. */
  isoDate?: string;
  /** In the order in which they are shown. */
  body: MailPart[];
  attachments: MailAttachment[];
}

/** A line of a plain text body, and the number of `>` signs in front of it, which are not part of the text. */
export interface QuotedLine {
  depth: number;
  text: string;
}

export type MailPart =
  /** A complete HTML document or a fragment. `picture` returns the address of a picture of the message, by its Content-ID or location. */
  | { kind: 'html'; html: string; picture: (address: string) => string | undefined }
  | { kind: 'text'; lines: QuotedLine[] }
  /** A technical report, shown with its line breaks. */
  | { kind: 'report'; text: string }
  | { kind: 'message'; message: MailMessage };

interface MailAttachment {
  name: string;
  mimeType: string;
  /** Bytes after decoding. */
  size: number;
}

/** Counts the text of a message, because the memory that a conversion needs is many times its length. */
export class MailText {
  #length = 0;

  /** @throws ParseError DOCUMENT_TOO_COMPLEX above `mailTextLength` */
  add(text: string): void {
    this.#length += text.length;
    if (this.#length > DOCUMENT_LIMITS.mailTextLength)
      throw new ParseError(
        'DOCUMENT_TOO_COMPLEX',
        `The text of the message has more than ${DOCUMENT_LIMITS.mailTextLength} characters; send it as .txt or .html`,
      );
  }
}

/** Gives the pictures of a message their addresses: a reference to the collection of the response, or a data URL. */
export class MailPictures {
  readonly #collection: PictureCollection | undefined;
  /** Characters that all data URLs together may still have. */
  #left: number;
  #count = 0;

  /** @param embed writes data URLs. Without it and without a collection, pictures have no address. */
  constructor(embed: boolean, collection: PictureCollection | undefined) {
    this.#collection = collection;
    this.#left = embed ? DOCUMENT_LIMITS.fieldLength / 4 : 0;
  }

  /** The address of a picture; empty if it is not a picture, or if it has no address. Call it once for each picture. */
  address(mimeType: string, load: () => Uint8Array): string {
    if (!/^image\/[\w.+-]{1,60}$/.test(mimeType)) return '';
    if (this.#collection) return this.#collection.add(`mail ${this.#count++}`, load);
    if (this.#left <= 0) return '';
    const encoded = Buffer.from(load()).toString('base64');
    this.#left -= encoded.length;
    return this.#left < 0 ? '' : `data:${mimeType};base64,${encoded}`;
  }
}
