// Calls the configured chat endpoint (OpenAI wire format) with limits on time and size, and turns its errors into ParseErrors.
import { z } from 'zod';
import { ParseError } from '#shared/contract/errors.ts';
import { MODEL_LIMITS } from '#shared/contract/limits.ts';
import type { ModelConfig } from '#shared/runtime/config.ts';
import { type PostResponse, postJson, ResponseTooLargeError } from '#shared/runtime/post-json.ts';

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

/** The format that the answer must have. Not every endpoint accepts every one. */
export type ResponseFormat =
  | { type: 'json_schema'; json_schema: { name: string; strict: boolean; schema: Record<string, unknown> } }
  | { type: 'json_object' };

interface ChatRequest {
  messages: ChatMessage[];
  format?: ResponseFormat;
}

export interface ChatLimits {
  signal: AbortSignal;
  /** Epoch milliseconds. */
  deadline: number;
}

/** The endpoint returned 400 or 422: it may not support the response format. */
export class ChatRefusedError extends Error {
  override readonly name = 'ChatRefusedError';
}

const completionSchema = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({ content: z.string().nullish(), refusal: z.string().nullish() }),
        finish_reason: z.string().nullish(),
      }),
    )
    .min(1),
});

const badGateway = (reason: string, cause?: unknown): ParseError =>
  new ParseError('BAD_GATEWAY', `Bad Gateway: ${reason}`, cause === undefined ? {} : { cause });

/** Seconds of a `Retry-After` header, which is a number or a date (RFC 9110, 10.2.3). */
function retryAfterSeconds(header: string | undefined): number {
  const seconds =
    header === undefined
      ? Number.NaN
      : /^\d+$/.test(header.trim())
        ? Number(header)
        : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds)
    ? Math.min(MODEL_LIMITS.retryAfterMaxSeconds, Math.max(1, Math.ceil(seconds)))
    : MODEL_LIMITS.retryAfterDefaultSeconds;
}

/** Throws the error for a status other than 2xx. The text of the response is not used, because it can contain secrets of the operator. */
function throwForStatus({ status, headers }: PostResponse): never {
  if (status === 400 || status === 422) throw new ChatRefusedError(`status ${status}`);
  if (status === 429)
    throw new ParseError(
      'SERVICE_UNAVAILABLE',
      'Service Unavailable: the rate limit of the language model endpoint is exceeded; try again later',
      {
        retryAfterSeconds: retryAfterSeconds(headers['retry-after']),
      },
    );
  if (status === 401 || status === 403)
    throw badGateway(
      "the language model endpoint rejected this server's credentials; the operator must check LLM_API_KEY",
    );
  if (status === 404)
    throw badGateway(
      'the language model endpoint returned 404 for the model or the path; the operator must check LLM_BASE_URL and LLM_MODEL',
    );
  if (status >= 300 && status < 400)
    throw badGateway(
      'the language model endpoint returned a redirect, which is not followed; the operator must check LLM_BASE_URL',
    );
  throw badGateway(`the language model endpoint returned status ${status}; try again later`);
}

/**
 * Requests one completion and returns the text of its first choice.
 * @throws ParseError REQUEST_TIMEOUT, BAD_GATEWAY, SERVICE_UNAVAILABLE; ChatRefusedError for status 400 or 422
 */
export async function complete(config: ModelConfig, request: ChatRequest, limits: ChatLimits): Promise<string> {
  const left = limits.deadline - Date.now();
  if (left <= 0 || limits.signal.aborted) throw new ParseError('REQUEST_TIMEOUT');
  const signal = AbortSignal.any([limits.signal, AbortSignal.timeout(left)]);
  try {
    const response = await postJson({
      url: `${config.baseUrl}/chat/completions`,
      headers: config.apiKey === undefined ? {} : { authorization: `Bearer ${config.apiKey}` },
      body: {
        model: config.model,
        messages: request.messages,
        temperature: 0,
        stream: false,
        ...(request.format ? { response_format: request.format } : {}),
      },
      signal,
      responseBytesMax: MODEL_LIMITS.answerBytes,
    });
    if (response.status < 200 || response.status > 299) throwForStatus(response);
    return readCompletion(response.body);
  } catch (cause) {
    if (cause instanceof ParseError || cause instanceof ChatRefusedError) throw cause;
    if (cause instanceof ResponseTooLargeError)
      throw badGateway('the language model endpoint returned a response that is too long', cause);
    if (signal.aborted)
      throw new ParseError(
        'REQUEST_TIMEOUT',
        'Request Timeout: the language model did not answer in time; send the request with a longer `timeout`',
        { cause },
      );
    throw badGateway('the language model endpoint cannot be reached; the operator must check LLM_BASE_URL', cause);
  }
}

function readCompletion(body: string): string {
  let raw: unknown;
  try {
    raw = JSON.parse(body);
  } catch (cause) {
    throw badGateway('the language model endpoint returned a response that is not JSON', cause);
  }
  const parsed = completionSchema.safeParse(raw);
  if (!parsed.success)
    throw badGateway('the language model endpoint returned JSON that is not a chat completion', parsed.error);
  return parsed.data.choices[0]?.message.content ?? '';
}
