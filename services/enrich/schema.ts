// Compiles the caller's JSON Schema and judges answers by it. Ajv writes code from the schema, which is why this runs in an isolated process alone.
import { Ajv, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { ParseError } from '#shared/contract/errors.ts';
import { MODEL_LIMITS } from '#shared/contract/limits.ts';

export interface SchemaCheck {
  /** What is wrong with a value, one fault a line for the model to read; undefined where it conforms. */
  faults(value: unknown): string | undefined;
}

/** Nodes of a schema, counted so that a small text cannot ask for a huge validator. Depth is bounded where options are read. */
function schemaNodes(value: unknown): number {
  let count = 0;
  const stack: unknown[] = [value];
  while (stack.length > 0 && count <= MODEL_LIMITS.schemaNodes) {
    const node = stack.pop();
    count += 1;
    if (typeof node === 'object' && node !== null) for (const child of Object.values(node)) stack.push(child);
  }
  return count;
}

const isModern = (schema: Record<string, unknown>): boolean =>
  (typeof schema.$schema === 'string' && /2019-09|2020-12/.test(schema.$schema)) ||
  '$defs' in schema ||
  'prefixItems' in schema;

/** A pattern that backtracks without end on a hostile value must not be run: nested quantifiers are refused. */
function linearPattern(source: string): boolean {
  return (
    source.length <= MODEL_LIMITS.schemaPatternUnits && !/\((?:[^()\\]|\\.)*[+*}](?:[^()\\]|\\.)*\)[+*{]/.test(source)
  );
}

function assertPatterns(schema: unknown): void {
  const stack: unknown[] = [schema];
  while (stack.length > 0) {
    const node = stack.pop();
    if (typeof node !== 'object' || node === null) continue;
    for (const [key, child] of Object.entries(node)) {
      const patterns =
        key === 'pattern'
          ? [child]
          : key === 'patternProperties' && typeof child === 'object' && child !== null
            ? Object.keys(child)
            : [];
      if (patterns.some((pattern) => typeof pattern === 'string' && !linearPattern(pattern)))
        throw new ParseError(
          'SCHEMA_INVALID',
          'Unprocessable Entity: a pattern of the schema is too long or repeats a repetition; write it without nested quantifiers',
        );
      stack.push(child);
    }
  }
}

function compile(schema: Record<string, unknown>): ValidateFunction {
  const options = {
    strict: false,
    allErrors: false,
    validateFormats: true,
    logger: false,
    addUsedSchema: false,
  } as const;
  const ajv = isModern(schema) ? new Ajv2020(options) : new Ajv(options);
  ajvFormats.default(ajv);
  // A `$schema` that neither knows (draft-04, a private one) is read as draft-07; an `$id` would only name things that cannot be fetched.
  // `$async` would make the validator answer with a promise, which is always true.
  const { $schema: _dialect, $async: _async, ...body } = schema;
  return ajv.compile(body);
}

/**
 * Reads a JSON Schema (draft-07 or 2020-12, with formats).
 * @throws ParseError SCHEMA_INVALID where it is none, refers to what it does not hold, or is too large.
 */
export function readSchema(schema: Record<string, unknown>): SchemaCheck {
  if (schemaNodes(schema) > MODEL_LIMITS.schemaNodes)
    throw new ParseError(
      'SCHEMA_INVALID',
      `Unprocessable Entity: the schema has more than ${MODEL_LIMITS.schemaNodes} parts; ask for less at once`,
    );
  assertPatterns(schema);
  let validate: ValidateFunction;
  try {
    validate = compile(schema);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.slice(0, 300) : 'unknown reason';
    throw new ParseError('SCHEMA_INVALID', `Unprocessable Entity: the schema is not a valid JSON Schema: ${reason}`, {
      cause,
    });
  }
  return {
    faults(value) {
      if (validate(value)) return undefined;
      const faults = (validate.errors ?? []).slice(0, MODEL_LIMITS.schemaErrors);
      return (
        faults.map((fault) => `${fault.instancePath || '/'} ${fault.message ?? 'is not valid'}`).join('\n') ||
        '/ is not valid'
      );
    },
  };
}
