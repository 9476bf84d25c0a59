// Serves GET /v2/parse/formats, the list of supported file formats, because the public SDKs request it.
import { FORMATS, type FormatRow } from '#shared/contract/formats.ts';
import type { Handler } from '../app.ts';
import { authenticate } from '../auth/bearer.ts';
import type { KeySource } from '../auth/keys.ts';
import { sendCompressible } from '../responses/compression.ts';
import { JSON_TYPE } from '../responses/json.ts';

export function formatsHandler(keys: KeySource): Handler {
  return (request, response) => {
    authenticate(request, response, keys);
    sendCompressible(request, response, JSON_TYPE, JSON.stringify(listFormats()));
  };
}

/** One entry for each format. Extensions of the same format share an entry. */
function listFormats(): object {
  const formats = Map.groupBy<string, FormatRow>(FORMATS, (row) => row.label);
  return {
    success: true,
    data: {
      formats: [...formats].map(([label, rows]) => ({
        format: rows[0]?.extension.slice(1),
        kind: rows[0]?.kind,
        label,
        extensions: rows.map((row) => row.extension),
        mimeTypes: [...new Set(rows.flatMap((row) => row.mimeTypes))],
        available: true,
      })),
    },
  };
}
