// Redacts a record field by field, so that a field without a redactor does not compile and an unknown field is dropped at run time.
import type { RecordReport } from '#shared/contract/jobs.ts';
import type { PiiEntity } from '#shared/contract/options-schema.ts';
import type { Block, FieldName, Page, PageBlocks, RecordFields } from '#shared/contract/response.ts';
import { authorsOf } from './authors.ts';
import { redactMetadata } from './metadata.ts';
import { projectHtml } from './projection/html.ts';
import { projectMarkdown } from './projection/markdown.ts';
import { projectPlain, projectUrlValue } from './projection/value.ts';
import type { Project, RedactedText, Redactor } from './redactor.ts';
import { ValueRedaction } from './value.ts';

/** `T` with every key required: an object literal of this type does not compile if an optional field is missing. */
type Complete<T> = { [Key in keyof Required<T>]: T[Key] };

/** How each field of a record is redacted. Null and absent fields are not passed to it. */
type FieldRedactors = {
  [Field in FieldName]: (value: NonNullable<RecordFields[Field]>) => Promise<RecordFields[Field]>;
};

type Counts = RedactedText['counts'];

/** Code units between two pages in the document's Markdown: blank lines and a page marker. */
const PAGE_GAP = 200;

/** Redacts one record. All fields share the found fragments, so a fragment that is found in one field is redacted in every later field. */
export class RecordRedaction {
  readonly #redactor: Redactor;
  readonly #values: ValueRedaction;
  readonly #counts: Counts = {};
  /** The document's Markdown before and after its redaction. */
  #markdown: { before: string; after: RedactedText } | undefined;
  /** The order matters: the Markdown is first, because pages and blocks take their redaction from it. */
  readonly #redactors: FieldRedactors = {
    markdown: (text) => this.#primary(text),
    blocks: (pages) => this.#blocks(pages),
    html: (text) => this.#counted(text, projectHtml),
    rawHtml: (text) => this.#counted(text, projectHtml),
    pages: (pages) => this.#pages(pages),
    links: (links) => this.#values.list(links, projectUrlValue),
    // The options do not permit embedded pictures together with redaction, so pictures are left out here.
    images: (images) =>
      this.#values.list(
        images.filter((image) => typeof image === 'string'),
        projectUrlValue,
      ),
    summary: (text) => this.#values.text(text, projectMarkdown),
    json: (value) => this.#values.json(value),
  };

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
    this.#values = new ValueRedaction(redactor);
  }

  async run(fields: RecordFields, report: RecordReport): Promise<{ fields: RecordFields; report: RecordReport }> {
    for (const name of authorsOf(report.metadata)) this.#redactor.learn(name, 'PERSON');
    const redactedFields: RecordFields = {};
    for (const name of Object.keys(this.#redactors) as FieldName[]) await this.#field(name, fields, redactedFields);
    const metadata = await redactMetadata(report.metadata, this.#values);
    const warnings = await this.#values.list(report.warnings, projectPlain);
    metadata.piiRedactions = this.#counts as Record<string, number>;
    const redactedReport: Complete<RecordReport> = { metadata, warnings };
    return { fields: redactedFields, report: redactedReport };
  }

  async #field<Name extends FieldName>(name: Name, from: RecordFields, to: RecordFields): Promise<void> {
    const value = from[name];
    if (value === undefined) return;
    to[name] = value === null ? value : await this.#redactors[name](value);
  }

  async #primary(text: string): Promise<string> {
    const after = await this.#redactor.redact(text, projectMarkdown, true);
    this.#count(after.counts);
    this.#markdown = { before: text, after };
    return after.text;
  }

  async #counted(text: string, project: Project): Promise<string> {
    const redacted = await this.#redactor.redact(text, project);
    this.#count(redacted.counts);
    return redacted.text;
  }

  /** One finding can occur in several fields, so the counts of fields are not added: the largest count is taken. */
  #count(counts: Counts): void {
    for (const [entity, count] of Object.entries(counts) as [PiiEntity, number][])
      this.#counts[entity] = Math.max(this.#counts[entity] ?? 0, count);
  }

  /** A page that is found in the document's Markdown takes its redaction from there. Any other page is redacted by itself. */
  async #pages(pages: readonly Page[]): Promise<Page[]> {
    const result: Page[] = [];
    let cursor = 0;
    for (const page of pages) {
      const text = page.markdown;
      const reach = this.#markdown?.before.slice(cursor, cursor + text.length + PAGE_GAP) ?? '';
      const found = text === '' ? -1 : reach.indexOf(text);
      let markdown: string;
      if (found < 0 || !this.#markdown) markdown = await this.#values.text(text, projectMarkdown);
      else {
        const { after } = this.#markdown;
        const start = cursor + found;
        cursor = start + text.length;
        markdown = after.text.slice(after.map(start), after.map(cursor));
      }
      const redacted: Complete<Page> = { pageNumber: page.pageNumber, markdown };
      result.push(redacted);
    }
    return result;
  }

  async #blocks(pages: readonly PageBlocks[]): Promise<PageBlocks[]> {
    const result: PageBlocks[] = [];
    for (const { pageNumber, width, height, status, items } of pages) {
      const blocks: Block[] = [];
      for (const block of items) blocks.push(await this.#block(block));
      const redacted: Complete<PageBlocks> = { pageNumber, width, height, status, items: blocks };
      result.push(redacted);
    }
    return result;
  }

  async #block(block: Block): Promise<Block> {
    const { content, span } = await this.#fragment(block.content, block.markdownSpan);
    const confidence: Complete<Block['confidence']> = {
      layout: block.confidence.layout,
      ocr: block.confidence.ocr,
    };
    const redacted: Complete<Block> = {
      id: block.id,
      type: block.type,
      label: await this.#values.ownName(block.label),
      content,
      bbox: block.bbox,
      readingOrder: block.readingOrder,
      markdownSpan: span,
      source: await this.#values.ownName(block.source),
      confidence,
    };
    return redacted;
  }

  /** Content that is found at its span takes its redaction from the document's Markdown. Other content is redacted by itself and has no span. */
  async #fragment(
    content: string,
    span: Block['markdownSpan'],
  ): Promise<{ content: string; span: Block['markdownSpan'] }> {
    if (!span || !this.#markdown || this.#markdown.before.slice(span[0], span[1]) !== content)
      return { content: await this.#values.text(content, projectMarkdown), span: null };
    const { after } = this.#markdown;
    const start = after.map(span[0]);
    const end = Math.max(start, after.map(span[1]));
    return { content: after.text.slice(start, end), span: [start, end] };
  }
}
