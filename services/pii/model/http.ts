// A model that runs elsewhere: POST {text} to PII_MODEL_URL, spans come back.
import { z } from 'zod';
import { ParseError } from '#shared/contract/errors.ts';
import { PII_ENTITIES } from '#shared/contract/options.ts';
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
const ANSWER_BYTES_MAX = 8 * 1024 * 1024;

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > ANSWER_BYTES_MAX) throw new Error('answer too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * `{"text": "..."}` in, `{"spans": [{"start", "end", "entity", "score"}]}` out, offsets in UTF-16 code units.
 * @throws ParseError BAD_GATEWAY where the endpoint does not answer so.
 */
export function httpModel(url: string): PiiModel {
  return {
    name: 'http',
    async find(text, signal) {
      try {
        const response = await fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ text }),
          redirect: 'error',
          signal,
        });
        const body = await readBounded(response);
        if (!response.ok) throw new Error(`status ${response.status}`);
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
