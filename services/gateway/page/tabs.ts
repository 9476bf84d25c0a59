// Tabs with the roles and keys of the WAI-ARIA Authoring Practices. A panel is filled when it is opened for the first time.
import { element } from './elements.ts';

export interface Tab {
  id: string;
  label: string;
  fill: (panel: HTMLElement) => void;
}

export class Tabs {
  readonly list: HTMLElement;
  readonly panels: HTMLElement[];
  readonly #tabs: readonly Tab[];
  readonly #buttons: HTMLButtonElement[];
  readonly #filled = new Set<string>();
  readonly #onOpen: (id: string) => void;

  constructor(label: string, tabs: readonly Tab[], onOpen: (id: string) => void = () => undefined) {
    this.#tabs = tabs;
    this.#onOpen = onOpen;
    this.#buttons = tabs.map(({ id, label: text }) =>
      element(
        'button',
        {
          type: 'button',
          role: 'tab',
          id: `tab-${id}`,
          'aria-controls': `panel-${id}`,
          'aria-selected': 'false',
          tabindex: -1,
        },
        text,
      ),
    );
    this.panels = tabs.map(({ id }) =>
      element('div', {
        role: 'tabpanel',
        id: `panel-${id}`,
        'aria-labelledby': `tab-${id}`,
        tabindex: 0,
        class: 'panel',
        hidden: true,
      }),
    );
    this.list = element('div', { role: 'tablist', 'aria-label': label, class: 'tabs' }, ...this.#buttons);
    this.list.addEventListener('click', (event) => {
      const index = this.#buttons.indexOf(event.target as HTMLButtonElement);
      if (index >= 0) this.open(tabs[index]?.id ?? '');
    });
    this.list.addEventListener('keydown', (event) => this.#onKey(event));
  }

  open(id: string): void {
    const index = this.#tabs.findIndex((tab) => tab.id === id);
    const tab = this.#tabs[index];
    if (!tab) return;
    for (const [at, button] of this.#buttons.entries()) {
      button.setAttribute('aria-selected', String(at === index));
      button.tabIndex = at === index ? 0 : -1;
      this.panels[at]!.hidden = at !== index;
    }
    if (!this.#filled.has(id)) {
      this.#filled.add(id);
      tab.fill(this.panels[index]!);
    }
    this.#buttons[index]?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    this.#onOpen(id);
  }

  #onKey(event: KeyboardEvent): void {
    const at = this.#buttons.indexOf(document.activeElement as HTMLButtonElement);
    const count = this.#buttons.length;
    const next = { ArrowRight: (at + 1) % count, ArrowLeft: (at + count - 1) % count, Home: 0, End: count - 1 }[
      event.key
    ];
    if (at < 0 || next === undefined) return;
    event.preventDefault();
    this.open(this.#tabs[next]?.id ?? '');
    this.#buttons[next]?.focus();
  }
}
