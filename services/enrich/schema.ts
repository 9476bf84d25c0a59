// Compiles the caller's JSON Schema and checks values against it, in an isolated process only, because Ajv generates code from it.
import { Ajv, type Options, type ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { ParseError } from '#shared/contract/errors.ts';
import { checkSchemaSize, invalidSchema } from '#shared/contract/json-schema.ts';
import { MODEL_LIMITS } from '#shared/contract/limits.ts';
import { TimeLimitError, withinTimeLimit } from './time-limit.ts';

export interface SchemaCheck {
  /** The faults of a value, one per line, for the model to read; undefined if it conforms. @throws ParseError SCHEMA_INVALID at the time limit */
  faults(value: unknown): string | undefined;
}

type Draft = (options: Options) => Ajv;
const LATEST: Draft = (options) => new Ajv2020(options);

const DRAFTS: readonly (readonly [$schema: RegExp, draft: Draft])[] = [
  [/^https?:\/\/json-schema\.org\/draft-0[67]\/schema#?$/, (options) => new Ajv(options)],
  [/^https?:\/\/json-schema\.org\/draft\/2019-09\/schema#?$/, (options) => new Ajv2019(options)],
  [/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/, LATEST],
];

const SETTINGS = {
  strict: false,
  // With the default, the generated code is nested as deep as an object has properties, which takes quadratic time and overflows the stack.
  allErrors: true,
  logger: false,
  addUsedSchema: false,
} as const satisfies Options;

/** @throws ParseError SCHEMA_INVALID for a draft that is not supported */
function draftOf({ $schema }: Record<string, unknown>): Draft {
  if ($schema === undefined) return LATEST;
  const found = DRAFTS.find(([pattern]) => typeof $schema === 'string' && pattern.test($schema));
  if (!found)
    throw invalidSchema('has an unknown `$schema`; use JSON Schema draft 7 or 2020-12, or leave `$schema` out');
  return found[1];
}

const metaValidators = new Map<Draft, Ajv>();

/** The validator of schemas of a draft. Created on first use, because it compiles its meta-schema. It keeps no schema of a caller. */
function metaValidator(draft: Draft): Ajv {
  const validator = metaValidators.get(draft) ?? ajvFormats.default(draft({ ...SETTINGS, allErrors: false }));
  metaValidators.set(draft, validator);
  return validator;
}

/** @throws ParseError SCHEMA_INVALID with the position of the first fault; any error of Ajv */
function compile(schema: Record<string, unknown>): ValidateFunction {
  const draft = draftOf(schema);
  // With `$id`, a reference to the schema itself would be a reference to another address. With `$async`, the validator would return a promise, which is always truthy.
  const { $schema: _schema, $id: _id, $async: _async, ...body } = schema;
  const meta = metaValidator(draft);
  if (meta.validateSchema(body) !== true) {
    const [first] = meta.errors ?? [];
    const position = first?.instancePath ? `at \`${first.instancePath}\`: ` : '';
    throw invalidSchema(`is not a valid JSON Schema: ${position}${first?.message ?? 'not valid'}`);
  }
  return ajvFormats.default(draft({ ...SETTINGS, meta: false, validateSchema: false })).compile(body);
}

/** Runs a step of the check. @throws ParseError SCHEMA_INVALID at the time limit; any error of the step */
function limited<T>(limitMs: number, step: string, work: () => T): T {
  try {
    return withinTimeLimit(limitMs, work);
  } catch (error) {
    if (!(error instanceof TimeLimitError)) throw error;
    throw invalidSchema(
      `is too complex: ${step} took longer than ${limitMs} ms. Send a simpler schema: fewer alternatives, and patterns without repetitions inside repetitions`,
      error,
    );
  }
}

/**
 * Reads a JSON Schema: draft 6, 7, 2019-09 or 2020-12, which is the default, with formats. A pattern runs in the engine of JavaScript, whose
 * syntax JSON Schema uses. No rule can tell which patterns are slow without rejecting good ones, so the time limit ends them.
 * @param limits milliseconds for the check of one answer; for tests
 * @throws ParseError SCHEMA_INVALID if it is not a valid schema, has a reference to anything outside it, is too large, or takes too long
 */
export function readSchema(
  schema: Record<string, unknown>,
  { answerMs }: { answerMs: number } = { answerMs: MODEL_LIMITS.schemaCheckMs },
): SchemaCheck {
  checkSchemaSize(schema);
  let validate: ValidateFunction;
  try {
    validate = limited(MODEL_LIMITS.schemaCheckMs, 'its compilation', () => compile(schema));
  } catch (cause) {
    if (cause instanceof ParseError) throw cause;
    if (cause instanceof RangeError)
      throw invalidSchema('is too complex: its references lead through too many parts. Send a simpler schema', cause);
    const reason = cause instanceof Error ? cause.message.slice(0, 300) : 'unknown reason';
    throw invalidSchema(`is not a valid JSON Schema: ${reason}`, cause);
  }
  return {
    faults(value) {
      if (limited(answerMs, 'the check of an answer against it', () => validate(value))) return undefined;
      const faults = (validate.errors ?? []).slice(0, MODEL_LIMITS.schemaErrors);
      return (
        faults.map((fault) => `${fault.instancePath || '/'} ${fault.message ?? 'is not valid'}`).join('\n') ||
        '/ is not valid'
      );
    },
  };
}
