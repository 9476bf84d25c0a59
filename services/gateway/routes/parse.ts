// Serves POST /v2/parse: a multipart upload in, the record as JSON out.
import type { Handler } from '../app.ts';
import { type ParseDependencies, parseRequestHandler } from '../parse-request.ts';
import { writeRecord } from '../responses/record.ts';
import { receiveUpload } from '../upload/receive.ts';

export function parseHandler(deps: ParseDependencies): Handler {
  return parseRequestHandler(deps, { receive: receiveUpload, writeBody: writeRecord });
}
