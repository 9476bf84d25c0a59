// Describes zod schemas and sent values in words, for error messages that follow from the schema.
import { z } from 'zod';
import { REQUEST_LIMITS } from './limits.ts';

/** A schema of zod's core, as its containers return it. */
export type Schema = z.core.$ZodType;
export type Fields = Readonly<Record<string, Schema>>;

interface Annotations {
  /** A value to show to a caller. */
  examples?: readonly unknown[];
  /** Words for the allowed texts, if their length alone does not describe them. */
  'x-words'?: string;
  /** Unit of a number. */
  'x-unit'?: string;
  /** The value may be a secret, so no message repeats it. */
  writeOnly?: boolean;
}

/** The annotations (`.meta`) of a schema and of the schemas that it wraps. The outer ones win. */
export function annotationsOf(schema: Schema): Annotations {
  const inner = isWrapper(schema) ? annotationsOf(schema.def.innerType) : {};
  return { ...inner, ...z.globalRegistry.get(schema) };
}

type Wrapper = z.ZodOptional | z.ZodDefault | z.ZodNullable;
const isWrapper = (schema: Schema): schema is Wrapper =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable;

/** The schema without `optional`, `default` and `nullable`. */
const unwrap = (schema: Schema): Schema => (isWrapper(schema) ? unwrap(schema.def.innerType) : schema);

/** The alternatives of a union, nested ones included, in the order of the schema. A schema that is no union is its only alternative. */
export function alternativesOf(schema: Schema): Schema[] {
  const inner = unwrap(schema);
  return inner instanceof z.ZodUnion ? inner.def.options.flatMap((option) => alternativesOf(option)) : [inner];
}

/** The strings that a schema allows, if it allows only certain ones. */
function constantsOf(schema: Schema): string[] {
  if (schema instanceof z.ZodEnum) return schema.options.map(String);
  if (schema instanceof z.ZodLiteral) return [...schema.values].map(String);
  return [];
}

/** The strings that a schema allows, of all alternatives. */
export const wordsOf = (schema: Schema): string[] => alternativesOf(schema).flatMap(constantsOf);

/** The fields whose values distinguish the alternatives of a union, for example `{type: 'json'}`. */
export function constantFields(schema: Schema): Record<string, string> {
  if (!(schema instanceof z.ZodObject)) return {};
  const fields: Fields = schema.shape;
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, field]) => {
      const [constant, ...others] = field instanceof z.ZodLiteral ? constantsOf(field) : [];
      return constant === undefined || others.length > 0 ? [] : [[key, constant]];
    }),
  );
}

const code = (text: string): string => `\`${text}\``;

/** `a`, `b` or `c`. */
export const orList = (items: readonly string[]): string =>
  items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} or ${items.at(-1)}`;

const shorten = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length).replace(/[\ud800-\udbff]$/, '')}...` : text;

/** A name that a caller chose, in code format and with a bounded length. */
export const quoteName = (name: string): string => code(shorten(name, REQUEST_LIMITS.errorValueLength));

/** A value as JSON in code format, or undefined if it is too long to show in full. */
export function showJson(value: unknown): string | undefined {
  const text = JSON.stringify(value);
  return text !== undefined && text.length <= REQUEST_LIMITS.errorExampleLength ? code(text) : undefined;
}

/** What the caller sent: a short value itself, otherwise its type and size. */
export function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') {
    const shown = JSON.stringify(shorten(value, REQUEST_LIMITS.errorValueLength));
    return value.length > REQUEST_LIMITS.errorValueLength ? `${shown} (${value.length} characters)` : shown;
  }
  if (Array.isArray(value)) {
    const { optionsMembers } = REQUEST_LIMITS;
    if (value.length > optionsMembers) return `an array of more than ${optionsMembers} items`;
    return value.length === 1 ? 'an array of 1 item' : `an array of ${value.length} items`;
  }
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

/** The type of a value without the value. */
export function describeType(value: unknown): string {
  if (typeof value === 'string') return `a string of ${value.length} characters`;
  return typeof value === 'number' || typeof value === 'boolean' ? `a ${typeof value}` : describeValue(value);
}

function bounds(least: number | null | undefined, most: number | null | undefined, unit: string): string {
  const limited = typeof most === 'number' && Number.isFinite(most) && most < Number.MAX_SAFE_INTEGER;
  if (typeof least === 'number' && Number.isFinite(least) && least > 0)
    return limited ? ` of ${least} to ${most} ${unit}` : ` of at least ${least} ${unit}`;
  return limited ? ` of at most ${most} ${unit}` : '';
}

function describeNumber(schema: z.ZodNumber): string {
  const kind = schema.isInt ? 'an integer' : 'a number';
  const { minValue, maxValue } = schema;
  const range = minValue === null || maxValue === null ? '' : ` from ${minValue} to ${maxValue}`;
  return `${kind}${range}`;
}

/** Words for an object: the fields that distinguish it, for example `{"type":"json", ...}`, or else all fields. */
function describeObject(schema: z.ZodObject): string {
  const constants = constantFields(schema);
  const others = Object.keys(schema.shape).filter((key) => !(key in constants));
  const shown = Object.entries(constants).map(
    ([key, constant]) => `${JSON.stringify(key)}:${JSON.stringify(constant)}`,
  );
  if (shown.length > 0) return code(`{${[...shown, ...(others.length > 0 ? [' ...'] : [])].join(',')}}`);
  return `an object with the ${others.length === 1 ? 'field' : 'fields'} ${others.map(code).join(', ')}`;
}

function describeArray(schema: z.ZodArray): string {
  const { minItems, maxItems } = z.toJSONSchema(schema, { io: 'input' });
  return `an array${bounds(minItems, maxItems, 'items')}, and each item must be ${describeSchema(schema.element)}`;
}

/** The values that one alternative allows. @param words that other alternatives already name */
function describeAlternative(schema: Schema, words: ReadonlySet<string>): string[] {
  const constants = constantsOf(schema);
  if (constants.length > 0) return constants.map(code);
  if (schema instanceof z.ZodBoolean) return ['`true`', '`false`'];
  if (schema instanceof z.ZodNumber) return [describeNumber(schema)];
  const described = annotationsOf(schema)['x-words'];
  if (described !== undefined) return [described];
  if (schema instanceof z.ZodString) return [`a string${bounds(schema.minLength, schema.maxLength, 'characters')}`];
  if (schema instanceof z.ZodArray) return [describeArray(schema)];
  if (schema instanceof z.ZodObject) {
    const hasOnlyConstants = Object.keys(schema.shape).length === Object.keys(constantFields(schema)).length;
    const isShorthand = Object.values(constantFields(schema)).every((constant) => words.has(constant));
    return hasOnlyConstants && isShorthand ? [] : [describeObject(schema)];
  }
  return ['an object'];
}

/** The allowed values in the order of the schema: "`fast`, `auto` or `ocr`", "an integer from 1 to 10". */
export function describeSchema(schema: Schema): string {
  const alternatives = alternativesOf(schema);
  const words = new Set(wordsOf(schema));
  const allowed = alternatives.flatMap((alternative) => describeAlternative(alternative, words));
  const unit = annotationsOf(schema)['x-unit'];
  const list = orList([...new Set(acceptsNull(schema) ? [...allowed, '`null`'] : allowed)]);
  return unit === undefined ? list : `${list} (${unit})`;
}

const acceptsNull = (schema: Schema): boolean =>
  schema instanceof z.ZodNullable || (isWrapper(schema) && acceptsNull(schema.def.innerType));
