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

/** A pointer on its way to another block selects nothing. */
const HOVER_DELAY_MS = 80;

let lastPosition = '';
const positionOf = ({ screenX, screenY }: PointerEvent): string => `${screenX} ${screenY}`;
addEventListener('pointerdown', (event) => (lastPosition = positionOf(event)), { capture: true });

/**
 * Calls `point` when the pointer moves to another block below `host`. Scrolling moves elements below a pointer that
 * stands still; that is no choice of the user.
 */
export function watchPointer(
  host: HTMLElement,
  blockOf: (target: EventTarget | null) => string | undefined,
  point: (id: string) => void,
): void {
  let current: string | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const enter = (id: string | undefined): void => {
    if (id === current) return;
    current = id;
    clearTimeout(timer);
    if (id !== undefined) timer = setTimeout(() => point(id), HOVER_DELAY_MS);
  };
  host.addEventListener('pointermove', (event) => {
    const position = positionOf(event);
    if (position !== lastPosition) enter(blockOf(event.target));
    lastPosition = position;
  });
  host.addEventListener('pointerleave', () => enter(undefined));
}
