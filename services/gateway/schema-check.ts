// Refuses a `json` format's schema that is no JSON Schema before anything is uploaded or asked of a model.
import { Ajv } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { ParseError } from '#shared/contract/errors.ts';

const settings = { strict: false, allErrors: false, logger: false, validateFormats: false } as const;
type Validator = Pick<Ajv, 'validateSchema' | 'errors'>;

const makers: readonly (readonly [draft: RegExp, make: () => Ajv])[] = [
  [/^https?:\/\/json-schema\.org\/draft-0[67]\/schema#?$/, () => new Ajv(settings)],
  [/^https?:\/\/json-schema\.org\/draft\/2019-09\/schema#?$/, () => new Ajv2019(settings)],
  [/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/, () => new Ajv2020(settings)],
];
const made = new Map<() => Ajv, Validator>();

function validatorFor(dialect: unknown): Validator | undefined {
  const make =
    dialect === undefined
      ? makers[2]?.[1]
      : makers.find(([draft]) => typeof dialect === 'string' && draft.test(dialect))?.[1];
  if (!make) return undefined;
  const known = made.get(make);
  if (known) return known;
  const ajv = make();
  made.set(make, ajv);
  return ajv;
}

/** Keywords whose values are data, not schemas. */
const DATA_KEYWORDS: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'example']);
/** Keywords that hold schemas by name, where a name may be any keyword's. */
const NAMING_KEYWORDS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);

/** The first pattern of a schema that is no regular expression (the meta-schemas leave that unsaid). */
function brokenPattern(schema: unknown): string | undefined {
  if (Array.isArray(schema)) return schema.map(brokenPattern).find((found) => found !== undefined);
  if (typeof schema !== 'object' || schema === null) return undefined;
  for (const [keyword, value] of Object.entries(schema)) {
    if (DATA_KEYWORDS.has(keyword)) continue;
    const patterns =
      keyword === 'pattern' && typeof value === 'string'
        ? [value]
        : keyword === 'patternProperties' && typeof value === 'object' && value !== null
          ? Object.keys(value)
          : [];
    const found =
      patterns.find((pattern) => !isPattern(pattern)) ??
      brokenPattern(
        NAMING_KEYWORDS.has(keyword) && typeof value === 'object' && value !== null ? Object.values(value) : value,
      );
    if (found !== undefined) return found;
  }
  return undefined;
}

function isPattern(pattern: string): boolean {
  try {
    new RegExp(pattern, 'u');
    return true;
  } catch {
    return false;
  }
}

/**
 * Holds a schema against its draft's meta-schema (drafts 6, 7, 2019-09, 2020-12; the last where `$schema` is absent).
 * Patterns are compiled, never run.
 * @throws ParseError SCHEMA_INVALID saying where it is wrong
 */
export function checkSchema(schema: Record<string, unknown>): void {
  const validator = validatorFor(schema.$schema);
  if (!validator)
    throw new ParseError(
      'SCHEMA_INVALID',
      'Unprocessable Entity: the schema names a `$schema` that is not known here; use JSON Schema draft 7 or 2020-12, or leave it out',
    );
  // `$id` would name the schema inside the validator, and the next one of that name would clash.
  const { $schema: _schema, $id: _id, ...bare } = schema;
  if (validator.validateSchema(bare) !== true) {
    const first = validator.errors?.[0];
    const where = first?.instancePath ? `at \`${first.instancePath}\`: ` : '';
    throw new ParseError(
      'SCHEMA_INVALID',
      `Unprocessable Entity: the schema is not a valid JSON Schema: ${where}${first?.message ?? 'not valid'}`,
    );
  }
  if (brokenPattern(bare) !== undefined)
    throw new ParseError(
      'SCHEMA_INVALID',
      'Unprocessable Entity: the schema is not a valid JSON Schema: a `pattern` is not a regular expression',
    );
}
