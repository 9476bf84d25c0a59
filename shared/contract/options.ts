// The request's `options` as zod schemas: they validate, they give the types, and the OpenAPI document is generated from them.
import { z } from 'zod';
import { type FieldIssue, ParseError } from './errors.ts';
import { REQUEST_LIMITS } from './limits.ts';

/** SPEC 2.3: what parse can return. */
export const FORMAT_TYPES = ['markdown', 'summary', 'html', 'rawHtml', 'links', 'images', 'json'] as const;
export type FormatType = (typeof FORMAT_TYPES)[number];

/** Formats of the hosted service that need a browser, a network or a history: refused by name. */
export const UNSUPPORTED_FORMATS = [
  'screenshot',
  'screenshot@fullPage',
  'changeTracking',
  'actions',
  'branding',
  'audio',
  'video',
  'rawBase64',
  'answer',
  'question',
  'query',
  'highlights',
  'attributes',
  'menu',
  'product',
  'extract',
  'deterministicJson',
] as const;

/** Scrape options that public SDKs send on every call: fine where they ask for nothing, refused by name where they ask for something. */
export const UNSUPPORTED_OPTIONS = [
  'mobile',
  'fastMode',
  'waitFor',
  'maxAge',
  'minAge',
  'storeInCache',
  'lockdown',
  'location',
  'useMock',
  'actions',
  'checkPromptInjection',
  'threatProtection',
  'domainTools',
  'toolDetail',
  'profile',
  'changeTrackingOptions',
  'screenshotOptions',
  'jsonOptions',
  'extract',
  'agent',
  'geolocation',
  'ignoreInvalidURLs',
  'screenshot',
  'changeTracking',
  'branding',
  'audio',
  'video',
] as const;

const plainFormat = <T extends Exclude<FormatType, 'json'>>(type: T) => z.strictObject({ type: z.literal(type) });

export const jsonFormatSchema = z
  .strictObject({
    type: z.literal('json'),
    prompt: z
      .string()
      .min(1)
      .max(REQUEST_LIMITS.promptLength)
      .optional()
      .meta({ description: 'Prompt for the JSON output.' }),
    schema: z.record(z.string(), z.unknown()).optional().meta({ description: 'A JSON Schema for the output.' }),
  })
  .refine((format) => format.prompt !== undefined || format.schema !== undefined, {
    message: 'a json format needs a `prompt` or a `schema`',
  });

export const formatObjectSchema = z.discriminatedUnion('type', [
  plainFormat('markdown'),
  plainFormat('summary'),
  plainFormat('html'),
  plainFormat('rawHtml'),
  plainFormat('links'),
  plainFormat('images'),
  jsonFormatSchema,
]);

export const formatSchema = z.union([
  z
    .enum(['markdown', 'summary', 'html', 'rawHtml', 'links', 'images'])
    .meta({ description: 'Shorthand for {"type": ...}.' }),
  formatObjectSchema,
]);

export const PDF_MODES = ['fast', 'auto', 'ocr'] as const;

export const pdfParserSchema = z
  .strictObject({
    type: z.literal('pdf'),
    mode: z
      .enum(PDF_MODES)
      .default('auto')
      .meta({ description: 'fast: text layer only. auto: text first, OCR as fallback. ocr: OCR on every page.' }),
    maxPages: z
      .int()
      .min(1)
      .max(REQUEST_LIMITS.maxPagesMax)
      .optional()
      .meta({ description: 'Caps the number of PDF pages processed.' }),
    pages: z.boolean().default(false).meta({ description: 'Fills data.pages with physical per-page Markdown.' }),
    blocks: z.boolean().default(false).meta({ description: 'Fills data.blocks with typed layout blocks.' }),
    pageMarkers: z
      .boolean()
      .default(false)
      .meta({ description: 'Puts `---` and `<!-- page N -->` between pages of the Markdown.' }),
    password: z
      .string()
      .max(REQUEST_LIMITS.labelLength)
      .optional()
      .meta({ description: 'Addition of ours: opens an encrypted PDF.' }),
  })
  .meta({ id: 'PdfParser' });

export const PII_ENTITIES = ['PERSON', 'EMAIL', 'PHONE', 'LOCATION', 'FINANCIAL', 'SECRET'] as const;
export type PiiEntity = (typeof PII_ENTITIES)[number];
export const PII_MODES = ['accurate', 'aggressive', 'fast'] as const;
export const PII_STYLES = ['tag', 'mask', 'remove'] as const;

export const redactPiiSchema = z
  .strictObject({
    entities: z.array(z.enum(PII_ENTITIES)).max(REQUEST_LIMITS.listItems).optional(),
    mode: z.enum(PII_MODES).default('accurate'),
    replaceStyle: z.enum(PII_STYLES).default('tag'),
  })
  .meta({ id: 'RedactPII' });

const tagList = z.array(z.string().min(1).max(REQUEST_LIMITS.tagSelectorLength)).max(REQUEST_LIMITS.tagSelectors);

export const auditMetadataSchema = z.strictObject({ username: z.string().max(REQUEST_LIMITS.auditUsernameLength) });

/** SPEC 2.2, every field with its default. */
export const parseOptionsSchema = z
  .strictObject({
    auditMetadata: auditMetadataSchema.optional().meta({ description: 'User attribution for audit events.' }),
    blockAds: z.boolean().default(true).meta({ description: 'Drops advertisements and cookie banners.' }),
    excludeTags: tagList.optional().meta({ description: 'CSS selectors whose elements are left out.' }),
    formats: z
      .array(formatSchema)
      .max(REQUEST_LIMITS.listItems)
      .default([{ type: 'markdown' }]),
    headers: z
      .record(z.string(), z.string().max(REQUEST_LIMITS.headerValueLength))
      .refine((pairs) => Object.keys(pairs).length <= REQUEST_LIMITS.headerPairs, {
        message: `at most ${REQUEST_LIMITS.headerPairs} headers`,
      })
      .optional()
      .meta({ description: 'Used only where a request is made; parsing an upload makes none.' }),
    includeTags: tagList
      .optional()
      .meta({ description: 'CSS selectors whose elements alone are kept. Wins over onlyMainContent.' }),
    integration: z.string().max(REQUEST_LIMITS.labelLength).nullable().optional(),
    onlyMainContent: z.boolean().default(true),
    origin: z.string().max(REQUEST_LIMITS.labelLength).default('api'),
    parsers: z
      .array(z.union([z.literal('pdf'), pdfParserSchema]))
      .max(REQUEST_LIMITS.listItems)
      .default(['pdf']),
    proxy: z.enum(['basic', 'auto']).optional(),
    redactPII: z.union([z.boolean(), redactPiiSchema]).default(false),
    removeBase64Images: z.boolean().default(true),
    skipTlsVerification: z.boolean().default(true),
    timeout: z
      .int()
      .min(1)
      .max(REQUEST_LIMITS.timeoutMaxMs)
      .default(REQUEST_LIMITS.timeoutDefaultMs)
      .meta({ description: 'Milliseconds.' }),
    zeroDataRetention: z.boolean().default(false),
  })
  .meta({ id: 'ParseOptions' });

export type PdfOptions = Omit<z.output<typeof pdfParserSchema>, 'type'>;
export type RedactOptions = z.output<typeof redactPiiSchema>;
export interface JsonFormat {
  prompt?: string;
  schema?: Record<string, unknown>;
}

/** The options as the rest of the house reads them: shorthands resolved, duplicates gone, defaults in. */
export interface ParseOptions {
  formats: ReadonlySet<FormatType>;
  json: JsonFormat | undefined;
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

const asksForNothing = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === false ||
  value === 0 ||
  value === '' ||
  (Array.isArray(value)
    ? value.length === 0
    : typeof value === 'object' && value !== null && Object.keys(value).length === 0);

/** Where a field stands, as callers write it: `parsers[0].maxPages`. */
export function fieldPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : text === '' ? String(key) : `${text}.${String(key)}`),
    '',
  );
}

function flattenIssues(issues: readonly z.core.$ZodIssue[], prefix: readonly PropertyKey[] = []): FieldIssue[] {
  return issues.flatMap((issue): FieldIssue[] => {
    const path = [...prefix, ...issue.path];
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => ({
        path: fieldPath([...path, key]),
        message: `unknown field \`${key}\``,
        code: issue.code,
      }));
    if (issue.code === 'invalid_union' && issue.errors.length > 0) {
      // The branch that came furthest (its fault lies deepest, or it is of the right type) is the one the caller meant.
      const branches = issue.errors.filter(
        (branch) => !branch.every((inner) => inner.path.length === 0 && inner.code !== 'unrecognized_keys'),
      );
      const meant = branches.sort((a, b) => a.length - b.length)[0];
      if (meant) return flattenIssues(meant, path);
    }
    return [{ path: fieldPath(path), message: issue.message, code: issue.code }];
  });
}

/** The 400 for zod's issues: a sentence with the first fault, and every fault in `details`. */
export function validationError(issues: readonly z.core.$ZodIssue[]): ParseError {
  const details = flattenIssues(issues);
  const first = details[0];
  const where = first && first.path !== '' ? `\`${first.path}\`: ` : '';
  const more = details.length > 1 ? ` (and ${details.length - 1} more, see details)` : '';
  return new ParseError(
    'BAD_REQUEST',
    `Bad Request: invalid options: ${where}${first?.message ?? 'not valid'}${more}`,
    { details },
  );
}

function unsupportedAsked(raw: Record<string, unknown>): FieldIssue[] {
  const unsupportedOptions: readonly string[] = UNSUPPORTED_OPTIONS;
  const unsupportedFormats: readonly string[] = UNSUPPORTED_FORMATS;
  const issues: FieldIssue[] = Object.entries(raw)
    .filter(([key, value]) => unsupportedOptions.includes(key) && !asksForNothing(value))
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

/**
 * Reads the decoded `options` JSON.
 * @throws ParseError BAD_REQUEST (with every wrong field in `details`) or PARSE_UNSUPPORTED_OPTIONS.
 */
export function readParseOptions(raw: unknown): ParseOptions {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
    throw new ParseError(
      'BAD_REQUEST',
      'Bad Request: the `options` part must be a JSON object, for example {"formats":["markdown"]}',
    );
  const record = raw as Record<string, unknown>;
  const unsupported = unsupportedAsked(record);
  if (unsupported.length > 0)
    throw new ParseError(
      'PARSE_UNSUPPORTED_OPTIONS',
      `Unsupported options for parse: ${unsupported.map((issue) => issue.message.replace('parse does not support ', '')).join(', ')}. Remove them and send the request again.`,
      { details: unsupported },
    );
  const silent: readonly string[] = UNSUPPORTED_OPTIONS;
  const known = Object.fromEntries(Object.entries(record).filter(([key]) => !silent.includes(key)));
  const result = parseOptionsSchema.safeParse(known);
  if (!result.success) throw validationError(result.error.issues);
  return resolve(result.data);
}

function resolve(data: z.output<typeof parseOptionsSchema>): ParseOptions {
  const items = (data.formats.length === 0 ? ['markdown' as const] : data.formats).map((item) =>
    typeof item === 'string' ? { type: item } : item,
  );
  const json = items.find((item) => item.type === 'json');
  const pdf = data.parsers.find((item) => typeof item !== 'string');
  const formats = new Set<FormatType>(items.map((item) => item.type));
  const redact =
    data.redactPII === true ? redactPiiSchema.parse({}) : data.redactPII === false ? undefined : data.redactPII;
  if (redact && formats.has('rawHtml'))
    throw new ParseError(
      'BAD_REQUEST',
      'Bad Request: `rawHtml` promises the unmodified source, so it cannot be combined with `redactPII`; ask for `html` instead',
      {
        details: [{ path: 'formats', message: '`rawHtml` cannot be combined with `redactPII`', code: 'custom' }],
      },
    );
  return {
    formats,
    json:
      json?.type === 'json'
        ? {
            ...(json.prompt === undefined ? {} : { prompt: json.prompt }),
            ...(json.schema === undefined ? {} : { schema: json.schema }),
          }
        : undefined,
    pdf: pdf
      ? {
          mode: pdf.mode,
          pages: pdf.pages,
          blocks: pdf.blocks,
          pageMarkers: pdf.pageMarkers,
          ...(pdf.maxPages === undefined ? {} : { maxPages: pdf.maxPages }),
          ...(pdf.password === undefined ? {} : { password: pdf.password }),
        }
      : PDF_DEFAULTS,
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
