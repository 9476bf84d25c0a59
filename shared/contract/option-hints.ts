// Finds what a caller probably meant by an invalid value or an unknown field, from the schema alone.
import { z } from 'zod';
import { nearestWord, sameWords } from './near-miss.ts';
import {
  alternativesOf,
  annotationsOf,
  constantFields,
  type Fields,
  orList,
  quoteName,
  type Schema,
  showJson,
  wordsOf,
} from './schema-words.ts';

const accepts = (schema: Schema, value: unknown): boolean => z.safeParse(schema, value).success;

/** The JSON value in a string, for example `true` for "true". */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The object that a word stands for where the schema has no shorthand for it, for example `{"type":"json","prompt":"..."}` for "json". */
function objectFor(schema: Schema, word: string): unknown {
  const objects = alternativesOf(schema).filter((one) => Object.keys(constantFields(one)).length > 0);
  const names = objects.flatMap((one) => Object.values(constantFields(one)));
  const near = nearestWord(word, names);
  const found = objects.find((one) => near !== undefined && Object.values(constantFields(one)).includes(near));
  return found && (annotationsOf(found).examples?.[0] ?? constantFields(found));
}

/** Values that the caller may have meant, the most likely first. */
function* candidates(schema: Schema, value: unknown): Generator<unknown> {
  if (typeof value === 'string') {
    yield nearestWord(value, wordsOf(schema));
    yield objectFor(schema, value);
    yield parseJson(value);
  }
  if (typeof value === 'number') yield String(value);
  if (Array.isArray(value) && value.length === 1) yield value[0];
  for (const alternative of alternativesOf(schema))
    if (alternative instanceof z.ZodArray && !Array.isArray(value)) {
      yield [value];
      yield [correctionFor(alternative.element, value)];
    }
}

/** A value that the schema accepts and the caller probably meant, or undefined. */
export function correctionFor(schema: Schema, value: unknown): unknown {
  for (const candidate of candidates(schema, value))
    if (candidate !== undefined && accepts(schema, candidate)) return candidate;
  return undefined;
}

/** A field of the schema, at any depth. */
interface Place {
  name: string;
  field: Schema;
  /** Where the field belongs, in words: "in `redactPII`", "in a `pdf` object of `parsers`". */
  where: string;
  /** Builds the smallest options that contain the field with this value. */
  optionsWith(value: unknown): unknown;
}

/** @param path of the schema; empty for the root */
function* placesIn(schema: Schema, path: string, optionsWith: Place['optionsWith']): Generator<Place> {
  for (const alternative of alternativesOf(schema)) {
    if (alternative instanceof z.ZodArray) yield* placesIn(alternative.element, path, (value) => optionsWith([value]));
    if (!(alternative instanceof z.ZodObject)) continue;
    const fields: Fields = alternative.shape;
    const constants = constantFields(alternative);
    const kind = Object.values(constants)[0];
    const inside = kind === undefined ? `in \`${path}\`` : `in a \`${kind}\` object of \`${path}\``;
    for (const [name, field] of Object.entries(fields)) {
      if (name in constants) continue;
      const withField = (value: unknown): unknown => optionsWith({ ...constants, [name]: value });
      yield { name, field, where: path === '' ? 'at the top level' : inside, optionsWith: withField };
      yield* placesIn(field, path === '' ? name : `${path}.${name}`, withField);
    }
  }
}

const placesByRoot = new WeakMap<Schema, readonly Place[]>();

/** All fields of the schema of all options. They are found once, because an error may describe a hundred unknown fields. */
function allPlaces(root: Schema): readonly Place[] {
  const places = placesByRoot.get(root) ?? [...placesIn(root, '', (options) => options)];
  placesByRoot.set(root, places);
  return places;
}

/** A valid value of a field, to show in an example. */
const sampleOf = (schema: Schema): unknown => annotationsOf(schema).examples?.[0] ?? wordsOf(schema)[0];

/** Where a field belongs, with an example that has the sent value if it is valid there. */
function describePlaces(places: readonly Place[], value: unknown): string {
  const fitting = places.filter((place) => accepts(place.field, value));
  const chosen = fitting.length > 0 ? fitting : places;
  const [first] = chosen;
  if (!first) return '';
  const secret = annotationsOf(first.field).writeOnly === true;
  const sent = secret ? undefined : fitting.length > 0 ? value : correctionFor(first.field, value);
  const sample = sent ?? sampleOf(first.field);
  const shown =
    (sent === undefined ? undefined : showJson(first.optionsWith(sent))) ??
    (sample === undefined ? undefined : showJson(first.optionsWith(sample)));
  const where = orList([...new Set(chosen.map((place) => place.where))]);
  return ` \`${first.name}\` belongs ${where}${shown === undefined ? '' : `, for example ${shown}`}.`;
}

/**
 * Words for a field that its object does not have: a similar field of the same object, or the object that it belongs to, or all fields.
 * @param root the schema of all options
 * @param fields the fields of the object that has the unknown field
 */
export function describeUnknownField(root: Schema, fields: Fields, name: string, value: unknown): string {
  const known = Object.keys(fields);
  const places = allPlaces(root).filter((place) => fields[place.name] !== place.field);
  const elsewhere = (names: readonly string[]): string =>
    describePlaces(
      places.filter((place) => names.includes(place.name)),
      value,
    );
  const [same] = sameWords(name, known);
  if (same !== undefined) return `is not a known field. Did you mean ${quoteName(same)}?`;
  const names = [...new Set(places.map((place) => place.name))];
  const moved = elsewhere(sameWords(name, names));
  if (moved !== '') return `is not a known field here.${moved}`;
  const near = nearestWord(name, known);
  if (near !== undefined) return `is not a known field. Did you mean ${quoteName(near)}?`;
  const farther = elsewhere([nearestWord(name, names) ?? ''].filter(Boolean));
  if (farther !== '') return `is not a known field.${farther}`;
  return `is not a known field. The fields are ${known.map(quoteName).join(', ')}.`;
}

/**
 * The smallest options that a caller probably meant by a multipart field, or undefined if no option has a similar name.
 * @param root the schema of all options
 * @param text the content of the field
 */
export function optionsMeantBy(root: Schema, name: string, text: string): unknown {
  const places = allPlaces(root);
  const names = [...new Set(places.map((place) => place.name))];
  const meant = nearestWord(name, names);
  const named = places.filter((place) => place.name === meant);
  const place = named.find(({ field }) => accepts(field, text) || correctionFor(field, text) !== undefined) ?? named[0];
  if (!place) return undefined;
  const secret = annotationsOf(place.field).writeOnly === true;
  const value = secret ? undefined : accepts(place.field, text) ? text : correctionFor(place.field, text);
  const options = place.optionsWith(value ?? sampleOf(place.field));
  return showJson(options) === undefined ? place.optionsWith(sampleOf(place.field)) : options;
}
