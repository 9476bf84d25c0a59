// Redacts single values of a record: texts, lists of texts, and JSON of any shape.
import { isUrl, projectPlain, projectUrlValue } from './projection/value.ts';
import type { Project, Redactor } from './redactor.ts';

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** Objects and lists that are nested deeper become null. */
const DEPTH_MAX = 64;
/** A number of fewer digits is not personal data by itself. */
const LONG_NUMBER = /\d{7}/;
/** The form of names that this product writes itself, such as `native_text`. */
const OWN_NAME = /^[a-z][a-z0-9_.:-]{0,63}$/i;

export class ValueRedaction {
  readonly #redactor: Redactor;

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  async text(text: string, project: Project): Promise<string> {
    return text === '' ? '' : (await this.#redactor.redact(text, project)).text;
  }

  async list(texts: readonly string[], project: Project): Promise<string[]> {
    const result: string[] = [];
    for (const text of texts) result.push(await this.text(text, project));
    return result;
  }

  /** Copies a name that a converter chose from a fixed list, and redacts any other text. */
  async ownName(name: string | null): Promise<string | null> {
    return name === null || OWN_NAME.test(name) ? name : this.text(name, projectPlain);
  }

  /**
   * A JSON value with its strings, its keys and its long numbers redacted. A number that is personal data becomes a string.
   * A value that JSON cannot hold becomes null.
   */
  async json(value: unknown, depth = 0): Promise<JsonValue> {
    switch (typeof value) {
      case 'string':
        return this.text(value, isUrl(value) ? projectUrlValue : projectPlain);
      case 'number':
        return this.#number(value);
      case 'boolean':
        return value;
      case 'object':
        return value === null || depth > DEPTH_MAX ? null : this.#nested(value, depth);
      default:
        return null;
    }
  }

  async #number(value: number): Promise<string | number> {
    const written = String(value);
    if (!LONG_NUMBER.test(written)) return value;
    const redacted = await this.text(written, projectPlain);
    return redacted === written ? value : redacted;
  }

  async #nested(value: object, depth: number): Promise<JsonValue> {
    if (Array.isArray(value)) {
      const items: JsonValue[] = [];
      for (const item of value) items.push(await this.json(item, depth + 1));
      return items;
    }
    const entries: [string, JsonValue][] = [];
    for (const [key, item] of Object.entries(value))
      entries.push([await this.text(key, projectPlain), await this.json(item, depth + 1)]);
    return Object.fromEntries(entries);
  }
}
