// Shows the Markdown, rendered or as source, with each block linked to its place on the page.
import { element, reveal, scrollWithin } from './elements.ts';
import { LazySections } from './lazy-sections.ts';
import { markRedactions } from './redactions.ts';
import { type RenderContext, renderMarkdown } from './rendered-markdown.ts';
import type { Segment } from './segments.ts';
import { type BlockSelection, type SelectedBlock, watchPointer } from './selection.ts';

interface TextSource extends RenderContext {
  markdown: string;
  sections: readonly (readonly Segment[])[];
}

/** Height of a character's share of a line, in pixels, to estimate the height of a section. */
const HEIGHT_PER_CHARACTER = 0.28;

export class TextView {
  readonly #source: TextSource;
  readonly #scroller: HTMLElement;
  readonly #selection: BlockSelection;
  readonly #sections: LazySections;
  readonly #sectionOf = new Map<string, number>();
  #marked: Element | null = null;

  /** @param scroller contains `container` and scrolls it @param kind `rendered`: formatted text; `source`: the Markdown itself */
  constructor(
    scroller: HTMLElement,
    container: HTMLElement,
    source: TextSource,
    selection: BlockSelection,
    kind: 'rendered' | 'source',
  ) {
    this.#source = source;
    this.#scroller = scroller;
    this.#selection = selection;
    const host: HTMLElement = element(kind === 'source' ? 'pre' : 'div', {
      class: kind === 'source' ? 'source' : 'prose',
    });
    container.replaceChildren(host);
    for (const [index, segments] of source.sections.entries())
      for (const { placed } of segments) if (placed) this.#sectionOf.set(placed.block.id, index);
    this.#sections = new LazySections(host, scroller, {
      length: source.markdown.length,
      sections: source.sections.map((segments) => ({
        height: heightOf(segments),
        fill: (section) =>
          section.append(
            ...segments.flatMap((segment) => (kind === 'source' ? this.#sourceOf(segment) : this.#renderedOf(segment))),
          ),
      })),
    });
    this.#enableKeyboard();
    host.addEventListener('click', (event) => this.#onClick(event));
    host.addEventListener('keydown', (event) => this.#onKey(event));
    watchPointer(host, blockIdOf, (id) => selection.select({ id, from: 'text', how: 'point' }));
    host.addEventListener('focusin', (event) => {
      const id = blockIdOf(event.target);
      if (id !== undefined) selection.select({ id, from: 'text', how: 'point' });
    });
  }

  /** Marks the text of a block, and scrolls to it if it was chosen on the page. */
  show(selected: SelectedBlock): void {
    this.#marked?.classList.remove('marked');
    const section = this.#sectionOf.get(selected.id);
    if (section === undefined) return;
    this.#sections.fill(section);
    const found = this.#scroller.querySelector<HTMLElement>(`[data-block="${CSS.escape(selected.id)}"]`);
    this.#marked = found;
    if (!found) return;
    found.classList.add('marked');
    if (selected.from === 'page') scrollWithin(this.#scroller, found);
    if (selected.from === 'page' && selected.how !== 'point') reveal(found);
    if (selected.from === 'page' && selected.how === 'jump') this.#focus(found);
  }

  disconnect(): void {
    this.#sections.disconnect();
  }

  #text({ start, end }: Segment): string {
    return this.#source.markdown.slice(start, end);
  }

  #sourceOf(segment: Segment): Node[] {
    const nodes = markRedactions(this.#text(segment), this.#source.redaction);
    if (!segment.placed) return nodes;
    const { block } = segment.placed;
    return [
      element('span', { class: 'span', 'data-block': block.id, 'data-type': block.type, tabindex: -1 }, ...nodes),
    ];
  }

  #renderedOf(segment: Segment): Node[] {
    const text = this.#text(segment);
    if (!segment.placed) {
      const marker = /<!-- page (\d+) -->/.exec(text)?.[1];
      if (marker !== undefined) return [element('p', { class: 'page-break' }, `Page ${marker}`)];
      const head = segment.tableHead ? this.#source.markdown.slice(...segment.tableHead) : '';
      return text.trim() === '' ? [] : [renderMarkdown(head + text, this.#source)];
    }
    const { block, pageNumber } = segment.placed;
    const show = element('button', {
      type: 'button',
      class: 'gutter',
      tabindex: -1,
      'aria-label': `Show this ${block.type.replaceAll('_', ' ')} on page ${pageNumber}`,
    });
    return [
      element(
        'div',
        { class: 'linked', 'data-block': block.id, 'data-type': block.type },
        show,
        renderMarkdown(text, this.#source),
      ),
    ];
  }

  #onClick(event: MouseEvent): void {
    const target = event.target instanceof Element ? event.target : null;
    const id = blockIdOf(target);
    // A click at the end of a selection of text, or on a link, is not a choice of the block.
    if (id === undefined || target?.closest('a[href]') || getSelection()?.isCollapsed === false) return;
    this.#selection.select({ id, from: 'text', how: 'choose' });
  }

  /** The arrow keys move from block to block, so that the text has one tab stop. Enter shows the block on the page. */
  #onKey(event: KeyboardEvent): void {
    const id = blockIdOf(event.target);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (id === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target instanceof Element && event.target.closest('a, .table-scroll')) return;
    if (event.key === 'Enter') {
      event.preventDefault();
      this.#selection.select({ id, from: 'text', how: 'jump' });
    } else if (step !== undefined) {
      const ids = [...this.#sectionOf.keys()];
      const next = ids[ids.indexOf(id) + step];
      if (next === undefined) return;
      event.preventDefault();
      this.#sections.fill(this.#sectionOf.get(next) ?? 0);
      const found = this.#scroller.querySelector<HTMLElement>(`[data-block="${CSS.escape(next)}"]`);
      if (found) this.#focus(found);
    }
  }

  #focus(block: HTMLElement): void {
    const stop = block.querySelector<HTMLElement>('.gutter') ?? block;
    for (const other of this.#scroller.querySelectorAll('.gutter[tabindex="0"], .span[tabindex="0"]'))
      other.setAttribute('tabindex', '-1');
    stop.setAttribute('tabindex', '0');
    stop.focus({ preventScroll: true });
    scrollWithin(this.#scroller, block);
  }

  /** Makes the first block a tab stop. */
  #enableKeyboard(): void {
    this.#scroller.querySelector('.gutter, .span')?.setAttribute('tabindex', '0');
  }
}

const heightOf = (segments: readonly Segment[]): number =>
  Math.max(24, ((segments.at(-1)?.end ?? 0) - (segments[0]?.start ?? 0)) * HEIGHT_PER_CHARACTER);

function blockIdOf(target: EventTarget | null): string | undefined {
  const block = target instanceof Element ? target.closest('[data-block]') : null;
  return block instanceof HTMLElement ? block.dataset.block : undefined;
}
