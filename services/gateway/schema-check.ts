// Refuses a `json` format's schema that is no JSON Schema before anything is uploaded or asked of a model.
import { Ajv } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { ParseError } from '#shared/contract/errors.ts';

const settings = { strict: false, allErrors: false, logger: false, validateFormats: true } as const;
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
  // The meta-schemas say `format: regex` of `pattern`; without formats a broken pattern would pass.
  addFormats.default(ajv, ['regex', 'uri', 'uri-reference']);
  made.set(make, ajv);
  return ajv;
}

/**
 * Holds a schema against its draft's meta-schema (drafts 6, 7, 2019-09, 2020-12; the last where `$schema` is absent). Its
 * own patterns are compiled, never run.
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
  if (validator.validateSchema(bare) === true) return;
  const first = validator.errors?.[0];
  const where = first?.instancePath ? `at \`${first.instancePath}\`: ` : '';
  throw new ParseError(
    'SCHEMA_INVALID',
    `Unprocessable Entity: the schema is not a valid JSON Schema: ${where}${first?.message ?? 'not valid'}`,
  );
}
