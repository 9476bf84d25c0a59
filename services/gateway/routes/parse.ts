// Serves POST /v2/parse: a multipart upload in; the record as JSON, its Markdown alone, or events with the progress and the record out.
import { ParseError } from '#shared/contract/errors.ts';
import type { ParseOptions } from '#shared/contract/options.ts';
import type { Handler } from '../app.ts';
import { type ParseDependencies, parseRequestHandler, type ResponseFormat } from '../parse-request.ts';
import { chooseMediaType } from '../responses/accept.ts';
import { EVENT_STREAM_TYPE } from '../responses/event-stream.ts';
import { JSON_TYPE } from '../responses/json.ts';
import { readMarkdown, warningHeader } from '../responses/markdown.ts';
import { writeRecord } from '../responses/record.ts';
import { receiveUpload } from '../upload/receive.ts';

/** By media type (docs/api.md, "Response type"). The first one is used if the client likes several equally well, or none. */
const FORMATS: Readonly<Record<string, ResponseFormat>> = {
  'application/json': { contentType: JSON_TYPE, writeBody: writeRecord },
  'text/markdown': {
    contentType: 'text/markdown; charset=utf-8',
    checkOptions: checkMarkdownRequested,
    headers: ({ warnings }): Record<string, string> =>
      warnings.length === 0 ? {} : { 'X-Warning': warningHeader(warnings) },
    writeBody: readMarkdown,
  },
  'text/event-stream': { contentType: EVENT_STREAM_TYPE, isEventStream: true, writeBody: writeRecord },
};

export function parseHandler(deps: ParseDependencies): Handler {
  return parseRequestHandler(deps, {
    receive: receiveUpload,
    chooseFormat: (request, response) => {
      response.appendHeader('Vary', 'Accept');
      return chooseMediaType(request, FORMATS);
    },
  });
}

/** @throws ParseError 400 if the response should be Markdown alone, but the options request none */
function checkMarkdownRequested({ formats }: ParseOptions): void {
  if (formats.has('markdown')) return;
  const message =
    'the Accept header asks for Markdown alone (text/markdown), but `formats` has no `markdown`; add it, or send `Accept: application/json`';
  throw new ParseError('BAD_REQUEST', `Bad Request: ${message}`, {
    details: [{ path: 'formats', message, code: 'custom' }],
  });
}
