// Extracts JSON from a document with a language model: parses the answer, checks it against the schema, and requests one repair.
import { ParseError } from '#shared/contract/errors.ts';
import type { JsonFormat } from '#shared/contract/options-schema.ts';
import type { ModelConfig } from '#shared/runtime/config.ts';
import { type ChatLimits, type ChatMessage, ChatRefusedError, complete, type ResponseFormat } from './chat.ts';
import { excerptOf } from './excerpt.ts';
import { extractionMessages, repairMessages } from './prompt.ts';
import type { TextStart } from './record-text.ts';
import { readSchema, type SchemaCheck } from './schema.ts';

interface Extraction {
  value: unknown;
  warnings: string[];
}

/** Formats to try, the strictest first. The next one is tried if the endpoint refuses the request. */
function responseFormats(schema: Record<string, unknown> | undefined): (ResponseFormat | undefined)[] {
  const strict: ResponseFormat[] = schema
    ? [{ type: 'json_schema', json_schema: { name: 'extraction', strict: false, schema } }]
    : [];
  return [...strict, { type: 'json_object' }, undefined];
}

interface FormattedAnswer {
  answer: string;
  /** The format that worked, and the ones after it. */
  formats: (ResponseFormat | undefined)[];
}

async function completeInFormat(
  config: ModelConfig,
  messages: ChatMessage[],
  formats: readonly (ResponseFormat | undefined)[],
  limits: ChatLimits,
): Promise<FormattedAnswer> {
  let refusal: unknown;
  for (const [index, format] of formats.entries()) {
    try {
      return {
        answer: await complete(config, format ? { messages, format } : { messages }, limits),
        formats: formats.slice(index),
      };
    } catch (error) {
      if (!(error instanceof ChatRefusedError)) throw error;
      refusal = error;
    }
  }
  throw new ParseError(
    'BAD_GATEWAY',
    'Bad Gateway: the language model endpoint refused the request; the document may be too long for the model',
    { cause: refusal },
  );
}

/** The JSON value of an answer, without the code fence or prose that models add. @throws SyntaxError */
function parseAnswer(answer: string): unknown {
  const text = answer.trim();
  try {
    return JSON.parse(text);
  } catch (fault) {
    const open = text.search(/[[{]/);
    const close = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']'));
    if (open < 0 || close <= open) throw fault;
    return JSON.parse(text.slice(open, close + 1));
  }
}

/** @throws ParseError SCHEMA_INVALID if the check takes too long */
function checkAnswer(answer: string, check: SchemaCheck | undefined): { value: unknown; faults: string | undefined } {
  let value: unknown;
  try {
    value = parseAnswer(answer);
  } catch {
    return { value: undefined, faults: 'the answer is not one JSON value' };
  }
  return { value, faults: check?.faults(value) };
}

/**
 * The `json` format of a document. Checks the schema before it requires a model.
 * @throws ParseError SCHEMA_INVALID, MODEL_NOT_CONFIGURED, EXTRACTION_FAILED, and the errors of `complete`
 */
export async function extractJson(
  markdown: TextStart,
  format: JsonFormat,
  config: ModelConfig | undefined,
  limits: ChatLimits,
): Promise<Extraction> {
  const check = format.schema === undefined ? undefined : readSchema(format.schema);
  if (!config)
    throw new ParseError(
      'MODEL_NOT_CONFIGURED',
      'No language model is configured on this server, so the `json` format is not available: the operator must set LLM_BASE_URL',
    );
  const { text, warning } = excerptOf(markdown);
  const messages = extractionMessages(text, format);
  const first = await completeInFormat(config, messages, responseFormats(format.schema), limits);
  let checked = checkAnswer(first.answer, check);
  if (checked.faults !== undefined) {
    const second = await completeInFormat(
      config,
      repairMessages(messages, first.answer, checked.faults),
      first.formats,
      limits,
    );
    checked = checkAnswer(second.answer, check);
  }
  if (checked.faults !== undefined)
    throw new ParseError(
      'EXTRACTION_FAILED',
      'Unprocessable Entity: the model returned no result that conforms to the schema in two attempts; simplify the schema or the prompt',
    );
  return { value: checked.value, warnings: warning === undefined ? [] : [warning] };
}
