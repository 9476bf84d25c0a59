// Fills the sections of a long text when they come into view, so that a document of thousands of pages does not block the browser.

interface LazySection {
  /** Estimated height in pixels, until the section is filled. */
  height: number;
  fill: (host: HTMLElement) => void;
}

/** A text up to this many characters is filled at once, so that the browser's own search finds everything. */
const EAGER_LENGTH = 200_000;
/** How far outside of the visible area sections are filled, in pixels. */
const MARGIN = '1200px';

export class LazySections {
  readonly #sections: readonly LazySection[];
  readonly #hosts: HTMLElement[];
  readonly #filled = new Set<number>();
  readonly #observer: IntersectionObserver;

  /** @param scroller the element that scrolls, with `host` inside it */
  constructor(
    host: HTMLElement,
    scroller: HTMLElement,
    { sections, length }: { sections: readonly LazySection[]; length: number },
  ) {
    this.#sections = sections;
    this.#observer = new IntersectionObserver(
      (entries) => {
        for (const { isIntersecting, target } of entries)
          if (isIntersecting) this.fill(Number((target as HTMLElement).dataset.section));
      },
      { root: scroller, rootMargin: MARGIN },
    );
    this.#hosts = sections.map(({ height }, index) => {
      const section = document.createElement('div');
      section.className = 'section';
      section.dataset.section = String(index);
      section.style.minHeight = `${height}px`;
      return section;
    });
    host.replaceChildren(...this.#hosts);
    for (const [index, section] of this.#hosts.entries())
      if (length <= EAGER_LENGTH) this.fill(index);
      else this.#observer.observe(section);
  }

  /** Fills a section now, because something in it must be shown. */
  fill(index: number): void {
    const host = this.#hosts[index];
    const section = this.#sections[index];
    if (!host || !section || this.#filled.has(index)) return;
    this.#filled.add(index);
    this.#observer.unobserve(host);
    host.style.minHeight = '';
    section.fill(host);
  }

  disconnect(): void {
    this.#observer.disconnect();
  }
}
