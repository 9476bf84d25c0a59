// Shows the pages of the file with its blocks drawn over them. A page is drawn only while it is near the visible area.
import type { Block, PageBlocks } from '#shared/contract/response.ts';
import { element, reveal, scrollWithin } from './elements.ts';
import type { PdfFile } from './pdf-file.ts';
import { type BlockSelection, type SelectedBlock, watchPointer } from './selection.ts';
import { countText } from './units.ts';

/** What is drawn below the blocks. */
export type PageSource = { kind: 'pdf'; file: PdfFile } | { kind: 'picture'; url: string } | { kind: 'none' };

/** Pages with a picture in memory. The page that was drawn first is dropped first. */
const DRAWN_PAGES = 24;
/** Width divided by height of a page whose size is not known yet (A4). */
const DEFAULT_RATIO = 1 / Math.SQRT2;
const MARGIN = '600px';
const REDRAW_DELAY_MS = 200;

interface Page {
  number: number;
  host: HTMLElement;
  blocks: readonly Block[];
  hasButtons: boolean;
  drawing: AbortController | undefined;
}

export class PagesView {
  readonly #scroller: HTMLElement;
  readonly #selection: BlockSelection;
  readonly #source: PageSource;
  readonly #pages = new Map<number, Page>();
  readonly #pageOfBlock = new Map<string, Page>();
  readonly #blockIds: string[];
  readonly #drawn: Page[] = [];
  readonly #visible: IntersectionObserver;
  readonly #resize: ResizeObserver;
  #width = 0;
  #redraw: ReturnType<typeof setTimeout> | undefined;

  constructor(
    scroller: HTMLElement,
    { pages, source, ratio }: { pages: readonly PageBlocks[]; source: PageSource; ratio: number | undefined },
    selection: BlockSelection,
  ) {
    this.#scroller = scroller;
    this.#selection = selection;
    this.#source = source;
    for (const blocks of pages) {
      const { pageNumber, items, width, height } = blocks;
      const page = this.#createPage(blocks, width && height ? width / height : (ratio ?? DEFAULT_RATIO));
      this.#pages.set(pageNumber, page);
      for (const { id, bbox } of items) if (bbox) this.#pageOfBlock.set(id, page);
    }
    this.#blockIds = [...this.#pageOfBlock.keys()];
    this.#visible = new IntersectionObserver((entries) => this.#onVisible(entries), {
      root: scroller,
      rootMargin: MARGIN,
    });
    this.#resize = new ResizeObserver(() => this.#onResize());
    scroller.replaceChildren(...[...this.#pages.values()].map(({ host }) => host));
    for (const { host } of this.#pages.values()) this.#visible.observe(host);
    this.#resize.observe(scroller);
    // The first page is the only tab stop among the blocks.
    const first = this.#pages.values().next().value;
    if (first) this.#addButtons(first);
    scroller.querySelector('.block')?.setAttribute('tabindex', '0');
    scroller.addEventListener('keydown', this.#onKey);
    watchPointer(scroller, blockIdOf, (id) => selection.select({ id, from: 'page', how: 'point' }));
  }

  /** Outlines a block, and scrolls to it if it was chosen in the text. */
  show(selected: SelectedBlock): void {
    for (const marked of this.#scroller.querySelectorAll('.block.marked')) {
      marked.classList.remove('marked');
      marked.removeAttribute('aria-current');
    }
    const button = this.#button(selected.id);
    if (!button) return;
    button.classList.add('marked');
    button.setAttribute('aria-current', 'true');
    if (selected.from === 'text' && selected.how !== 'point') {
      scrollWithin(this.#scroller, button);
      reveal(button);
    }
    if (selected.from === 'text' && selected.how === 'jump') this.#focus(button);
  }

  close(): void {
    this.#visible.disconnect();
    this.#resize.disconnect();
    clearTimeout(this.#redraw);
    this.#scroller.removeEventListener('keydown', this.#onKey);
    for (const { drawing } of this.#pages.values()) drawing?.abort();
  }

  #createPage({ pageNumber: number, items: blocks, status }: PageBlocks, ratio: number): Page {
    const state = { ok: '', partial: ', read with low confidence', failed: ', not read' }[status];
    const host = element(
      'div',
      {
        class: 'page',
        role: 'group',
        'data-page': number,
        'aria-label': `Page ${number}, ${countText(blocks.length, 'block')}${state}`,
      },
      element('div', { class: 'picture-layer' }),
      element('div', { class: 'block-layer' }),
      element('span', { class: 'page-number', 'data-status': status, 'aria-hidden': 'true' }, `${number}${state}`),
    );
    host.style.aspectRatio = String(ratio);
    return { number, host, blocks, hasButtons: false, drawing: undefined };
  }

  #addButtons(page: Page): void {
    if (page.hasButtons) return;
    page.hasButtons = true;
    const layer = page.host.querySelector('.block-layer');
    page.blocks.forEach((block, index) => {
      if (block.bbox) layer?.append(this.#createButton(block, block.bbox, `${index + 1} of ${page.blocks.length}`));
    });
  }

  #createButton(block: Block, [left, top, right, bottom]: NonNullable<Block['bbox']>, place: string): HTMLElement {
    const type = block.type.replaceAll('_', ' ');
    const hidden = block.markdownSpan === null ? '. It is not in the Markdown' : '';
    const button = element('button', {
      type: 'button',
      class: 'block',
      'data-block-id': block.id,
      'data-type': block.type,
      tabindex: -1,
      'aria-label': `${type}, ${place}${hidden}: ${block.content.slice(0, 120)}`,
      title: `${type}${hidden}`,
    });
    const percent = (value: number): string => `${value * 100}%`;
    button.style.left = percent(left);
    button.style.top = percent(top);
    button.style.width = percent(right - left);
    button.style.height = percent(bottom - top);
    button.addEventListener('focus', () => this.#selection.select({ id: block.id, from: 'page', how: 'point' }));
    button.addEventListener('click', (event) => {
      // Enter and Space click with detail 0. They take the keyboard to the text.
      this.#selection.select({ id: block.id, from: 'page', how: event.detail === 0 ? 'jump' : 'choose' });
    });
    return button;
  }

  #button(id: string): HTMLElement | undefined {
    const page = this.#pageOfBlock.get(id);
    if (!page) return undefined;
    this.#addButtons(page);
    return page.host.querySelector<HTMLElement>(`[data-block-id="${CSS.escape(id)}"]`) ?? undefined;
  }

  #focus(button: HTMLElement): void {
    for (const other of this.#scroller.querySelectorAll('.block[tabindex="0"]')) other.setAttribute('tabindex', '-1');
    button.setAttribute('tabindex', '0');
    button.focus({ preventScroll: true });
    scrollWithin(this.#scroller, button);
  }

  /** The arrow keys, Home and End move between the blocks, in reading order. */
  readonly #onKey = (event: KeyboardEvent): void => {
    const id = blockIdOf(event.target);
    if (id === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = this.#blockIds.indexOf(id);
    const next = { ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: -1 }[
      event.key
    ];
    if (next === undefined) return;
    event.preventDefault();
    const target = next === -1 && event.key !== 'End' ? undefined : this.#blockIds.at(next);
    const button = target === undefined ? undefined : this.#button(target);
    if (button) this.#focus(button);
  };

  #onVisible(entries: readonly IntersectionObserverEntry[]): void {
    for (const { isIntersecting, target } of entries) {
      const page = this.#pages.get(Number((target as HTMLElement).dataset.page));
      if (!page) continue;
      if (isIntersecting) {
        this.#addButtons(page);
        this.#draw(page);
      } else {
        page.drawing?.abort();
        page.drawing = undefined;
      }
    }
  }

  #draw(page: Page): void {
    const layer = page.host.querySelector('.picture-layer');
    if (!layer || layer.childElementCount > 0 || page.drawing) return;
    if (this.#source.kind === 'picture' && page.number === 1) this.#addPicture(page, layer, this.#source.url);
    if (this.#source.kind !== 'pdf') return;
    const drawing = new AbortController();
    page.drawing = drawing;
    this.#source.file
      .draw(page.number, page.host.clientWidth, drawing.signal)
      .then((picture) => {
        if (!picture || drawing.signal.aborted) return;
        page.host.style.aspectRatio = String(picture.size.ratio);
        layer.replaceChildren(picture.canvas);
        this.#remember(page);
      })
      .catch(() => layer.replaceChildren(element('p', { class: 'notice' }, 'This page cannot be drawn here.')))
      .finally(() => {
        if (page.drawing === drawing) page.drawing = undefined;
      });
  }

  #addPicture(page: Page, layer: Element, url: string): void {
    const image = element('img', { src: url, alt: '' });
    image.addEventListener('load', () => {
      page.host.style.aspectRatio = String(image.naturalWidth / image.naturalHeight);
    });
    image.addEventListener('error', () =>
      layer.replaceChildren(element('p', { class: 'notice' }, 'This browser cannot show images of this kind.')),
    );
    layer.replaceChildren(image);
  }

  #remember(page: Page): void {
    this.#drawn.push(page);
    if (this.#drawn.length > DRAWN_PAGES) this.#drawn.shift()?.host.querySelector('.picture-layer')?.replaceChildren();
  }

  /** Draws the visible pages again when their width has changed, so that they stay sharp. */
  #onResize(): void {
    const width = this.#scroller.clientWidth;
    if (this.#width === width) return;
    const first = this.#width === 0;
    this.#width = width;
    if (first) return;
    clearTimeout(this.#redraw);
    this.#redraw = setTimeout(() => {
      for (const page of this.#drawn.splice(0)) page.host.querySelector('.picture-layer')?.replaceChildren();
      for (const { host } of this.#pages.values()) {
        this.#visible.unobserve(host);
        this.#visible.observe(host);
      }
    }, REDRAW_DELAY_MS);
  }
}

const blockIdOf = (target: EventTarget | null): string | undefined =>
  target instanceof HTMLElement ? target.dataset.blockId : undefined;
