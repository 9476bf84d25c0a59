// Tests the limits of a caller's JSON Schema: patterns that are slow on some values, schemas that are slow to compile, and sizes.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ParseError } from '#shared/contract/errors.ts';
import { MODEL_LIMITS } from '#shared/contract/limits.ts';
import { readSchema } from './schema.ts';

const invalid =
  (message: RegExp) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof ParseError && error.code === 'SCHEMA_INVALID', String(error));
    assert.match(error.message, message);
    return true;
  };
const list = <T>(count: number, item: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => item(i));
const members = <T>(count: number, item: (index: number) => T): Record<string, T> =>
  Object.fromEntries(list(count, (index) => [`p${index}`, item(index)]));

describe('patterns', () => {
  /** Each needs more than 2^40 steps for its value in a backtracking engine. */
  const slow: readonly (readonly [pattern: string, value: string])[] = [
    ['^(a|a)*$', `${'a'.repeat(60)}b`],
    ['^(a+)+$', `${'a'.repeat(60)}b`],
    ['([a-z]+)+$', `${'a'.repeat(60)}1`],
    ['(x+x+)+y', 'x'.repeat(60)],
    ['^(.*)*\\d$', 'a'.repeat(60)],
    ['^(a|ab|b)*c$', 'ab'.repeat(60)],
    ['^(?=(a+)+$)', `${'a'.repeat(60)}b`],
    ['^(a+)+\\1$', `${'a'.repeat(61)}b`],
  ].map(([pattern = '', value = '']) => [pattern.replace('\\\\', '\\'), value] as const);

  for (const [pattern, value] of slow)
    it(`stops ${pattern}`, () => {
      const check = readSchema({ type: 'string', pattern }, { answerMs: 50 });
      assert.throws(() => check.faults(value), invalid(/^Unprocessable Entity: the schema is too complex: .* 50 ms/));
      assert.equal(readSchema({ type: 'string' }).faults(value), undefined, 'the process can check the next value');
    });

  it('stops a pattern of property names', () => {
    const check = readSchema({ patternProperties: { '^(a|b|ab)*$': {} } }, { answerMs: 50 });
    assert.throws(() => check.faults({ [`${'ab'.repeat(60)}c`]: 1 }), invalid(/too complex/));
  });

  const exact: readonly (readonly [pattern: string, matches: string, differs: string])[] = [
    ['(a|ab)*c', 'ababc', 'abab'],
    ['^(?:[A-Z]{2}\\d{4})+$', 'AB1234CD5678', 'AB123'],
    ['^(?=.*\\d)(?=.*[a-z]).{8,}$', 'passw0rd', 'password'],
    ['^(\\w+) \\1$', 'ab ab', 'ab ba'],
    ['^\\p{Script=Greek}+$', '\u03b1\u03b2', 'ab'],
    ['(?<!-)\\b\\d+$', 'a 12', '-12'],
  ];
  for (const [written, matches, differs] of exact) {
    const pattern = written.replaceAll('\\\\', '\\');
    it(`accepts ${pattern}, as JavaScript reads it`, () => {
      const check = readSchema({ type: 'string', pattern });
      assert.equal(check.faults(matches), undefined);
      assert.match(check.faults(differs) ?? '', /must match pattern/);
    });
  }
});

describe('schemas that are slow', () => {
  it('stops the check of an answer against references that double at each step', () => {
    const step = (index: number) => ({ anyOf: list(2, () => ({ $ref: `#/$defs/p${index + 1}` })) });
    const schema = { $defs: { ...members(60, step), p60: { type: 'string' } }, $ref: '#/$defs/p0' };
    assert.throws(() => readSchema(schema, { answerMs: 50 }).faults(1), invalid(/too complex/));
  });

  it('refuses references through too many parts', () => {
    const schema = { $defs: members(3_000, (index) => ({ $ref: `#/$defs/p${index + 1}` })), $ref: '#/$defs/p0' };
    assert.throws(() => readSchema({ ...schema, $defs: { ...schema.$defs, p3000: {} } }), invalid(/./));
  });

  it('compiles an object with a thousand properties', () => {
    const properties = members(1_000, () => ({ type: 'string' }));
    assert.equal(readSchema({ type: 'object', properties }).faults({ p1: 'a' }), undefined);
    assert.match(readSchema({ type: 'object', properties }).faults({ p1: 1 }) ?? '', /\/p1 must be string/);
  });
});

describe('sizes', () => {
  const { schemaListItems, schemaNodes, schemaPatternUnits } = MODEL_LIMITS;
  const tooLarge: readonly (readonly [schema: Record<string, unknown>, message: RegExp])[] = [
    [
      { $schema: 'http://json-schema.org/draft-07/schema#', enum: list(19_000, (a) => ({ a })) },
      /a list with more than 1000 items/,
    ],
    [{ enum: list(schemaListItems + 1, String) }, /a list with more than 1000 items/],
    [{ properties: members(schemaNodes, () => true) }, /more than 10000/],
    [{ pattern: 'a'.repeat(schemaPatternUnits + 1) }, /a pattern that is longer than 1000 characters/],
    [{ patternProperties: { ['a'.repeat(schemaPatternUnits + 1)]: {} } }, /a pattern that is longer than 1000/],
  ];
  for (const [schema, message] of tooLarge)
    it(`refuses ${JSON.stringify(schema).slice(0, 60)} and names the limit`, () => {
      assert.throws(() => readSchema(schema), invalid(message));
    });

  it('accepts lists, values and patterns at the limit', () => {
    const $schema = 'http://json-schema.org/draft-07/schema#';
    assert.equal(readSchema({ $schema, enum: list(schemaListItems, (a) => ({ a })) }).faults({ a: 1 }), undefined);
    assert.equal(readSchema({ pattern: 'a'.repeat(schemaPatternUnits) }).faults(1), undefined);
  });
});
