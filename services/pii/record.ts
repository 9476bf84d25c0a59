// Redacts a whole record: every text that leaves, with spans kept true (SPEC 2.2, 2.7; DECISIONS "Response").
import type { DocumentMetadata, RecordHead } from '#shared/contract/jobs.ts';
import type { PiiEntity } from '#shared/contract/options.ts';
import type { Block, Page, PageBlocks, RecordFields } from '#shared/contract/response.ts';
import { projectHtml } from './projection/html.ts';
import { projectMarkdown } from './projection/markdown.ts';
import { type Projection, ProjectionBuilder } from './projection/projection.ts';
import { projectUrl } from './projection/url.ts';
import { isCommon, isFirstName, isLastName } from './recognizers/person-name.ts';
import type { RedactedText, Redactor } from './redactor.ts';

/** Metadata that the server makes itself and clients match on. */
const OWN_KEYS: ReadonlySet<string> = new Set([
  'contentType',
  'statusCode',
  'language',
  'numPages',
  'totalPages',
  'creditsUsed',
  'requestId',
  'piiRedactions',
  'concurrencyLimited',
]);
/** Names of files: written like prose or like an address. */
const FILE_KEYS: ReadonlySet<string> = new Set(['sourceURL', 'url']);
/** Metadata that names the people who wrote or sent a document. */
const PERSON_KEYS =
  /^(?:dc[._:]?)?(?:author|authors|creator|lastmodifiedby|last[-_ ]?author|manager|article:author|twitter:creator|contributor|ogarticleauthor|editor|byline)$/i;

function* projectPlain(source: string): Generator<Projection> {
  const builder = new ProjectionBuilder('text', 'raw');
  builder.copy(source, 0, source.length);
  yield* builder.take();
}

function* projectAddress(source: string): Generator<Projection> {
  const builder = new ProjectionBuilder('url', 'percent');
  projectUrl(builder, source, 0, source.length);
  yield* builder.take();
}

const isAddress = (text: string): boolean => /^(?:[a-z][a-z0-9+.-]{1,20}:\/\/|mailto:|tel:|\/)\S*$/i.test(text);

type Counts = RedactedText['counts'];

/** Redacts fields one after the other and keeps the counts. */
export class RecordRedaction {
  readonly #redactor: Redactor;
  readonly #counts: Counts = {};

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  async run(fields: RecordFields, head: RecordHead): Promise<{ fields: RecordFields; head: RecordHead }> {
    this.#learnAuthors(head.metadata);
    const result: RecordFields = { ...fields };
    let redactedMarkdown: RedactedText | undefined;
    if (fields.markdown !== undefined) {
      const markdown = await this.#redactor.redact(fields.markdown, projectMarkdown, true);
      this.#count(markdown.counts);
      result.markdown = markdown.text;
      redactedMarkdown = markdown;
      if (fields.blocks) result.blocks = await this.#blocks(fields.blocks, fields.markdown, markdown);
    } else if (fields.blocks) result.blocks = await this.#blocks(fields.blocks, undefined, undefined);
    if (fields.html) result.html = await this.#one(fields.html, projectHtml);
    if (fields.rawHtml) result.rawHtml = await this.#one(fields.rawHtml, projectHtml);
    if (fields.pages) result.pages = await this.#pages(fields.pages, fields.markdown, redactedMarkdown);
    if (fields.links) result.links = await this.#list(fields.links, projectAddress);
    if (fields.images) result.images = await this.#list(fields.images, projectAddress);
    if (fields.summary) result.summary = await this.#text(fields.summary, projectMarkdown);
    if (fields.json !== undefined) result.json = await this.#json(fields.json, 0);
    const metadata = await this.#metadata(head.metadata);
    const warnings = await this.#list(head.warnings, projectPlain);
    metadata.piiRedactions = this.#counts as Record<string, number>;
    return { fields: result, head: { metadata, warnings } };
  }

  #learnAuthors(metadata: DocumentMetadata): void {
    for (const [key, value] of Object.entries(metadata))
      if (PERSON_KEYS.test(key)) for (const name of authorNames(value)) this.#redactor.learn(name, 'PERSON');
  }

  async #metadata(metadata: DocumentMetadata): Promise<DocumentMetadata> {
    const result: DocumentMetadata = {};
    for (const [key, value] of Object.entries(metadata)) {
      if (OWN_KEYS.has(key)) result[key] = value;
      else if (FILE_KEYS.has(key) && typeof value === 'string')
        result[key] = await this.#text(await this.#text(value, projectPlain), projectAddress);
      else if (typeof value === 'string')
        result[await this.#key(key)] = await this.#text(value, isAddress(value) ? projectAddress : projectPlain);
      else if (Array.isArray(value)) result[await this.#key(key)] = await this.#list(value, projectPlain);
      else result[await this.#key(key)] = value;
    }
    return result;
  }

  /** Names of documented and usual metadata stay as they are; any other key is a text of the document. */
  async #key(key: string): Promise<string> {
    return /^[A-Za-z][\w:.-]{0,63}$/.test(key) && !/\d{5}/.test(key) ? key : this.#text(key, projectPlain);
  }

  async #one(text: string, project: (source: string) => Iterable<Projection>): Promise<string> {
    const redacted = await this.#redactor.redact(text, project);
    this.#count(redacted.counts);
    return redacted.text;
  }

  async #text(text: string, project: (source: string) => Iterable<Projection>): Promise<string> {
    return text === '' ? '' : (await this.#redactor.redact(text, project)).text;
  }

  async #list(texts: readonly string[], project: (source: string) => Iterable<Projection>): Promise<string[]> {
    const result: string[] = [];
    for (const text of texts) result.push(await this.#text(text, project));
    return result;
  }

  /** A JSON value with its strings redacted. Nesting past the bound is hidden whole. */
  async #json(value: unknown, depth: number): Promise<unknown> {
    if (typeof value === 'string') return this.#text(value, projectPlain);
    if (typeof value !== 'object' || value === null) return value;
    if (depth > JSON_DEPTH) return null;
    if (Array.isArray(value)) return Promise.all(value.map((item) => this.#json(item, depth + 1)));
    const result: Record<string, unknown> = {};
    for (const [key, item] of Object.entries(value)) result[key] = await this.#json(item, depth + 1);
    return result;
  }

  /** A page that stands in the document's Markdown as it is takes its redaction from there; any other is redacted by itself. */
  async #pages(
    pages: readonly Page[],
    before: string | undefined,
    markdown: RedactedText | undefined,
  ): Promise<Page[]> {
    const result: Page[] = [];
    let cursor = 0;
    for (const page of pages) {
      const reach = before?.slice(cursor, cursor + page.markdown.length + PAGE_GAP) ?? '';
      const found = page.markdown === '' ? -1 : reach.indexOf(page.markdown);
      if (found < 0 || !markdown) result.push({ ...page, markdown: await this.#text(page.markdown, projectMarkdown) });
      else {
        const start = cursor + found;
        cursor = start + page.markdown.length;
        result.push({ ...page, markdown: markdown.text.slice(markdown.map(start), markdown.map(cursor)) });
      }
    }
    return result;
  }

  async #blocks(
    pages: readonly PageBlocks[],
    before: string | undefined,
    markdown: RedactedText | undefined,
  ): Promise<PageBlocks[]> {
    const result: PageBlocks[] = [];
    for (const page of pages) {
      const items: Block[] = [];
      for (const block of page.items) items.push(await this.#block(block, before, markdown));
      result.push({ ...page, items });
    }
    return result;
  }

  async #block(block: Block, before: string | undefined, markdown: RedactedText | undefined): Promise<Block> {
    const span = block.markdownSpan;
    if (span && before !== undefined && markdown && before.slice(span[0], span[1]) === block.content) {
      const start = markdown.map(span[0]);
      const end = Math.max(start, markdown.map(span[1]));
      return { ...block, content: markdown.text.slice(start, end), markdownSpan: [start, end] };
    }
    return { ...block, content: await this.#text(block.content, projectMarkdown), markdownSpan: null };
  }

  /** The same fragment stands in many fields; the field that holds most of a kind tells how many there are. */
  #count(counts: Counts): void {
    for (const [entity, count] of Object.entries(counts) as [PiiEntity, number][])
      this.#counts[entity] = Math.max(this.#counts[entity] ?? 0, count);
  }
}

const JSON_DEPTH = 64;
/** Code units between two pages in the document's Markdown: blank lines and a page marker. */
const PAGE_GAP = 200;

/** Names in an author field: separated by commas, semicolons or "and"; firms, offices and programs are left out. */
function authorNames(value: DocumentMetadata[string]): string[] {
  const texts = typeof value === 'string' ? [value] : Array.isArray(value) ? value : [];
  return texts
    .flatMap((text) => text.split(/[;,&]|\band\b/))
    .map((name) => name.trim())
    .filter((name) => {
      const words = name.split(/\s+/);
      const known = words.some((word) => isFirstName(word) || isLastName(word));
      if (!/^[\p{L}\p{M}'’. -]{2,100}$/u.test(name) || words.length > 5) return false;
      return words.length === 1 ? known : known || !words.some((word) => isCommon(word));
    });
}
