// Shows the request as code, with the key hidden unless the user wants it.
import { CODE_SAMPLES, type CodeRequest } from './code.ts';
import { copyButton, element } from './elements.ts';
import { Tabs } from './tabs.ts';

const PLACEHOLDER = 'YOUR_API_KEY';

export class CodeView {
  readonly host: HTMLElement;
  #request: CodeRequest;
  #sample = CODE_SAMPLES[0]!;
  readonly #code = element('code');
  readonly #note = element('p', { class: 'hint' });
  readonly #withKey = element('input', { type: 'checkbox' });

  /** @param id distinguishes the tabs of several views on the page */
  constructor(id: string, request: CodeRequest) {
    this.#request = request;
    const tabs = new Tabs(
      'Language',
      CODE_SAMPLES.map(({ name }) => ({
        id: `${id}-${name.toLowerCase().replaceAll(' ', '-')}`,
        label: name,
        fill: () => undefined,
      })),
      (opened) => {
        const index = CODE_SAMPLES.findIndex(
          ({ name }) => opened === `${id}-${name.toLowerCase().replaceAll(' ', '-')}`,
        );
        this.#sample = CODE_SAMPLES[index] ?? this.#sample;
        this.#show(tabs.panels[index]);
      },
    );
    this.#withKey.addEventListener('change', () => this.#show());
    this.host = element(
      'div',
      { class: 'code' },
      element(
        'div',
        { class: 'code-bar' },
        tabs.list,
        element('label', { class: 'check' }, this.#withKey, ' Show my key'),
        copyButton('Copy', () => this.#text()),
      ),
      ...tabs.panels,
    );
    this.#block = element('pre', { class: 'code-text', tabindex: 0, 'aria-label': 'Code' }, this.#code);
    tabs.open(`${id}-curl`);
  }

  readonly #block: HTMLElement;

  update(request: CodeRequest): void {
    this.#request = request;
    this.#show();
  }

  #text(): string {
    const key = this.#withKey.checked && this.#request.key !== '' ? this.#request.key : PLACEHOLDER;
    return this.#sample.write({ ...this.#request, key });
  }

  #show(panel?: HTMLElement): void {
    this.#code.textContent = this.#text();
    this.#note.textContent = this.#sample.note;
    this.#note.hidden = this.#sample.note === '';
    panel?.append(this.#note, this.#block);
  }
}
