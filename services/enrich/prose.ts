// Extracts from a Markdown document the prose that an extractive summary may quote.
import { PII_ENTITIES } from '#shared/contract/options-schema.ts';
import { BLOCK } from '#shared/document/elements.ts';
import { readInline } from '#shared/document/source/markdown-inline.ts';
import { type Range, readLines } from '#shared/document/source/markdown-lines.ts';

interface Paragraph {
  text: string;
  /** A heading or a list item names the topic of a paragraph, but is not a sentence to quote. */
  kind: 'heading' | 'item' | 'prose';
}

/** Starts of lines that are not prose: a comment, a definition of a link or footnote, an image, a part of an HTML table, a rule. */
const NOT_PROSE = /^(?:<!--|\[\^?[^\]]{1,100}\]:|!\[|<\/?(?:table|tr|td|th|thead|tbody|img|figure)\b|[*_]{3,}\s*$)/i;
const NOT_PROSE_UNITS = 200;
const REDACTION_MARKERS: ReadonlySet<string> = new Set(PII_ENTITIES.map((entity) => `<${entity}>`));

/** Paragraphs of prose, headings and list items, in order. Reads at most `most` code units. */
export function paragraphsOf(markdown: string, most: number): Paragraph[] {
  const source = markdown.slice(0, most);
  const paragraphs: Paragraph[] = [];
  let prose: string[] = [];
  const endParagraph = (): void => {
    if (prose.length > 0) paragraphs.push({ text: prose.join(' '), kind: 'prose' });
    prose = [];
  };
  for (const { content } of readLines(source)) {
    if (content.kind === 'code') continue;
    const range = 'range' in content && !isNotProse(source, content) ? content.range : undefined;
    const text = range ? plainText(source, range) : '';
    if (content.kind === 'paragraph' && range) {
      if (text !== '') prose.push(text);
      continue;
    }
    endParagraph();
    if ((content.kind === 'heading' || content.kind === 'item') && text !== '')
      paragraphs.push({ text, kind: content.kind });
  }
  endParagraph();
  return paragraphs;
}

function isNotProse(source: string, content: { kind: string; range: Range }): boolean {
  const [start] = content.range;
  return content.kind === 'paragraph' && NOT_PROSE.test(source.slice(start, start + NOT_PROSE_UNITS));
}

/** The words of one block, without Markdown marks. Links keep their words; images, footnote references, comments and tags are left out. */
export function plainText(source: string, [start, end]: Range): string {
  const parts: string[] = [];
  /** Brackets that are still open, by their index in `parts`. */
  const open: { image: boolean; index: number }[] = [];
  for (const token of readInline(source, start, end)) {
    const written = source.slice(token.start, token.end);
    switch (token.kind) {
      case 'text':
        // A closing bracket without a link target is text, so its opening bracket is text too.
        for (let index = written.indexOf(']'); index >= 0; index = written.indexOf(']', index + 1)) open.pop();
        parts.push(written);
        break;
      case 'decoded':
        parts.push(token.text);
        break;
      case 'code':
        parts.push(source.slice(token.text[0], token.text[1]));
        break;
      case 'open':
        open.push({ image: token.image, index: parts.length });
        parts.push(written);
        break;
      case 'target': {
        const opened = open.pop();
        if (opened?.image) parts.length = opened.index;
        else if (opened) parts[opened.index] = '';
        break;
      }
      case 'autolink':
      case 'mail':
        parts.push(written.slice(1, -1));
        break;
      case 'tag':
        if (REDACTION_MARKERS.has(written)) parts.push(written);
        else if (token.tag.name === 'br' || BLOCK.has(token.tag.name)) parts.push(' ');
        break;
      case 'note':
      case 'comment':
        break;
      default:
        token satisfies never;
    }
  }
  return parts.join('').replace(/\s+/g, ' ').trim();
}
