// Explains why the `options` of a request are invalid: for each wrong field the allowed values, the sent value and what the caller probably meant.
import { z } from 'zod';
import { type FieldIssue, ParseError } from './errors.ts';
import { REQUEST_LIMITS } from './limits.ts';
import { correctionFor, describeUnknownField } from './option-hints.ts';
import {
  alternativesOf,
  annotationsOf,
  constantFields,
  describeSchema,
  describeType,
  describeValue,
  type Fields,
  type Schema,
  showJson,
} from './schema-words.ts';

type Path = readonly (string | number)[];

/** The path of a field as a caller writes it, for example `parsers[0].maxPages`. */
function fieldPath(path: Path): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    const name = key.slice(0, REQUEST_LIMITS.errorValueLength);
    return text === '' ? name : `${text}.${name}`;
  }, '');
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const ownValue = (value: Record<string, unknown>, key: string): unknown =>
  Object.hasOwn(value, key) ? value[key] : undefined;

/** Collects the issues of one value. zod decides which values are valid; this class only finds words for the invalid ones. */
class Explanation {
  readonly issues: FieldIssue[] = [];
  readonly #root: Schema;

  constructor(root: Schema) {
    this.#root = root;
  }

  /** @param secret the message must not repeat the value */
  visit(schema: Schema, value: unknown, path: Path, secret = false): void {
    if (this.issues.length >= REQUEST_LIMITS.errorIssues) return;
    const found = this.issues.length;
    const hidden = secret || annotationsOf(schema).writeOnly === true;
    // Inside first: zod would list every issue of a large value, and only the first ones are told.
    this.#visitInside(schema, value, path, hidden);
    if (this.issues.length > found) return;
    const result = z.safeParse(schema, value);
    if (result.success) return;
    const [issue] = result.error.issues;
    if (issue?.code === 'custom' && issue.path.length === 0 && isObject(value))
      this.#addCustom(schema, issue.message, path);
    else this.#add(path, issue?.code ?? 'custom', describeInvalid(schema, value, hidden));
  }

  /** Visits the fields or items of the alternative that the caller most likely meant. */
  #visitInside(schema: Schema, value: unknown, path: Path, hidden: boolean): void {
    const alternatives = alternativesOf(schema);
    if (Array.isArray(value)) {
      const array = alternatives.find((one) => one instanceof z.ZodArray);
      if (array) for (const [index, item] of value.entries()) this.visit(array.element, item, [...path, index], hidden);
    } else if (isObject(value)) {
      const objects = alternatives.filter((one) => one instanceof z.ZodObject);
      const meant = objects.length === 1 ? objects[0] : objects.find((one) => hasConstants(one, value));
      if (meant) this.#visitFields(meant.shape, value, path, hidden);
      else if (objects.length > 0) this.#addWrongConstant(objects, value, path);
      const record = alternatives.find((one) => one instanceof z.ZodRecord);
      if (record)
        for (const [key, item] of Object.entries(value)) this.visit(record.valueType, item, [...path, key], hidden);
    }
  }

  #visitFields(fields: Fields, value: Record<string, unknown>, path: Path, hidden: boolean): void {
    // Unknown fields come first: a misspelled name explains why a required field is missing.
    for (const key of Object.keys(value)) {
      if (Object.hasOwn(fields, key)) continue;
      if (this.issues.length >= REQUEST_LIMITS.errorIssues) return;
      this.#add([...path, key], 'unrecognized_keys', describeUnknownField(this.#root, fields, key, value[key]));
    }
    for (const [key, field] of Object.entries(fields)) this.visit(field, ownValue(value, key), [...path, key], hidden);
  }

  /** The field that distinguishes the alternatives of a union has no valid value. */
  #addWrongConstant(objects: readonly Schema[], value: Record<string, unknown>, path: Path): void {
    const [key] = objects.flatMap((one) => Object.keys(constantFields(one)));
    if (key === undefined) return;
    const names = objects.flatMap((one) => constantFields(one)[key] ?? []);
    const allowed = z.enum(names);
    this.#add([...path, key], 'invalid_value', describeInvalid(allowed, ownValue(value, key), false));
  }

  #addCustom(schema: Schema, message: string, path: Path): void {
    const example = alternativesOf(schema).flatMap((one) => annotationsOf(one).examples ?? [])[0];
    const shown = example === undefined ? undefined : showJson(example);
    this.#add(path, 'custom', `${message}${shown === undefined ? '' : `, for example ${shown}`}.`);
  }

  #add(path: Path, code: string, message: string): void {
    this.issues.push({ path: fieldPath(path), message, code });
  }
}

const hasConstants = (schema: Schema, value: Record<string, unknown>): boolean =>
  Object.entries(constantFields(schema)).every(([key, constant]) => ownValue(value, key) === constant);

/** Words for an invalid value: what is allowed, what was sent, and what was probably meant. */
function describeInvalid(schema: Schema, value: unknown, hidden: boolean): string {
  const allowed = describeSchema(schema);
  if (value === undefined) return `is missing; it must be ${allowed}.`;
  const sent = hidden ? describeType(value) : describeValue(value);
  return `must be ${allowed}, but is ${sent}.${hidden ? '' : describeCorrection(schema, value)}`;
}

function describeCorrection(schema: Schema, value: unknown): string {
  const correction = correctionFor(schema, value);
  // A word that replaces another type needs its quotes, for example "3" for 3.
  const isWord = typeof correction === 'string' && typeof value === 'string';
  const shown = isWord ? `\`${correction}\`` : showJson(correction);
  if (correction === undefined || shown === undefined) return '';
  const [kind] = typeof value === 'string' && isObject(correction) ? Object.values(correction) : [];
  return typeof kind === 'string'
    ? ` Write \`${kind}\` as an object, for example ${shown}.`
    : ` Did you mean ${shown}?`;
}

/** The first issues, as many as an error lists. */
export function boundIssues(issues: readonly FieldIssue[]): FieldIssue[] {
  let length = 0;
  return issues.slice(0, REQUEST_LIMITS.errorIssues).filter(({ path, message }, index) => {
    length += path.length + message.length;
    return index === 0 || length <= REQUEST_LIMITS.errorDetailsLength;
  });
}

/** Whether options may contain this many items or fields in one place. */
const isLarge = (count: number): boolean => count > REQUEST_LIMITS.optionsMembers;

/**
 * The value without the items and fields after the first `optionsMembers + 1` of each array and object, because their validation would take
 * tens of milliseconds. It is valid exactly if the complete value is. A JSON Schema has limits of its own and stays complete.
 */
export function withoutExcess(value: unknown): unknown {
  const kept = REQUEST_LIMITS.optionsMembers + 1;
  if (Array.isArray(value)) return (isLarge(value.length) ? value.slice(0, kept) : value).map(withoutExcess);
  if (!isObject(value)) return value;
  const keys = Object.keys(value);
  return Object.fromEntries(
    (isLarge(keys.length) ? keys.slice(0, kept) : keys).map((key) => [
      key,
      key === 'schema' ? value[key] : withoutExcess(value[key]),
    ]),
  );
}

/**
 * The 400 error for options that the schema rejects. The message contains the first issue, `details` all of them up to the limit.
 * @param input a value that `schema` rejects
 */
export function validationError(schema: Schema, input: unknown): ParseError {
  const explanation = new Explanation(schema);
  explanation.visit(schema, input, []);
  const details = boundIssues(explanation.issues);
  const [first] = details;
  const where = first && first.path !== '' ? `\`${first.path}\` ` : '';
  const more = details.length > 1 ? ` (and ${details.length - 1} more, see details)` : '';
  return new ParseError(
    'BAD_REQUEST',
    `Bad Request: invalid options: ${where}${first?.message ?? 'not valid'}${more}`,
    { details },
  );
}
