// Turns the form into the `options` of the request, with only what differs from the defaults, so that the shown code stays short.

import type { Options } from './code.ts';
import { element, required } from './elements.ts';
import { formatOf, type PageSettings } from './settings.ts';

/** A value of the form that cannot be sent. The message says what to do. */
export class FormError extends Error {
  readonly field: HTMLElement;
  constructor(message: string, field: HTMLElement) {
    super(message);
    this.field = field;
  }
}

export class OptionsForm {
  readonly #form: HTMLFormElement;
  readonly #settings: PageSettings;

  constructor(form: HTMLFormElement, settings: PageSettings) {
    this.#form = form;
    this.#settings = settings;
    required('entities', HTMLElement).append(
      ...settings.piiEntities.map((name) =>
        element(
          'label',
          {},
          element('input', { type: 'checkbox', name: 'entity', value: name, checked: true }),
          ` ${name}`,
        ),
      ),
    );
    const timeout = this.#field('timeout');
    timeout.placeholder = String(settings.timeoutDefaultMs / 1_000);
    timeout.max = String(settings.timeoutMaxMs / 1_000);
    this.#field('maxPages').max = String(settings.maxPages);
    form.addEventListener('change', () => this.#showSubOptions());
    this.#showSubOptions();
  }

  /** @throws FormError */
  read(fileName: string): Options {
    const options: Record<string, unknown> = {};
    const formats = this.#formats();
    if (JSON.stringify(formats) !== '["markdown"]') options.formats = formats;
    const parser = this.#parser(fileName);
    if (parser) options.parsers = [parser];
    if (this.#checked('redact')) options.redactPII = this.#redaction();
    for (const name of ['onlyMainContent', 'removeBase64Images', 'blockAds'])
      if (!this.#checked(name)) options[name] = false;
    for (const name of ['includeTags', 'excludeTags']) {
      const selectors = this.#lines(name);
      if (selectors.length > 0) options[name] = selectors;
    }
    if (this.#text('language') !== '') options.language = this.#text('language');
    const timeout = this.#number('timeout');
    if (timeout !== undefined) options.timeout = Math.round(timeout * 1_000);
    if (this.#checked('zeroDataRetention')) options.zeroDataRetention = true;
    return options;
  }

  #showSubOptions(): void {
    const formats = this.#checkedValues('format');
    required('images-options', HTMLElement).hidden = !formats.includes('images');
    required('json-options', HTMLElement).hidden = !formats.includes('json');
    required('redact-options', HTMLElement).hidden = !this.#checked('redact');
  }

  #formats(): unknown[] {
    const names = this.#checkedValues('format');
    if (names.length === 0)
      throw new FormError('Choose at least one output.', this.#form.querySelector<HTMLElement>('[name=format]')!);
    return names.map((name) => {
      if (name === 'json') return this.#jsonFormat();
      if (name === 'images' && this.#checked('embedded')) return { type: 'images', embedded: true };
      return name;
    });
  }

  #jsonFormat(): object {
    const prompt = this.#text('jsonPrompt');
    const schemaText = this.#text('jsonSchema');
    if (prompt === '' && schemaText === '')
      throw new FormError('JSON needs a prompt or a schema.', this.#field('jsonPrompt'));
    let schema: unknown;
    try {
      schema = schemaText === '' ? undefined : JSON.parse(schemaText);
    } catch (error) {
      throw new FormError(
        `The JSON Schema is not valid JSON: ${error instanceof Error ? error.message : error}`,
        this.#field('jsonSchema'),
      );
    }
    return { type: 'json', ...(prompt === '' ? {} : { prompt }), ...(schema === undefined ? {} : { schema }) };
  }

  /** The parser of files with pages; undefined for other files, for which it has no effect. */
  #parser(fileName: string): object | undefined {
    if (!formatOf(fileName, this.#settings)?.hasPages) return undefined;
    const mode = this.#text('mode');
    const pages = this.#text('pages').replaceAll(' ', '');
    const maxPages = this.#number('maxPages');
    const password = this.#field('password').value;
    return {
      type: 'pdf',
      blocks: true,
      ...(mode === 'auto' ? {} : { mode }),
      ...(maxPages === undefined ? {} : { maxPages }),
      ...(pages !== '' ? { pages } : this.#checked('pageMarkdown') ? { pages: true } : {}),
      ...(this.#checked('pageMarkers') ? { pageMarkers: true } : {}),
      ...(password === '' ? {} : { password }),
    };
  }

  #redaction(): true | object {
    const mode = this.#text('redactMode');
    const replaceStyle = this.#text('redactStyle');
    const entities = this.#checkedValues('entity');
    if (entities.length === 0)
      throw new FormError(
        'Choose at least one kind of personal data, or switch redaction off.',
        this.#form.querySelector<HTMLElement>('[name=entity]')!,
      );
    const tuned = {
      ...(mode === 'accurate' ? {} : { mode }),
      ...(replaceStyle === 'tag' ? {} : { replaceStyle }),
      ...(entities.length === this.#settings.piiEntities.length ? {} : { entities }),
    };
    return Object.keys(tuned).length === 0 ? true : tuned;
  }

  #field(name: string): HTMLInputElement {
    return this.#form.elements.namedItem(name) as HTMLInputElement;
  }

  #checked(name: string): boolean {
    return this.#field(name).checked;
  }

  #text(name: string): string {
    return this.#field(name).value.trim();
  }

  #lines(name: string): string[] {
    return this.#text(name)
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
  }

  /** @throws FormError for text that is not a number */
  #number(name: string): number | undefined {
    const field = this.#field(name);
    if (field.validity.badInput) throw new FormError('Enter a number.', field);
    return field.value === '' ? undefined : Number(field.value);
  }

  #checkedValues(name: string): string[] {
    return [...this.#form.querySelectorAll<HTMLInputElement>(`input[name=${name}]:checked`)].map(({ value }) => value);
  }
}
