// A model that runs elsewhere: POST {text} to PII_MODEL_URL, spans come back.
import { z } from 'zod';
import { ParseError } from '#shared/contract/errors.ts';
import { PII_ENTITIES } from '#shared/contract/options.ts';
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
 * `{"text": "..."}` in, `{"spans": [{"start", "end", "entity", "score"}]}` out, offsets in UTF-16 code units.
 * @throws ParseError BAD_GATEWAY where the endpoint does not answer so.
 */
export function httpModel(url: string): PiiModel {
  return {
    name: 'http',
    async find(text, signal) {
      try {
        const { status, body } = await postJson({ url, body: { text }, signal, responseBytesMax: RESPONSE_BYTES_MAX });
        if (status < 200 || status > 299) throw new Error(`status ${status}`);
        const { spans } = answerSchema.parse(JSON.parse(body));
        return spans.filter((span) => span.start < span.end && span.end <= text.length);
      } catch (cause) {
        throw new ParseError(
          'BAD_GATEWAY',
          'Bad Gateway: the PII model endpoint gave no usable answer; try again, or ask for mode `fast`, which needs no model',
          { cause },
        );
      }
    },
  };
}
