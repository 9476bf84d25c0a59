// Serves PUT /process, the interface of Open WebUI for an external document loader: the file itself in, documents with Markdown out.
import type { IncomingMessage } from 'node:http';
import { ParseError } from '#shared/contract/errors.ts';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import { type ParseOptions, readParseOptions } from '#shared/contract/options.ts';
import type { Handler } from '../app.ts';
import { type ParseDependencies, parseRequestHandler, type ResponseFormat } from '../parse-request.ts';
import { writeDocument, writePageDocuments } from '../responses/documents.ts';
import { JSON_TYPE } from '../responses/json.ts';
import { decodeOptionsJson } from '../upload/options.ts';
import { receiveRawUpload } from '../upload/raw-body.ts';
import type { Upload } from '../upload/receive.ts';

const OPTIONS_HEADER = 'X-Parse-Options';

export function processHandler(deps: ParseDependencies): Handler {
  return parseRequestHandler(deps, {
    receive: async (request, rules) => {
      const options = readOptions(request);
      const upload = await receiveRawUpload(request, { fileName: readFileName(request), options }, rules);
      return hasPages(upload) ? { ...upload, options: pagesOnly(options) } : upload;
    },
    chooseFormat: () => FORMAT,
  });
}

const FORMAT: ResponseFormat = {
  contentType: JSON_TYPE,
  writeBody: (fields, report, upload) =>
    hasPages(upload) ? writePageDocuments(fields, report) : writeDocument(fields, report),
};

const hasPages = ({ format }: Upload): boolean => format.service === 'pdf';

const pagesOnly = (options: ParseOptions): ParseOptions => ({
  ...options,
  formats: new Set(),
  pdf: { ...options.pdf, pages: options.pdf.pages || true },
});

/** Reads a header as UTF-8. Node decodes headers as Latin-1. */
const headerBytes = (request: IncomingMessage, name: string): Buffer | undefined => {
  const value = request.headers[name.toLowerCase()];
  return typeof value === 'string' ? Buffer.from(value, 'latin1') : undefined;
};

/** Returns the file name from `X-Filename`, which Open WebUI percent-encodes. A name that is not valid as such stays unchanged. */
function readFileName(request: IncomingMessage): string {
  const name = headerBytes(request, 'X-Filename')?.toString('utf8') ?? '';
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/**
 * Reads the options from their header. The default timeout is the longest one, because Open WebUI waits without a limit and sends no options.
 * @throws ParseError BAD_REQUEST, PARSE_UNSUPPORTED_OPTIONS
 */
function readOptions(request: IncomingMessage): ParseOptions {
  const bytes = headerBytes(request, OPTIONS_HEADER);
  const sent = bytes === undefined ? {} : decodeOptionsJson(bytes, `\`${OPTIONS_HEADER}\` header`);
  const isObject = typeof sent === 'object' && sent !== null && !Array.isArray(sent);
  const options = readParseOptions(isObject ? { timeout: REQUEST_LIMITS.timeoutMaxMs, ...sent } : sent);
  const onlyMarkdown = options.formats.size === 1 && options.formats.has('markdown');
  if (!onlyMarkdown || options.pdf.blocks)
    throw new ParseError(
      'BAD_REQUEST',
      'Bad Request: PUT /process returns Markdown only; leave out `formats` and `blocks`, or send the file to POST /v2/parse',
    );
  return { ...options, auditUsername: options.auditUsername ?? readUser(request) };
}

/** Returns the user whom Open WebUI names for a request, if it is configured to do so. Only audit events contain it. */
const readUser = (request: IncomingMessage): string | undefined =>
  headerBytes(request, 'X-OpenWebUI-User-Email')?.toString('utf8').slice(0, REQUEST_LIMITS.auditUsernameLength);
