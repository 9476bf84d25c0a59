// Tests the error messages of invalid options: a table of common mistakes, and every field of the schema with generated mistakes.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { z } from 'zod';
import { ParseError } from './errors.ts';
import { REQUEST_LIMITS } from './limits.ts';
import { readParseOptions } from './options.ts';
import { parseOptionsSchema, UNSUPPORTED_OPTIONS } from './options-schema.ts';

function rejection(raw: unknown): ParseError {
  try {
    readParseOptions(raw);
  } catch (error) {
    assert.ok(error instanceof ParseError);
    return error;
  }
  return assert.fail(`accepted ${JSON.stringify(raw)}`);
}

const JSON_EXAMPLE = '{"type":"json","prompt":"Extract the invoice number and the total."}';
const FORMATS = '`markdown`, `summary`, `html`, `rawHtml`, `links`, `images`';

/** Options, and the words that the message must contain. */
const MISTAKES: readonly (readonly [options: Record<string, unknown>, ...words: string[]])[] = [
  [
    { formats: ['md'] },
    `\`formats[0]\` must be ${FORMATS}, \`{"type":"images", ...}\` or`,
    'but is "md"',
    'Did you mean `markdown`?',
  ],
  [{ formats: ['json'] }, FORMATS, `Write \`json\` as an object, for example \`${JSON_EXAMPLE}\``],
  [{ formats: [{ type: 'images', embeded: true }] }, '`formats[0].embeded`', 'Did you mean `embedded`?'],
  [{ embedded: true }, '`images` object of `formats`'],
  [{ formats: [{ type: 'json' }] }, '`formats[0]` needs a `prompt` or a `schema`', JSON_EXAMPLE],
  [{ formats: 'markdown' }, '`formats` must be an array', 'but is "markdown"', 'Did you mean `["markdown"]`?'],
  [{ formats: 'md' }, 'Did you mean `["markdown"]`?'],
  [{ formats: [{ type: 'Markdown' }] }, '`formats[0].type`', FORMATS, '`json`', 'Did you mean `markdown`?'],
  [{ formats: [{}] }, '`formats[0].type` is missing', FORMATS],
  [{ formats: [{ type: 'markdown', prompt: 'x' }] }, '`formats[0].prompt`', 'in a `json` object of `formats`'],
  [{ formats: Array(100).fill('html') }, 'at most 64 items', 'an array of 100 items'],
  [{ redactPII: 'yes' }, '`true`, `false` or an object with the fields `entities`, `mode`', 'but is "yes"'],
  [{ redactPII: { entities: ['email'] } }, '`PERSON`, `EMAIL`, `PHONE`', 'Did you mean `EMAIL`?'],
  [{ redactPII: { entities: [] } }, 'an array of 1 to 64 items', '`PERSON`', 'an array of 0 items'],
  [{ parsers: ['PDF'] }, '`parsers[0]` must be `pdf`, `image` or `{"type":"pdf", ...}`', 'Did you mean `pdf`?'],
  [{ parsers: 'pdf' }, 'must be an array', 'Did you mean `["pdf"]`?'],
  [{ parsers: { type: 'pdf' } }, 'but is an object', 'Did you mean `[{"type":"pdf"}]`?'],
  [{ parsers: [{ type: 'pdf', mode: 'OCR' }] }, '`fast`, `auto` or `ocr`, but is "OCR". Did you mean `ocr`?'],
  [{ timeout: '30s' }, 'an integer from 1 to 300000 (milliseconds), but is "30s"'],
  [{ timeout: '30' }, 'Did you mean `30`?'],
  [{ onlyMainContent: 'true' }, '`true` or `false`, but is "true". Did you mean `true`?'],
  [{ format: ['html'] }, '`format` is not a known field', 'Did you mean `formats`?'],
  [{ onlymaincontent: true }, 'Did you mean `onlyMainContent`?'],
  [{ only_main_content: true }, 'Did you mean `onlyMainContent`?'],
  [{ redact_pii: true }, 'Did you mean `redactPII`?'],
  [{ include_tags: ['p'] }, 'Did you mean `includeTags`?'],
  [{ parsers: [{ type: 'pdf', pages: '3-1' }] }, '`true`, `false` or page numbers', '`1-3,7,10-`', 'but is "3-1"'],
  [{ parsers: [{ type: 'pdf', pages: 3 }] }, 'but is 3. Did you mean `"3"`?'],
  [{ language: 'english!' }, 'names of OCR languages joined by `+`', '`deu+eng`', 'but is "english!"'],
  [{ lang: 'deu' }, 'Did you mean `language`?'],
  [{ pages: '1-3' }, '`{"parsers":[{"type":"pdf","pages":"1-3"}]}`'],
  [{ maxPages: 5 }, 'in a `pdf` object of `parsers`, for example `{"parsers":[{"type":"pdf","maxPages":5}]}`'],
  [{ max_pages: '5' }, '`{"parsers":[{"type":"pdf","maxPages":5}]}`'],
  [{ mode: 'ocr' }, '`{"parsers":[{"type":"pdf","mode":"ocr"}]}`'],
  [{ mode: 'accurate' }, '`mode` belongs in `redactPII`, for example `{"redactPII":{"mode":"accurate"}}`'],
  [{ parsers: [{ type: 'pdf', timeout: 5 }] }, '`timeout` belongs at the top level, for example `{"timeout":5}`'],
  [{ wat: 1 }, '`wat` is not a known field. The fields are', '`formats`', '`zeroDataRetention`'],
];

describe('a common mistake is explained:', () => {
  for (const [options, ...words] of MISTAKES)
    test(JSON.stringify(options).slice(0, 80), () => {
      const { message } = rejection(options);
      for (const word of words) assert.ok(message.includes(word), `${message} must contain ${word}`);
    });
});

test('a valid timeout of 30 milliseconds is no mistake', () =>
  assert.equal(readParseOptions({ timeout: 30 }).timeoutMs, 30));

describe('the error is bounded:', () => {
  test('a long value is cut off and its length is named', () => {
    const { message } = rejection({ formats: ['x'.repeat(100_000)] });
    assert.ok(message.length < 1_000, `${message.length} characters`);
    assert.match(message, /\(100000 characters\)/);
  });
  test('a long field name is cut off in the path and in the message', () => {
    const error = rejection({ parsers: [{ type: 'pdf', ['x'.repeat(100_000)]: 1 }] });
    assert.ok(JSON.stringify(error.toRecord()).length < 1_500);
  });
  test('`details` has at most as many entries as documented', () => {
    const options = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`field${index}`, 1]));
    assert.equal(rejection(options).details?.length, REQUEST_LIMITS.errorIssues);
  });
  test('the error for unsupported options names each once, and `details` is bounded', () => {
    const { message, details } = rejection({ mobile: true, formats: Array(12_000).fill('screenshot') });
    assert.equal(
      message,
      'Unsupported options for parse: `mobile`, the format `screenshot`. Remove them and send the request again.',
    );
    assert.equal(details?.length, REQUEST_LIMITS.errorIssues);
    const all = rejection(Object.fromEntries(UNSUPPORTED_OPTIONS.map((name) => [name, true])));
    assert.match(
      all.message,
      new RegExp(`and ${UNSUPPORTED_OPTIONS.length - REQUEST_LIMITS.errorNames} more\\. Remove`),
    );
  });
  for (const name of ['formats', 'parsers', 'includeTags', 'excludeTags'])
    test(`of a long array in \`${name}\`, only the first items are read`, () => {
      const items = Array.from({ length: 60_000 }, () => 7);
      const read = new Set<string>();
      const counted = new Proxy(items, {
        get(target, key, receiver) {
          if (typeof key === 'string' && /^\d+$/.test(key)) read.add(key);
          return Reflect.get(target, key, receiver);
        },
      });
      rejection({ [name]: counted });
      assert.ok(read.size > 0 && read.size <= REQUEST_LIMITS.optionsMembers + 1, `${read.size} items were read`);
    });
  for (const name of ['formats', 'includeTags'])
    test(`an array in \`${name}\` that is too long only is described`, () => {
      const { message } = rejection({ [name]: Array(60_000).fill('html') });
      assert.match(message, /must be an array of at most (64|200) items.* an array of more than 1000 items\./);
    });
  test('a JSON Schema is not cut off', () => {
    const schema = { enum: Array.from({ length: 5_000 }, String) };
    assert.deepEqual(readParseOptions({ formats: [{ type: 'json', schema }] }).json?.schema, schema);
  });
  test('a value that may be a secret is not repeated', () => {
    for (const options of [
      { parsers: [{ type: 'pdf', password: 12345 }] },
      { headers: { authorization: 12345 } },
      { headers: { authorization: ['12345'] } },
      { password: '12345' },
    ])
      assert.doesNotMatch(JSON.stringify(rejection(options).toRecord()), /12345/);
  });
});

interface JsonSchema {
  $ref?: string;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  enum?: string[];
  const?: string;
  writeOnly?: boolean;
  examples?: unknown[];
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  $defs?: Record<string, JsonSchema>;
}

const SCHEMA: JsonSchema = JSON.parse(JSON.stringify(z.toJSONSchema(parseOptionsSchema, { io: 'input' })));
const isValid = new Ajv2020({ strict: false }).compile(SCHEMA);

/** The alternatives of a JSON Schema without references. */
function alternatives(schema: JsonSchema): JsonSchema[] {
  const named = schema.$ref === undefined ? undefined : SCHEMA.$defs?.[schema.$ref.split('/').at(-1) ?? ''];
  if (named) return alternatives(named);
  return schema.anyOf || schema.oneOf
    ? [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap(alternatives)
    : [schema];
}

const wordsOf = (schema: JsonSchema): string[] =>
  alternatives(schema).flatMap((one) => one.enum ?? (one.const === undefined ? [] : [one.const]));

interface Field {
  path: string;
  name: string | undefined;
  schema: JsonSchema;
  /** Smallest options in which the field has this value. */
  optionsWith(value: unknown): Record<string, unknown>;
  /** The same options with the field under another name. */
  renamed(name: string): Record<string, unknown>;
}

/** Every field and array item of the schema, at any depth. It reads the JSON Schema, not the code under test. */
function* fieldsOf(schema: JsonSchema, path: string, optionsWith: Field['optionsWith']): Generator<Field> {
  for (const alternative of alternatives(schema)) {
    if (alternative.items) {
      const inItem = (value: unknown) => optionsWith([value]);
      yield {
        path: `${path}[0]`,
        name: undefined,
        schema: alternative.items,
        optionsWith: inItem,
        renamed: () => ({}),
      };
      yield* fieldsOf(alternative.items, `${path}[0]`, inItem);
    }
    const properties = Object.entries(alternative.properties ?? {});
    const constants = Object.fromEntries(properties.flatMap(([key, one]) => (one.const ? [[key, one.const]] : [])));
    for (const [name, inner] of properties) {
      const inField = (value: unknown) => optionsWith({ ...constants, [name]: value });
      const inner_path = path === '' ? name : `${path}.${name}`;
      if (inner.const === undefined)
        yield {
          path: inner_path,
          name,
          schema: inner,
          optionsWith: inField,
          renamed: (other) => optionsWith({ ...constants, [other]: null }),
        };
      yield* fieldsOf(inner, inner_path, inField);
    }
  }
}

const FIELDS = [...fieldsOf(SCHEMA, '', (value) => value as Record<string, unknown>)];
const NAMES = new Set(FIELDS.map((field) => field.name));
/** One value of each JSON type. */
const VALUES: readonly unknown[] = [
  7.25,
  -1,
  'nonsense',
  '',
  true,
  null,
  {},
  { nonsense: 1 },
  [],
  [null],
  ['nonsense'],
];

test('the walk over the schema finds its fields at every depth', () => {
  const paths = FIELDS.map((field) => field.path);
  for (const path of ['formats[0].prompt', 'parsers[0].mode', 'redactPII.entities[0]', 'auditMetadata.username'])
    assert.ok(paths.includes(path), path);
});

describe('every field of the schema', () => {
  for (const { name, path, schema, optionsWith } of FIELDS)
    if (name !== undefined && schema.writeOnly !== true)
      test(`${path}: has a word or an example, and each example is valid`, () => {
        const examples = schema.examples ?? alternatives(schema).flatMap((one) => one.examples ?? wordsOf(one));
        assert.ok(examples.length > 0);
        for (const example of examples) {
          const options = optionsWith(example);
          assert.ok(isValid(options), JSON.stringify([options, isValid.errors]));
          readParseOptions(options);
        }
      });

  for (const { path, schema, optionsWith } of FIELDS)
    test(`${path}: an invalid value is answered with the path and the allowed words`, () => {
      let invalid = 0;
      for (const value of VALUES) {
        const options = optionsWith(value);
        if (isValid(options)) continue;
        invalid++;
        const [issue] = rejection(options).details ?? [];
        assert.ok(issue);
        assert.ok(issue.path.startsWith(path) || path.startsWith(issue.path), `${issue.path} for ${path}`);
        assert.match(issue.message, /must be |is missing|needs a|is not a known field/);
        if (issue.path !== path || typeof value !== 'string') continue;
        const shown = schema.writeOnly ? `a string of ${value.length} characters` : JSON.stringify(value);
        assert.ok(issue.message.includes(`but is ${shown}`), issue.message);
        for (const word of wordsOf(schema))
          assert.ok(issue.message.includes(`\`${word}\``), `${issue.message}: ${word}`);
      }
      assert.ok(invalid > 0, 'no value was invalid');
    });

  for (const { path, schema, optionsWith } of FIELDS.filter((field) => wordsOf(field.schema).length > 0))
    test(`${path}: a misspelled word is answered with the word`, () => {
      for (const word of wordsOf(schema))
        for (const wrong of [
          word.toUpperCase(),
          word.toLowerCase(),
          `${word}x`,
          `${word}s`,
          `${word.slice(0, 2)}_${word.slice(2)}`,
        ]) {
          if (wordsOf(schema).includes(wrong)) continue;
          assert.ok(
            rejection(optionsWith(wrong)).message.includes(`Did you mean \`${word}\`?`),
            `${wrong} for ${word}`,
          );
        }
    });

  for (const { name, path, renamed } of FIELDS)
    if (name !== undefined)
      test(`${path}: a misspelled name is answered with the name`, () => {
        const snake = name.replace(/[A-Z]+/g, (letters) => `_${letters.toLowerCase()}`);
        for (const wrong of [name.toUpperCase(), name.toLowerCase(), snake, `${name}s`, name.replaceAll('_', '-')]) {
          if (NAMES.has(wrong)) continue;
          const [issue] = rejection(renamed(wrong)).details ?? [];
          assert.match(issue?.message ?? '', new RegExp(`(Did you mean |\\. )\`${name}\``), wrong);
        }
      });

  for (const { name, path } of FIELDS)
    if (name !== undefined && path !== name)
      test(`${path}: at the top level it is answered with the place where it belongs`, () => {
        if (alternatives(SCHEMA).some((one) => one.properties?.[name])) return;
        const { message } = rejection({ [name]: null });
        assert.match(message, new RegExp(`\`${name}\` belongs .*in .*\`${/^\w+/.exec(path)?.[0]}`));
      });
});
