// Holds the block that is shown, so that the pages and the text point at each other without knowing each other.

/** Where a block was chosen. */
type Side = 'page' | 'text';

export interface SelectedBlock {
  id: string;
  from: Side;
  /** `point`: the pointer or the focus is on it. `choose`: it was clicked, or chosen with Enter; the other side takes the focus for `jump`. */
  how: 'point' | 'choose' | 'jump';
}

export class BlockSelection {
  #current: SelectedBlock | undefined;
  readonly #listeners: ((selected: SelectedBlock | undefined) => void)[] = [];

  get current(): SelectedBlock | undefined {
    return this.#current;
  }

  /** Calls `listener` after each change. */
  onChange(listener: (selected: SelectedBlock | undefined) => void): void {
    this.#listeners.push(listener);
  }

  select(selected: SelectedBlock): void {
    const current = this.#current;
    if (current?.id === selected.id && current.from === selected.from && selected.how === 'point') return;
    this.#current = selected;
    for (const listener of this.#listeners) listener(selected);
  }
}
