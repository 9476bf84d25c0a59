// Compiles the caller's JSON Schema and checks values against it, in an isolated process only, because Ajv generates code from it.
import { Ajv, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { ParseError } from '#shared/contract/errors.ts';
import { MODEL_LIMITS } from '#shared/contract/limits.ts';

export interface SchemaCheck {
  /** The faults of a value, one per line, for the model to read; undefined if it conforms. */
  faults(value: unknown): string | undefined;
}

/** Counts the nodes of a schema, because they determine the size of the validator. The options reader limits the depth. */
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

/** False for nested quantifiers, because such a pattern can backtrack for hours on a hostile value. */
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
          'Unprocessable Entity: a pattern of the schema is too long or has nested quantifiers; write a shorter one without them',
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
  // Without `$schema`, Ajv reads a schema of an older draft as draft-07. With `$async`, the validator would return a promise, which is always truthy.
  const { $schema: _dialect, $async: _async, ...body } = schema;
  return ajv.compile(body);
}

/**
 * Reads a JSON Schema (draft-07 or 2020-12, with formats).
 * @throws ParseError SCHEMA_INVALID if it is not a valid schema, has a reference to anything outside it, or is too large
 */
export function readSchema(schema: Record<string, unknown>): SchemaCheck {
  if (schemaNodes(schema) > MODEL_LIMITS.schemaNodes)
    throw new ParseError(
      'SCHEMA_INVALID',
      `Unprocessable Entity: the schema has more than ${MODEL_LIMITS.schemaNodes} objects, lists and values; send a smaller schema`,
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
