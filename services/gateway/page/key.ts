// Keeps the API key in this browser, takes it from the address once, and forgets it on request.
import { announce, required } from './elements.ts';

const NAME = 'parsemesh.key';

export class KeyField {
  readonly #input = required('key', HTMLInputElement);
  readonly #entry = required('key-entry', HTMLElement);
  readonly #saved = required('key-saved', HTMLElement);
  readonly #shown = required('key-shown', HTMLElement);
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
    this.#takeFromAddress();
    addEventListener('hashchange', () => {
      if (this.#takeFromAddress()) onChange();
    });
    this.#input.addEventListener('change', () => this.#save());
    required('key-forget', HTMLButtonElement).addEventListener('click', () => this.#forget());
    this.#show();
  }

  /** The key, or an empty string. A key that was just pasted counts too. */
  get value(): string {
    return this.#input.value.trim() || (localStorage.getItem(NAME) ?? '');
  }

  /** Shows the field again, because the server refused the key. */
  ask(): void {
    this.#entry.hidden = false;
    this.#input.focus();
  }

  /** Saves a key that was typed, before it is used. */
  keep(): void {
    if (this.#input.value.trim() !== '') this.#save();
  }

  /** `#key=...` in the address becomes the saved key, and is removed from the address and the history. @returns whether there was one */
  #takeFromAddress(): boolean {
    const key = new URLSearchParams(location.hash.slice(1)).get('key');
    if (key === null) return false;
    history.replaceState(null, '', location.pathname + location.search);
    if (key.trim() !== '') localStorage.setItem(NAME, key.trim());
    this.#show();
    return true;
  }

  #save(): void {
    const key = this.#input.value.trim();
    if (key === '') return;
    const focused = document.activeElement === this.#input;
    localStorage.setItem(NAME, key);
    this.#input.value = '';
    this.#show();
    if (focused) required('key-forget', HTMLButtonElement).focus();
    announce('The key is saved in this browser');
    this.#onChange();
  }

  #forget(): void {
    localStorage.removeItem(NAME);
    this.#input.value = '';
    this.#show();
    this.#input.focus();
    announce('The key is forgotten');
    this.#onChange();
  }

  #show(): void {
    const key = localStorage.getItem(NAME) ?? '';
    this.#entry.hidden = key !== '';
    this.#saved.hidden = key === '';
    this.#shown.textContent = key.length > 12 ? `${key.slice(0, 5)}…${key.slice(-4)}` : 'Key';
  }
}
