// Builds the body of an error response (docs/api.md, "Errors").
import type { z } from 'zod';
import type { ParseError } from '#shared/contract/errors.ts';
import type { errorResponseSchema } from '#shared/contract/response.ts';

export function errorBody(error: ParseError): z.infer<typeof errorResponseSchema> {
  return {
    success: false,
    error: error.message,
    code: error.code,
    ...(error.details ? { details: error.details } : {}),
  };
}
