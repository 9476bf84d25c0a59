// Shows the record of the API: pages with blocks, text, tables, other outputs, warnings and timings.

import type { EmbeddedPicture, LinkedImage } from '#shared/contract/response.ts';
import type { CodeRequest } from './code.ts';
import { CodeView } from './code-view.ts';
import { copyButton, downloadText, element } from './elements.ts';
import { type PageSource, PagesView } from './pages-view.ts';
import type { Outcome, ParseData } from './parse-request.ts';
import { STAGE_NAMES } from './progress-view.ts';
import { type Redaction, redactionLegend } from './redactions.ts';
import { placeBlocks, sectionsOf, segmentsOf } from './segments.ts';
import { BlockSelection } from './selection.ts';
import { fillTables } from './table-view.ts';
import { findTables } from './tables.ts';
import { type Tab, Tabs } from './tabs.ts';
import { TextView } from './text-view.ts';
import { countText, durationText } from './units.ts';

interface ResultInput {
  fileName: string;
  outcome: Outcome;
  request: CodeRequest;
  redaction: Redaction | undefined;
  pages: { source: PageSource; ratio: number | undefined; count: number };
}

/** Longer output is cut in the page, because the browser would stop responding. The download has all of it. */
const SHOWN_LENGTH = 1_000_000;

export class ResultView {
  readonly #input: ResultInput;
  readonly #data: ParseData;
  readonly #selection = new BlockSelection();
  readonly #texts = new Map<string, TextView>();
  readonly #pictures = new Map<string, string>();
  #pages: PagesView | undefined;
  #openTab = '';

  constructor(input: ResultInput) {
    this.#input = input;
    this.#data = input.outcome.data;
    for (const image of this.#data.images ?? []) this.#addPicture(image);
  }

  /** @param host its former content is replaced */
  mount(host: HTMLElement): void {
    const { warning } = this.#data;
    const tabs = new Tabs('Output', this.#tabs(), (id) => {
      this.#openTab = id;
      this.#showSelected();
    });
    const pagesPane = this.#pagesPane();
    host.replaceChildren(
      this.#summary(),
      ...(warning
        ? [element('p', { class: 'notice warning', role: 'note' }, element('strong', {}, 'Warning '), warning)]
        : []),
      ...this.#redactions(),
      element(
        'div',
        { class: pagesPane ? 'split' : 'split single' },
        ...(pagesPane ? [pagesPane] : []),
        element('section', { class: 'pane', 'aria-label': 'Output' }, tabs.list, ...tabs.panels),
      ),
    );
    // The views measure their elements, so they are created when these are in the document.
    const scroller = pagesPane?.querySelector<HTMLElement>('.pages');
    if (scroller) this.#showPages(scroller);
    this.#selection.onChange(() => this.#showSelected());
    tabs.open(this.#tabs()[0]?.id ?? '');
  }

  close(): void {
    this.#pages?.close();
    for (const view of this.#texts.values()) view.disconnect();
    for (const url of this.#pictures.values()) URL.revokeObjectURL(url);
  }

  #showSelected(): void {
    const selected = this.#selection.current;
    if (!selected) return;
    this.#pages?.show(selected);
    this.#texts.get(this.#openTab)?.show(selected);
  }

  #summary(): HTMLElement {
    const { metadata, blocks } = this.#data;
    const { outcome, fileName } = this.#input;
    const { numPages, totalPages, creditsUsed } = metadata;
    const count = blocks?.reduce((sum, { items }) => sum + items.length, 0);
    const facts = [
      ...(numPages === undefined
        ? []
        : [
            totalPages !== undefined && totalPages > numPages
              ? `${numPages} of ${countText(totalPages, 'page')}`
              : countText(numPages, 'page'),
          ]),
      ...(count === undefined ? [] : [countText(count, 'block')]),
      countText(creditsUsed, 'credit'),
      durationText(outcome.totalMs),
    ];
    const json = (): string => JSON.stringify({ success: true, data: this.#data }, null, 2);
    const download = (label: string, name: string, text: () => string, type: string): HTMLElement => {
      const button = element('button', { type: 'button', class: 'quiet' }, label);
      button.addEventListener('click', () => downloadText(name, text(), type));
      return button;
    };
    const { markdown } = this.#data;
    return element(
      'header',
      { class: 'summary' },
      element('h2', { tabindex: -1, id: 'result-title' }, fileName),
      element('ul', { class: 'facts-line' }, ...facts.map((fact) => element('li', {}, fact))),
      this.#timings(),
      element(
        'div',
        { class: 'downloads' },
        ...(markdown === undefined
          ? []
          : [download('Download Markdown', `${fileName}.md`, () => markdown, 'text/markdown')]),
        download('Download JSON', `${fileName}.json`, json, 'application/json'),
      ),
    );
  }

  #timings(): HTMLElement {
    const { times, totalMs } = this.#input.outcome;
    return element(
      'details',
      { class: 'timings' },
      element('summary', {}, 'Timings'),
      element(
        'dl',
        {},
        ...[...times, { stage: 'total', milliseconds: totalMs }].flatMap(({ stage, milliseconds }) => [
          element('dt', {}, STAGE_NAMES[stage] ?? 'Total'),
          element('dd', {}, durationText(milliseconds), meter(milliseconds, totalMs)),
        ]),
      ),
    );
  }

  #redactions(): HTMLElement[] {
    const { redaction, pages } = this.#input;
    const { piiRedactions } = this.#data.metadata;
    return redaction ? [redactionLegend(piiRedactions ?? {}, redaction, pages.source.kind !== 'none')] : [];
  }

  #pagesPane(): HTMLElement | undefined {
    const { source } = this.#input.pages;
    const blocks = this.#data.blocks ?? [];
    if (source.kind === 'none' && blocks.length === 0) return undefined;
    const types = new Map<string, number>();
    for (const { items } of blocks) for (const { type } of items) types.set(type, (types.get(type) ?? 0) + 1);
    return element(
      'section',
      { class: 'pane', 'aria-label': 'Pages' },
      element(
        'ul',
        { class: 'type-legend', 'aria-label': 'Types of blocks' },
        ...[...types].map(([type, count]) =>
          element('li', { 'data-type': type }, element('span', {}, type.replaceAll('_', ' ')), ` ${count}`),
        ),
      ),
      element('div', { class: 'pages panel', tabindex: 0, role: 'region', 'aria-label': 'Pages with their blocks' }),
    );
  }

  #showPages(scroller: HTMLElement): void {
    const { source, ratio, count } = this.#input.pages;
    const pages =
      this.#data.blocks ??
      Array.from({ length: count }, (_, index) => ({
        pageNumber: index + 1,
        width: null,
        height: null,
        status: 'ok' as const,
        items: [],
      }));
    this.#pages = new PagesView(scroller, { pages, source, ratio }, this.#selection);
  }

  /** The tabs of the fields that the response has. */
  #tabs(): Tab[] {
    const { markdown, html, rawHtml, links, images, summary, json, pages, metadata } = this.#data;
    const tabs: Tab[] = [];
    const add = (id: string, label: string, fill: Tab['fill']): void => void tabs.push({ id, label, fill });
    if (markdown !== undefined) {
      const tables = findTables(markdown);
      add('text', 'Text', (panel) => this.#fillText(panel, 'text', markdown, 'rendered'));
      add('markdown', 'Markdown', (panel) => this.#fillText(panel, 'markdown', markdown, 'source'));
      add('tables', `Tables ${tables.length}`, (panel) => fillTables(panel, tables, markdown, this.#context));
    }
    if (summary != null) add('summary', 'Summary', (panel) => fillPlain(panel, summary));
    if (json !== undefined) add('json', 'JSON', (panel) => fillPlain(panel, JSON.stringify(json, null, 2)));
    if (pages) add('pages', 'By page', (panel) => this.#fillPages(panel, pages));
    if (html != null) add('html', 'HTML', (panel) => fillPlain(panel, html));
    if (rawHtml != null) add('rawHtml', 'Raw HTML', (panel) => fillPlain(panel, rawHtml));
    if (links) add('links', `Links ${links.length}`, (panel) => fillLinks(panel, links));
    if (images) add('images', `Images ${images.length}`, (panel) => this.#fillImages(panel, images));
    add('metadata', 'Metadata', (panel) => fillMetadata(panel, metadata));
    add('code', 'Code', (panel) => panel.append(new CodeView('result', this.#input.request).host));
    return tabs;
  }

  get #context() {
    return { redaction: this.#input.redaction, pictures: this.#pictures };
  }

  #fillText(panel: HTMLElement, id: string, markdown: string, kind: 'rendered' | 'source'): void {
    if (markdown.trim() === '') {
      panel.append(element('p', { class: 'empty' }, 'The document has no text.'));
      return;
    }
    const scroller = element('div', { class: 'text' });
    panel.append(
      element(
        'div',
        { class: 'panel-bar' },
        copyButton('Copy', () => markdown),
      ),
      scroller,
    );
    const sections = sectionsOf(segmentsOf(markdown, placeBlocks(this.#data.blocks ?? []).values()));
    const view = new TextView(panel, scroller, { markdown, sections, ...this.#context }, this.#selection, kind);
    this.#texts.set(id, view);
  }

  #fillPages(panel: HTMLElement, pages: NonNullable<ParseData['pages']>): void {
    const text = pages.map(({ pageNumber, markdown }) => `--- Page ${pageNumber} ---\n\n${markdown}`).join('\n\n');
    fillPlain(panel, text);
  }

  #fillImages(panel: HTMLElement, images: NonNullable<ParseData['images']>): void {
    if (images.length === 0) panel.append(element('p', { class: 'empty' }, 'The document has no images.'));
    const list = element('ul', { class: 'image-list' });
    for (const image of images) {
      const { id, url, alt, page, mimeType } = describeImage(image);
      const picture = this.#pictures.get(id ?? '');
      list.append(
        element(
          'li',
          {},
          ...(picture ? [element('img', { src: picture, alt: alt ?? '', class: 'picture' })] : []),
          url
            ? externalLink(url)
            : element('span', {}, [id, mimeType, page ? `page ${page}` : '', alt].filter(Boolean).join(', ')),
        ),
      );
    }
    panel.append(list);
  }

  #addPicture(image: Image): void {
    const { id, base64, mimeType = '' } = describeImage(image);
    if (id === undefined || base64 === undefined || !/^image\/(?:png|jpeg|gif|webp|bmp)$/.test(mimeType)) return;
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    this.#pictures.set(id, URL.createObjectURL(new Blob([bytes], { type: mimeType })));
  }
}

type Image = NonNullable<ParseData['images']>[number];

/** An item of `data.images` is a URL, or an object if the request asked for embedded pictures. */
const describeImage = (image: Image): Partial<EmbeddedPicture & LinkedImage> =>
  typeof image === 'string' ? { url: image } : image;

function meter(value: number, total: number): HTMLElement {
  const bar = element('span', { class: 'bar', 'aria-hidden': 'true' });
  bar.style.width = `${(100 * value) / Math.max(1, total)}%`;
  return bar;
}

/** A long text as it is, with its buttons. */
function fillPlain(panel: HTMLElement, text: string): void {
  panel.append(
    element(
      'div',
      { class: 'panel-bar' },
      copyButton('Copy', () => text),
    ),
    ...(text.length > SHOWN_LENGTH
      ? [
          element(
            'p',
            { class: 'notice' },
            `Only the first ${SHOWN_LENGTH.toLocaleString('en')} characters are shown. “Copy” and “Download JSON” have all of them.`,
          ),
        ]
      : []),
    element('pre', { class: 'source' }, text.slice(0, SHOWN_LENGTH)),
  );
}

function externalLink(url: string): HTMLElement {
  return /^(?:https?:|mailto:|tel:)/i.test(url)
    ? element('a', { href: url, target: '_blank', rel: 'noopener noreferrer' }, url)
    : element('span', {}, url);
}

function fillLinks(panel: HTMLElement, links: readonly string[]): void {
  panel.append(
    links.length === 0
      ? element('p', { class: 'empty' }, 'The document has no links.')
      : element('ul', { class: 'link-list' }, ...links.map((link) => element('li', {}, externalLink(link)))),
  );
}

function fillMetadata(panel: HTMLElement, metadata: ParseData['metadata']): void {
  panel.append(
    element(
      'dl',
      { class: 'metadata' },
      ...Object.entries(metadata).flatMap(([name, value]) => [
        element('dt', {}, name),
        element('dd', {}, typeof value === 'string' ? value : JSON.stringify(value)),
      ]),
    ),
  );
}
