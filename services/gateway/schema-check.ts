// Checks the JSON Schema of a `json` format, so that an invalid schema is rejected before the upload and before a model call.
import { Ajv } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { ParseError } from '#shared/contract/errors.ts';

type Validator = Pick<Ajv, 'validateSchema' | 'errors'>;

const SETTINGS = { strict: false, allErrors: false, logger: false, validateFormats: false } as const;

const DRAFTS: readonly (readonly [$schema: RegExp, create: () => Ajv])[] = [
  [/^https?:\/\/json-schema\.org\/draft-0[67]\/schema#?$/, () => new Ajv(SETTINGS)],
  [/^https?:\/\/json-schema\.org\/draft\/2019-09\/schema#?$/, () => new Ajv2019(SETTINGS)],
  [/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/, () => new Ajv2020(SETTINGS)],
];
const DEFAULT_DRAFT = DRAFTS[2];

/** Keywords whose values are data, not schemas. */
const DATA_KEYWORDS: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'example']);
/** Keywords whose value maps names to schemas. A name may equal a keyword. */
const MAP_KEYWORDS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);

const invalidSchema = (reason: string): ParseError =>
  new ParseError('SCHEMA_INVALID', `Unprocessable Entity: the schema ${reason}`);

/**
 * Validates a schema against the meta-schema of its draft: 6, 7, 2019-09 or 2020-12, which is the default without `$schema`.
 * Patterns are compiled but never run.
 * @throws ParseError SCHEMA_INVALID with the position of the error
 */
export function checkSchema(schema: Record<string, unknown>): void {
  const validator = validatorFor(schema.$schema);
  if (!validator)
    throw invalidSchema('has an unknown `$schema`; use JSON Schema draft 7 or 2020-12, or leave `$schema` out');
  // The validator registers schemas by `$id`, so a second schema with the same `$id` would fail.
  const { $schema: _schema, $id: _id, ...schemaOnly } = schema;
  if (validator.validateSchema(schemaOnly) !== true) {
    const first = validator.errors?.[0];
    const position = first?.instancePath ? `at \`${first.instancePath}\`: ` : '';
    throw invalidSchema(`is not a valid JSON Schema: ${position}${first?.message ?? 'not valid'}`);
  }
  if (hasInvalidPattern(schemaOnly))
    throw invalidSchema('is not a valid JSON Schema: a `pattern` is not a valid regular expression');
}

const validators = new Map<() => Ajv, Validator>();

/** Creates each validator on first use, because a validator compiles its meta-schema. */
function validatorFor($schema: unknown): Validator | undefined {
  const draft =
    $schema === undefined
      ? DEFAULT_DRAFT
      : DRAFTS.find(([pattern]) => typeof $schema === 'string' && pattern.test($schema));
  if (!draft) return undefined;
  const [, create] = draft;
  const validator = validators.get(create) ?? create();
  validators.set(create, validator);
  return validator;
}

/** The meta-schemas do not check that patterns are regular expressions. */
function hasInvalidPattern(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(hasInvalidPattern);
  if (!isObject(schema)) return false;
  return Object.entries(schema).some(([keyword, value]) => {
    if (DATA_KEYWORDS.has(keyword)) return false;
    const schemas = MAP_KEYWORDS.has(keyword) && isObject(value) ? Object.values(value) : value;
    return !patternsOf(keyword, value).every(isRegularExpression) || hasInvalidPattern(schemas);
  });
}

function patternsOf(keyword: string, value: unknown): string[] {
  if (keyword === 'pattern' && typeof value === 'string') return [value];
  return keyword === 'patternProperties' && isObject(value) ? Object.keys(value) : [];
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function isRegularExpression(pattern: string): boolean {
  try {
    new RegExp(pattern, 'u');
    return true;
  } catch {
    return false;
  }
}
