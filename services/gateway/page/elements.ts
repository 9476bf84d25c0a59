// Creates and finds elements with their types, because the page is built without markup strings.

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** An element with attributes and children. `true` sets an empty attribute; `false` and undefined set none. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const created = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined && value !== false) created.setAttribute(name, value === true ? '' : String(value));
  created.append(...children);
  return created;
}

/** The element of index.html with this id. @throws Error if it is missing or has another type */
export function required<T extends HTMLElement>(id: string, type: abstract new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`index.html has no #${id} of the expected type`);
  return found;
}

/** Scrolls only as fast as the user's settings allow. */
export function scrollBehavior(): ScrollBehavior {
  return matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth';
}

/** Scrolls `container`, and nothing else, so that `target` is visible near its middle. */
export function scrollWithin(container: HTMLElement, target: Element): void {
  const outer = container.getBoundingClientRect();
  const inner = target.getBoundingClientRect();
  if (inner.top >= outer.top && inner.bottom <= outer.bottom) return;
  const space = Math.max(0, (outer.height - inner.height) / 3);
  container.scrollTo({ top: container.scrollTop + inner.top - outer.top - space, behavior: scrollBehavior() });
}

/** Brings an element into view that is below or above the window, as on a narrow screen. */
export function reveal(target: Element): void {
  const { top, bottom } = target.getBoundingClientRect();
  if (bottom < 0 || top > innerHeight) target.scrollIntoView({ block: 'center', behavior: scrollBehavior() });
}

/** A button that copies a text, and says so. */
export function copyButton(label: string, text: () => string): HTMLButtonElement {
  const button = element('button', { type: 'button', class: 'copy' }, label);
  button.addEventListener('click', async () => {
    const copied = await copyText(text());
    button.textContent = copied ? 'Copied' : 'Copying is not allowed here';
    announce(copied ? 'Copied' : 'The browser did not allow copying');
    setTimeout(() => (button.textContent = label), 1_800);
  });
  return button;
}

async function copyText(text: string): Promise<boolean> {
  // The clipboard API exists only on https and on localhost.
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return false;
    }
  }
  const area = element('textarea', { class: 'visually-hidden', 'aria-hidden': 'true', tabindex: -1 });
  area.value = text;
  const focused = document.activeElement;
  document.body.append(area);
  area.select();
  const copied = document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return copied;
}

/** Says a text to screen readers. */
export function announce(text: string): void {
  required('status', HTMLElement).textContent = text;
}

/** Offers a text as a file. */
export function downloadText(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  element('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
