// Calls a PII model over HTTP: sends a text to PII_MODEL_URL and reads the spans of the response.
import { z } from 'zod';
import { ParseError } from '#shared/contract/errors.ts';
import { PII_ENTITIES } from '#shared/contract/options-schema.ts';
import { postJson } from '#shared/runtime/post-json.ts';
import type { PiiModel } from './model.ts';

const answerSchema = z.object({
  spans: z
    .array(
      z.object({
        start: z.int().min(0),
        end: z.int().min(0),
        entity: z.enum(PII_ENTITIES),
        score: z.number().min(0).max(1).default(0.8),
      }),
    )
    .max(100_000),
});
const RESPONSE_BYTES_MAX = 8 * 1024 * 1024;

/**
 * Request: `{"text": "..."}`. Response: `{"spans": [{"start", "end", "entity", "score"}]}`, offsets in UTF-16 code units.
 * `find` throws ParseError BAD_GATEWAY for any other response.
 */
export function httpModel(url: string): PiiModel {
  return {
    name: 'http',
    async find(text, signal) {
      try {
        const { status, body } = await postJson({ url, body: { text }, signal, responseBytesMax: RESPONSE_BYTES_MAX });
        if (status < 200 || status > 299) throw new Error(`status ${status}`);
        const { spans } = answerSchema.parse(JSON.parse(body));
        // A span outside the text cannot be redacted.
        return spans.filter((span) => span.start < span.end && span.end <= text.length);
      } catch (cause) {
        throw new ParseError(
          'BAD_GATEWAY',
          'Bad Gateway: the PII model endpoint returned no usable response; try again, or use mode `fast`, which needs no model',
          { cause },
        );
      }
    },
  };
}
