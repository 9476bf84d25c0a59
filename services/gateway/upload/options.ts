// Decodes the JSON of the options: limits its size and nesting depth, and accepts only valid UTF-8.
import type { Readable } from 'node:stream';
import { ParseError } from '#shared/contract/errors.ts';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import { type ParseOptions, readParseOptions } from '#shared/contract/options.ts';
import { describeJsonFault } from './json-fault.ts';

const EXAMPLE = 'for example {"formats":["markdown"]}';
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Reads the options from a field, which is a part without a file name.
 * @param value as busboy returns it: base64 if the part names no charset, otherwise the decoded text
 * @throws ParseError BAD_REQUEST or PARSE_UNSUPPORTED_OPTIONS
 */
export function readOptionsField(value: string | undefined): ParseOptions {
  if (value !== undefined && BASE64.test(value)) return decodeOptions(fieldBytes(value));
  // busboy writes U+FFFD for bytes that are not valid in the charset of the part.
  if (value === undefined || value.includes('\ufffd'))
    throw new ParseError(
      'BAD_REQUEST',
      'Bad Request: the `options` part is not valid text in the charset that it names. Send JSON as UTF-8 text, and the document in the part `file`',
    );
  return decodeOptions(Buffer.from(value, 'utf8'));
}

/** The bytes of a field as busboy returns it. */
export const fieldBytes = (value: string): Buffer => Buffer.from(value, BASE64.test(value) ? 'base64' : 'utf8');

/**
 * Reads the options from a part with a file name, as browsers send a Blob.
 * @throws ParseError BAD_REQUEST or PARSE_UNSUPPORTED_OPTIONS
 */
export async function readOptionsStream(stream: Readable): Promise<ParseOptions> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    chunks.push(chunk);
    if (size > REQUEST_LIMITS.optionsBytes) break;
  }
  return decodeOptions(Buffer.concat(chunks));
}

const decodeOptions = (bytes: Uint8Array): ParseOptions => readParseOptions(decodeOptionsJson(bytes, '`options` part'));

/**
 * Decodes JSON from a client, without checking what it contains.
 * @param place where the request has it, for the error message
 * @throws ParseError BAD_REQUEST
 */
export function decodeOptionsJson(bytes: Uint8Array, place: string): unknown {
  if (bytes.byteLength > REQUEST_LIMITS.optionsBytes)
    throw new ParseError(
      'BAD_REQUEST',
      `Bad Request: the ${place} is larger than ${REQUEST_LIMITS.optionsBytes} bytes; send less JSON`,
    );
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new ParseError('BAD_REQUEST', `Bad Request: the ${place} is not valid UTF-8. Send JSON as UTF-8 text`, {
      cause: error,
    });
  }
  if (jsonDepth(text) > REQUEST_LIMITS.optionsDepth)
    throw new ParseError(
      'BAD_REQUEST',
      `Bad Request: the JSON of the ${place} is nested deeper than ${REQUEST_LIMITS.optionsDepth} levels; send JSON with fewer levels`,
    );
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ParseError(
      'BAD_REQUEST',
      `Bad Request: the ${place} is not valid JSON at ${describeJsonFault(text)}. Send a JSON object, ${EXAMPLE}`,
      { cause: error },
    );
  }
}

/** Returns the deepest nesting of brackets outside strings, in linear time. The text need not be valid JSON. */
function jsonDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === BACKSLASH) at++;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) inString = true;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) deepest = Math.max(deepest, ++depth);
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
  }
  return deepest;
}
