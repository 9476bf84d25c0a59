// Reads the `options` of a request: validates them, expands shorthands and fills in defaults.
import type { z } from 'zod';
import { type FieldIssue, ParseError } from './errors.ts';
import { REQUEST_LIMITS } from './limits.ts';
import { parseOcrLanguages } from './ocr-languages.ts';
import { boundIssues, validationError, withoutExcess } from './option-errors.ts';
import {
  type FormatType,
  type JsonFormat,
  type PdfOptions,
  parseOptionsSchema,
  type RedactOptions,
  redactPiiSchema,
  UNSUPPORTED_FORMATS,
  UNSUPPORTED_OPTIONS,
} from './options-schema.ts';
import { parsePageRanges } from './page-ranges.ts';
import { describeValue } from './schema-words.ts';

/** The validated options: shorthands are expanded, duplicates are removed, defaults are filled in. */
export interface ParseOptions {
  formats: ReadonlySet<FormatType>;
  json: JsonFormat | undefined;
  /** Whether the response contains the pictures inside the document. */
  embeddedImages: boolean;
  pdf: PdfOptions;
  redact: RedactOptions | undefined;
  includeTags: string[];
  excludeTags: string[];
  onlyMainContent: boolean;
  blockAds: boolean;
  removeBase64Images: boolean;
  timeoutMs: number;
  zeroDataRetention: boolean;
  auditUsername: string | undefined;
  origin: string;
  integration: string | undefined;
}

const PDF_DEFAULTS: PdfOptions = { mode: 'auto', pages: false, blocks: false, pageMarkers: false };

/** Whether the value of an unsupported option requests nothing. */
const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === false ||
  value === 0 ||
  value === '' ||
  (Array.isArray(value)
    ? value.length === 0
    : typeof value === 'object' && value !== null && Object.keys(value).length === 0);

function unsupportedFields(raw: Record<string, unknown>): FieldIssue[] {
  const unsupportedOptions: readonly string[] = UNSUPPORTED_OPTIONS;
  const unsupportedFormats: readonly string[] = UNSUPPORTED_FORMATS;
  const issues: FieldIssue[] = Object.entries(raw)
    .filter(([key, value]) => unsupportedOptions.includes(key) && !isEmpty(value))
    .map(([key]) => ({ path: key, message: `parse does not support \`${key}\``, code: 'unsupported' }));
  const formats = Array.isArray(raw.formats) ? raw.formats : [];
  formats.forEach((item: unknown, index) => {
    const type =
      typeof item === 'string'
        ? item
        : typeof item === 'object' && item !== null && 'type' in item
          ? item.type
          : undefined;
    if (typeof type === 'string' && unsupportedFormats.includes(type))
      issues.push({
        path: `formats[${index}]`,
        message: `parse does not support the format \`${type}\``,
        code: 'unsupported',
      });
  });
  return issues;
}

/** The first unsupported options and formats, each once. */
function namesOf(unsupported: readonly FieldIssue[]): string {
  const names = [...new Set(unsupported.map(({ message }) => message.replace('parse does not support ', '')))];
  const more = names.length - REQUEST_LIMITS.errorNames;
  return names.slice(0, REQUEST_LIMITS.errorNames).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/**
 * Validates the decoded JSON of the `options` part.
 * @throws ParseError BAD_REQUEST with every invalid field in `details`, or PARSE_UNSUPPORTED_OPTIONS
 */
export function readParseOptions(raw: unknown): ParseOptions {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
    throw new ParseError(
      'BAD_REQUEST',
      `Bad Request: the \`options\` part must be a JSON object, for example {"formats":["markdown"]}, but is ${describeValue(raw)}`,
    );
  const record = withoutExcess(raw) as Record<string, unknown>;
  const unsupported = unsupportedFields(record);
  if (unsupported.length > 0)
    throw new ParseError(
      'PARSE_UNSUPPORTED_OPTIONS',
      `Unsupported options for parse: ${namesOf(unsupported)}. Remove them and send the request again.`,
      { details: boundIssues(unsupported) },
    );
  const withoutEffect: readonly string[] = UNSUPPORTED_OPTIONS;
  const supported = Object.fromEntries(Object.entries(record).filter(([key]) => !withoutEffect.includes(key)));
  const result = parseOptionsSchema.safeParse(supported);
  if (!result.success) throw validationError(parseOptionsSchema, supported);
  return resolve(result.data);
}

function resolve(data: z.output<typeof parseOptionsSchema>): ParseOptions {
  const items = (data.formats.length === 0 ? ['markdown' as const] : data.formats).map((item) =>
    typeof item === 'string' ? { type: item } : item,
  );
  const json = items.find((item) => item.type === 'json');
  const pdf = data.parsers.filter((item) => typeof item !== 'string').find((item) => item.type === 'pdf');
  const formats = new Set<FormatType>(items.map((item) => item.type));
  const redact =
    data.redactPII === true ? redactPiiSchema.parse({}) : data.redactPII === false ? undefined : data.redactPII;
  if (redact && formats.has('rawHtml'))
    throw new ParseError(
      'BAD_REQUEST',
      'Bad Request: `rawHtml` is the unmodified source, so it cannot be combined with `redactPII`. Request `html` instead.',
      {
        details: [{ path: 'formats', message: '`rawHtml` cannot be combined with `redactPII`', code: 'custom' }],
      },
    );
  const embeddedImages = items.some((item) => item.type === 'images' && 'embedded' in item && item.embedded);
  if (redact && embeddedImages)
    throw new ParseError(
      'BAD_REQUEST',
      'Bad Request: `embedded` returns pictures, whose content is not redacted, so it cannot be combined with `redactPII`. Request `images` without `embedded` instead.',
      {
        details: [{ path: 'formats', message: '`embedded` cannot be combined with `redactPII`', code: 'custom' }],
      },
    );
  const pageRanges = typeof pdf?.pages === 'string' ? parsePageRanges(pdf.pages) : undefined;
  const language = pdf?.language ?? data.language;
  const languages = language === undefined ? {} : { languages: parseOcrLanguages(language) };
  return {
    formats,
    embeddedImages,
    json:
      json?.type === 'json'
        ? {
            ...(json.prompt === undefined ? {} : { prompt: json.prompt }),
            ...(json.schema === undefined ? {} : { schema: json.schema }),
          }
        : undefined,
    pdf: pdf
      ? {
          ...languages,
          mode: pdf.mode,
          pages: pdf.pages !== false || pdf.pageMarkdown,
          ...(pageRanges === undefined ? {} : { pageRanges }),
          blocks: pdf.blocks,
          pageMarkers: pdf.pageMarkers,
          ...(pdf.maxPages === undefined ? {} : { maxPages: pdf.maxPages }),
          ...(pdf.password === undefined ? {} : { password: pdf.password }),
        }
      : { ...PDF_DEFAULTS, ...languages },
    redact,
    includeTags: data.includeTags ?? [],
    excludeTags: data.excludeTags ?? [],
    onlyMainContent: data.onlyMainContent,
    blockAds: data.blockAds,
    removeBase64Images: data.removeBase64Images,
    timeoutMs: data.timeout,
    zeroDataRetention: data.zeroDataRetention,
    auditUsername: data.auditMetadata?.username,
    origin: data.origin,
    integration: data.integration ?? undefined,
  };
}
