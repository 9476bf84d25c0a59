// GET /v2/parse/formats: the kinds of file that are read, as the public SDKs ask for them.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { FORMATS, type FormatRow } from '#shared/contract/formats.ts';
import { sendJson } from '../answer.ts';
import { authenticate } from '../auth/bearer.ts';
import type { KeySource } from '../auth/keys.ts';

/** One entry a kind of file; extensions that mean the same kind share it. */
export function listFormats(): object {
  const kinds = Map.groupBy<string, FormatRow>(FORMATS, (row) => row.label);
  return {
    success: true,
    data: {
      formats: [...kinds].map(([label, rows]) => ({
        format: rows[0]?.extension.slice(1),
        kind: 'document',
        label,
        extensions: rows.map((row) => row.extension),
        mimeTypes: [...new Set(rows.flatMap((row) => row.mimeTypes))],
        available: true,
      })),
    },
  };
}

export function formatsHandler(keys: KeySource): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    authenticate(request, keys);
    sendJson(response, 200, listFormats());
  };
}
