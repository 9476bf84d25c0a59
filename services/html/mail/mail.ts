// Converts mail messages: writes the header, the body, messages in the message and the list of attachments as semantic HTML.

import type { Element } from 'domhandler';
import type { DocumentMetadata, RenderOptions } from '#shared/contract/jobs.ts';
import type { ConvertedDocument, SourceFile } from '#shared/document/document.ts';
import { isElement, removeElements, walk } from '#shared/document/dom.ts';
import { escapeHtml } from '#shared/document/escape-html.ts';
import { PictureCollection } from '#shared/document/pictures.ts';
import { serialize } from '#shared/document/serialize.ts';
import { parseHtml } from '#shared/document/tree.ts';
import { readEml } from './eml.ts';
import { type MailMessage, type MailPart, MailPictures } from './message.ts';
import { readMsg } from './msg.ts';
import { quotedLinesHtml } from './text-body.ts';

/** Only values of this many characters become metadata. */
const VALUE_LENGTH = 20_000;

/**
 * Converts one message (docs/api.md, "Kinds of file").
 * @throws ParseError DOCUMENT_CORRUPT, DOCUMENT_ENCRYPTED, DOCUMENT_TOO_COMPLEX
 */
export function convertMail(file: SourceFile, options: RenderOptions): ConvertedDocument {
  const bytes = Buffer.from(file.bytes.buffer, file.bytes.byteOffset, file.bytes.byteLength);
  const collection = options.embeddedImages ? new PictureCollection() : undefined;
  const pictures = new MailPictures(!options.removeBase64Images, collection);
  const message = file.extension === '.msg' ? readMsg(bytes, pictures) : readEml(bytes, pictures);
  return {
    genre: 'document',
    layoutTables: true,
    html: messageHtml(message, 1),
    ...(collection ? { pictures: collection } : {}),
    metadata: metadataOf(message),
    warnings: message.body.length === 0 ? ['The message contains no text'] : [],
  };
}

function metadataOf(message: MailMessage): DocumentMetadata {
  const metadata: DocumentMetadata = {};
  const author = message.from.map((person) => person.replace(/ <[^<>]*>$/, '')).join(', ');
  if (message.subject !== '') metadata.title = message.subject.slice(0, VALUE_LENGTH);
  if (author !== '') metadata.author = author.slice(0, VALUE_LENGTH);
  for (const name of ['from', 'to', 'cc'] as const)
    if (message[name].length > 0)
      metadata[name] = message[name].slice(0, 1_000).map((person) => person.slice(0, VALUE_LENGTH));
  if (message.isoDate !== undefined) metadata.publishedTime = message.isoDate;
  return metadata;
}

/** @param level of the heading with the subject */
function messageHtml(message: MailMessage, level: number): string {
  const parts: string[] = [];
  const heading = (depth: number, text: string) =>
    `<h${Math.min(6, depth)}>${escapeHtml(text)}</h${Math.min(6, depth)}>`;
  if (message.subject !== '') parts.push(heading(level, message.subject));
  const lines = [
    ['From', message.from.join(', ')],
    ['To', message.to.join(', ')],
    ['Cc', message.cc.join(', ')],
    ['Date', message.date],
  ].flatMap(([name = '', value = '']) => (value === '' ? [] : [`<strong>${name}:</strong> ${escapeHtml(value)}`]));
  if (lines.length > 0) parts.push(`<p>${lines.join('<br>\n')}</p>`);
  for (const part of message.body) parts.push(partHtml(part, level));
  if (message.attachments.length > 0) {
    const items = message.attachments.map(
      ({ name, mimeType, size }) => `<li>${escapeHtml(name)} (${escapeHtml(mimeType)}, ${sizeText(size)})</li>`,
    );
    parts.push(heading(level + 1, 'Attachments'), `<ul>\n${items.join('\n')}\n</ul>`);
  }
  return parts.join('\n');
}

function partHtml(part: MailPart, level: number): string {
  switch (part.kind) {
    case 'text':
      return quotedLinesHtml(part.lines);
    case 'report':
      return `<pre>${escapeHtml(part.text.trim())}</pre>`;
    case 'message':
      return `<hr>\n${messageHtml(part.message, level + 1)}`;
    case 'html':
      return bodyHtml(part);
  }
}

/** The body of an HTML part, with pictures of the message as data URLs and without text that mail programs hide. */
function bodyHtml({ html, picture }: Extract<MailPart, { kind: 'html' }>): string {
  const { body } = parseHtml(html);
  const dropped: Element[] = [];
  walk(body.children, (node) => {
    if (!isElement(node)) return true;
    const { attribs } = node;
    if (
      node.name === 'script' ||
      node.name === 'style' ||
      /display\s*:\s*none|mso-hide\s*:\s*all/i.test(attribs.style?.slice(0, 1_000) ?? '')
    ) {
      dropped.push(node);
      return false;
    }
    if (node.name !== 'img') return true;
    const source = attribs.src?.trim() ?? '';
    const url = picture(source);
    if (url === undefined && !/^cid:/i.test(source)) return true;
    attribs.src = url ?? '';
    if (attribs.src === '' && !attribs.alt?.trim()) dropped.push(node);
    return true;
  });
  removeElements(dropped);
  return serialize(body.children);
}

function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  const [unit, value] = bytes < 999_500 ? ['KB', bytes / 1000] : ['MB', bytes / 1_000_000];
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}
