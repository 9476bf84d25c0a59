// Answers a part that is neither `file` nor `options`, and says where its content belongs.
import { ParseError } from '#shared/contract/errors.ts';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import { optionsMeantBy } from '#shared/contract/option-hints.ts';
import { parseOptionsSchema } from '#shared/contract/options-schema.ts';
import { quoteName } from '#shared/contract/schema-words.ts';
import { curlExample, missingFile } from './multipart.ts';
import { fieldBytes } from './options.ts';

const unknownPart = (message: string): ParseError => new ParseError('BAD_REQUEST', `Bad Request: ${message}`);

/**
 * The error for a part without a file name. If its name is close to an option, the example has this option with its value.
 * @param value as busboy returns it
 */
export function unknownField(name: string, value: string): ParseError {
  const text = fieldBytes(value.slice(0, 4 * REQUEST_LIMITS.errorExampleLength)).toString('utf8');
  const options = optionsMeantBy(parseOptionsSchema, name, text);
  const rule = 'the parts of a request are `file` (the document) and `options` (a JSON object)';
  return unknownPart(
    options === undefined
      ? `there is no part ${quoteName(name)}; ${rule}. Remove it, or send, for example, ${curlExample()}`
      : `there is no part ${quoteName(name)}; options belong in the JSON of the part \`options\`. Send ${curlExample(options)}`,
  );
}

/** The error for a file in a part with a wrong name. @param hasFile whether the part `file` has arrived already */
export const unknownFilePart = (name: string, hasFile: boolean): ParseError =>
  hasFile
    ? unknownPart(
        `there is a second file, in the part ${quoteName(name)}; send one file per request, in the part \`file\``,
      )
    : missingFile(
        `the document is in the part ${quoteName(name)}. Name the part \`file\`, for example with ${curlExample()}`,
      );
