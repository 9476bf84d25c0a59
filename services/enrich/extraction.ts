// Turns a document into JSON by a model: asked, parsed, judged by the schema, repaired once.
import { ParseError } from '#shared/contract/errors.ts';
import type { JsonFormat } from '#shared/contract/options.ts';
import type { ModelConfig } from '#shared/runtime/config.ts';
import { type ChatLimits, type ChatMessage, ChatRefusedError, complete, type ResponseFormat } from './chat.ts';
import { excerptOf } from './excerpt.ts';
import { extractionMessages, repairMessages } from './prompt.ts';
import { readSchema, type SchemaCheck } from './schema.ts';

export interface Extraction {
  value: unknown;
  warnings: string[];
}

/** From the strictest to none: an endpoint that refuses one is asked with the next. */
function responseFormats(schema: Record<string, unknown> | undefined): (ResponseFormat | undefined)[] {
  const strict: ResponseFormat[] = schema
    ? [{ type: 'json_schema', json_schema: { name: 'extraction', strict: false, schema } }]
    : [];
  return [...strict, { type: 'json_object' }, undefined];
}

interface Asked {
  answer: string;
  /** The formats still worth trying, the one that worked first. */
  formats: (ResponseFormat | undefined)[];
}

async function ask(
  config: ModelConfig,
  messages: ChatMessage[],
  formats: readonly (ResponseFormat | undefined)[],
  limits: ChatLimits,
): Promise<Asked> {
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

/** The JSON value of an answer, without the code fence or prose that models put around it. @throws SyntaxError */
export function parseAnswer(answer: string): unknown {
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

function judge(answer: string, check: SchemaCheck | undefined): { value: unknown; faults: string | undefined } {
  try {
    const value = parseAnswer(answer);
    return { value, faults: check?.faults(value) };
  } catch {
    return { value: undefined, faults: 'the answer is not one JSON value' };
  }
}

/**
 * The JSON that the format asks for, from the Markdown of a document.
 * @throws ParseError SCHEMA_INVALID, MODEL_NOT_CONFIGURED, EXTRACTION_FAILED, and what `complete` throws.
 */
export async function extractJson(
  markdown: string,
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
  const first = await ask(config, messages, responseFormats(format.schema), limits);
  let judged = judge(first.answer, check);
  if (judged.faults !== undefined) {
    const second = await ask(config, repairMessages(messages, first.answer, judged.faults), first.formats, limits);
    judged = judge(second.answer, check);
  }
  if (judged.faults !== undefined)
    throw new ParseError(
      'EXTRACTION_FAILED',
      'Unprocessable Entity: the model gave no result that conforms to the schema, also after a second attempt; simplify the schema or the prompt',
    );
  return { value: judged.value, warnings: warning === undefined ? [] : [warning] };
}
