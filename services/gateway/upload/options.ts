// Reads the bytes of the `options` part: bounded, strictly UTF-8, and never deeper than the parsers behind can bear.
import { ParseError } from '#shared/contract/errors.ts';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import { type ParseOptions, readParseOptions } from '#shared/contract/options.ts';

/** Deepest nesting of brackets outside strings. Linear; says nothing of validity. */
export function jsonDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === 0x5c) at++;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x7b || code === 0x5b) deepest = Math.max(deepest, ++depth);
    else if (code === 0x7d || code === 0x5d) depth--;
  }
  return deepest;
}

const EXAMPLE = 'for example {"formats":["markdown"]}';

/**
 * The options of a request from the bytes of their part.
 * @throws ParseError BAD_REQUEST or PARSE_UNSUPPORTED_OPTIONS
 */
export function decodeOptions(bytes: Uint8Array): ParseOptions {
  if (bytes.byteLength > REQUEST_LIMITS.optionsBytes)
    throw new ParseError(
      'BAD_REQUEST',
      `Bad Request: the \`options\` part is larger than ${REQUEST_LIMITS.optionsBytes} bytes`,
    );
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new ParseError('BAD_REQUEST', 'Bad Request: the `options` part is not valid UTF-8', { cause: error });
  }
  if (jsonDepth(text) > REQUEST_LIMITS.optionsDepth)
    throw new ParseError(
      'BAD_REQUEST',
      `Bad Request: the \`options\` JSON is nested deeper than ${REQUEST_LIMITS.optionsDepth} levels`,
    );
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch (error) {
    throw new ParseError(
      'BAD_REQUEST',
      `Bad Request: the \`options\` part is not valid JSON; send a JSON object, ${EXAMPLE}`,
      { cause: error },
    );
  }
  return readParseOptions(raw);
}
