// Declares the `options` of a request as zod schemas, from which the validation, the types and the OpenAPI document are derived.
import { z } from 'zod';
import { REQUEST_LIMITS } from './limits.ts';
import { OCR_LANGUAGES_PATTERN, OCR_LANGUAGES_RULE } from './ocr-languages.ts';
import { REQUEST_EXAMPLES } from './openapi-examples.ts';
import { PAGE_RANGES_PATTERN, PAGE_RANGES_RULE, type PageRange, parsePageRanges } from './page-ranges.ts';

/** Formats that parse can return (docs/api.md, "Formats"). */
export const FORMAT_TYPES = ['markdown', 'summary', 'html', 'rawHtml', 'links', 'images', 'json'] as const;
export type FormatType = (typeof FORMAT_TYPES)[number];

/** Formats of the scrape operation, which need a browser, a network or a history of requests. The error for them contains the name of the format. */
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

/** Options of the scrape operation, which the public SDKs send with every call. They are accepted without effect if they request nothing. Otherwise the error contains the name of the option. */
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

const plainFormat = <T extends Exclude<FormatType, 'json' | 'images'>>(type: T) =>
  z.strictObject({ type: z.literal(type) });

const imagesFormatSchema = z.strictObject({
  type: z.literal('images'),
  embedded: z
    .boolean()
    .default(false)
    .meta({
      description:
        'Fills `data.images` with objects that include the pictures inside the document. This field is an addition of Parsemesh.',
      examples: [true],
    }),
});

const jsonFormatSchema = z
  .strictObject({
    type: z.literal('json'),
    prompt: z
      .string()
      .min(1)
      .max(REQUEST_LIMITS.promptLength)
      .optional()
      .meta({
        examples: ['Extract the invoice number and the total.'],
        description: 'Instruction for the model that writes the JSON.',
      }),
    schema: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({
        examples: [{ type: 'object', properties: { total: { type: 'number' } } }],
        description: 'JSON Schema that the JSON conforms to.',
      }),
  })
  .refine((format) => format.prompt !== undefined || format.schema !== undefined, {
    message: 'needs a `prompt` or a `schema`',
  })
  .meta({ examples: [{ type: 'json', prompt: 'Extract the invoice number and the total.' }] });

const formatObjectSchema = z.discriminatedUnion('type', [
  plainFormat('markdown'),
  plainFormat('summary'),
  plainFormat('html'),
  plainFormat('rawHtml'),
  plainFormat('links'),
  imagesFormatSchema,
  jsonFormatSchema,
]);

const formatSchema = z.union([
  z
    .enum(['markdown', 'summary', 'html', 'rawHtml', 'links', 'images'])
    .meta({ description: 'Shorthand for `{"type": ...}`.' }),
  formatObjectSchema,
]);

export const PDF_MODES = ['fast', 'auto', 'ocr'] as const;

const pageRangesSchema = z
  .string()
  .max(REQUEST_LIMITS.pageRangesLength)
  .refine((text) => parsePageRanges(text) !== undefined)
  .meta({ 'x-words': PAGE_RANGES_RULE, pattern: PAGE_RANGES_PATTERN });

const ocrLanguagesSchema = z
  .string()
  .max(REQUEST_LIMITS.labelLength)
  .regex(new RegExp(OCR_LANGUAGES_PATTERN))
  .meta({ 'x-words': OCR_LANGUAGES_RULE });

const pdfParserSchema = z
  .strictObject({
    type: z.literal('pdf'),
    mode: z.enum(PDF_MODES).default('auto').meta({
      description:
        '`fast` reads the text layer only. `auto` uses OCR for pages without a usable text layer. `ocr` uses OCR for every page.',
    }),
    maxPages: z
      .int()
      .min(1)
      .max(REQUEST_LIMITS.maxPagesMax)
      .optional()
      .meta({ examples: [10], description: 'Reads at most this many pages.' }),
    pages: z
      .union([z.boolean(), pageRangesSchema])
      .default(false)
      .meta({
        examples: [true, '1-3,7'],
        description:
          '`true` fills `data.pages` with the Markdown of each page. A text such as `1-3,7,10-` also reads only these pages. The text form is an addition of Parsemesh.',
      }),
    pageMarkdown: z
      .boolean()
      .default(false)
      .meta({
        examples: [true],
        description: 'The earlier name of `pages`, which the public SDKs still offer.',
        deprecated: true,
      }),
    blocks: z
      .boolean()
      .default(false)
      .meta({ examples: [true], description: 'Fills `data.blocks` with typed layout blocks.' }),
    language: ocrLanguagesSchema.optional().meta({
      examples: ['eng'],
      description: 'As the option `language`, which it overrides.',
    }),
    pageMarkers: z
      .boolean()
      .default(false)
      .meta({ examples: [true], description: 'Writes `---` and `<!-- page N -->` between the pages in the Markdown.' }),
    password: z
      .string()
      .max(REQUEST_LIMITS.labelLength)
      .optional()
      .meta({ description: 'Opens an encrypted PDF. This field is an addition of Parsemesh.', writeOnly: true }),
  })
  .meta({ id: 'PdfParser', examples: [{ type: 'pdf', mode: 'ocr', blocks: true }] });

const imageParserSchema = z
  .strictObject({ type: z.literal('image') })
  .meta({ id: 'ImageParser', description: 'Accepted for compatibility, without effect.' });

export const PII_ENTITIES = ['PERSON', 'EMAIL', 'PHONE', 'LOCATION', 'FINANCIAL', 'SECRET'] as const;
export type PiiEntity = (typeof PII_ENTITIES)[number];
export const PII_MODES = ['accurate', 'aggressive', 'fast'] as const;
export const PII_STYLES = ['tag', 'mask', 'remove'] as const;

export const redactPiiSchema = z
  .strictObject({
    entities: z
      .array(z.enum(PII_ENTITIES))
      .min(1)
      .max(REQUEST_LIMITS.listItems)
      .optional()
      .meta({ examples: [['EMAIL', 'PHONE']], description: 'Kinds of personal data to redact (default: all).' }),
    mode: z.enum(PII_MODES).default('accurate').meta({
      description:
        '`accurate` uses a model for people and places, and validated patterns for the rest. `aggressive` adds heuristics that find more. `fast` uses heuristics only.',
    }),
    replaceStyle: z.enum(PII_STYLES).default('tag').meta({
      description: '`tag` writes `<EMAIL>`, `mask` writes `*` for each character, `remove` deletes the text.',
    }),
  })
  .meta({ id: 'RedactPII', examples: [{ entities: ['EMAIL', 'PHONE'], replaceStyle: 'tag' }] });

const tagList = z.array(z.string().min(1).max(REQUEST_LIMITS.tagSelectorLength)).max(REQUEST_LIMITS.tagSelectors);

const auditMetadataSchema = z.strictObject({
  username: z
    .string()
    .max(REQUEST_LIMITS.auditUsernameLength)
    .meta({ examples: ['ana@example.com'], description: 'Name of the user in the audit event.' }),
});

/** All options with their defaults (docs/api.md, "Options"). */
export const parseOptionsSchema = z
  .strictObject({
    auditMetadata: auditMetadataSchema
      .optional()
      .meta({ examples: [{ username: 'ana@example.com' }], description: 'Identifies the user in audit events.' }),
    blockAds: z
      .boolean()
      .default(true)
      .meta({ examples: [true], description: 'Removes advertisements and cookie banners.' }),
    excludeTags: tagList
      .optional()
      .meta({ examples: [['nav', '.advertisement']], description: 'CSS selectors. Matching elements are removed.' }),
    formats: z
      .array(formatSchema)
      .max(REQUEST_LIMITS.listItems)
      .default([{ type: 'markdown' }])
      .meta({
        examples: [
          ['markdown'],
          ['markdown', 'links'],
          [{ type: 'json', prompt: 'Extract the invoice number and the total.' }],
        ],
        description: 'What the response contains. An empty array means Markdown.',
      }),
    headers: z
      .record(z.string(), z.string().max(REQUEST_LIMITS.headerValueLength))
      .refine((pairs) => Object.keys(pairs).length <= REQUEST_LIMITS.headerPairs, {
        message: `at most ${REQUEST_LIMITS.headerPairs} headers`,
      })
      .optional()
      .meta({
        examples: [{ 'Accept-Language': 'en' }],
        description: 'Accepted for compatibility. It has no effect, because parsing an upload sends no request.',
        writeOnly: true,
      }),
    includeTags: tagList.optional().meta({
      examples: [['article', 'h1', 'p', 'table']],
      description: 'CSS selectors. Only matching elements are kept. It overrides `onlyMainContent`.',
    }),
    integration: z
      .string()
      .max(REQUEST_LIMITS.labelLength)
      .nullable()
      .optional()
      .meta({ examples: ['my-integration'], description: 'Name of the integration that sends the request, for logs.' }),
    language: ocrLanguagesSchema.optional().meta({
      examples: ['eng'],
      description:
        'Languages that OCR reads, as names of Tesseract models joined by `+`, the most frequent first (default: those of the server). The error for a language that is not installed lists the installed ones. This option is an addition of Parsemesh.',
    }),
    onlyMainContent: z
      .boolean()
      .default(true)
      .meta({
        examples: [true, false],
        description: 'Removes navigation, page headers, page footers and similar content.',
      }),
    origin: z
      .string()
      .max(REQUEST_LIMITS.labelLength)
      .default('api')
      .meta({ examples: ['my-client'], description: 'Name of the client that sends the request, for logs.' }),
    parsers: z
      .array(z.union([z.enum(['pdf', 'image']), pdfParserSchema, imageParserSchema]))
      .max(REQUEST_LIMITS.listItems)
      .default(['pdf'])
      .meta({
        examples: [['pdf'], [{ type: 'pdf', mode: 'ocr', blocks: true }]],
        description:
          'Settings of the PDF parser. They have no effect on other formats. `image` is accepted for compatibility, without effect.',
      }),
    proxy: z
      .enum(['basic', 'auto'])
      .optional()
      .meta({ examples: ['auto'], description: 'Accepted for compatibility, without effect.' }),
    redactPII: z
      .union([z.boolean(), redactPiiSchema])
      .default(false)
      .meta({
        examples: [true, { entities: ['EMAIL', 'PHONE'], replaceStyle: 'tag' }],
        description: 'Redacts personal data in every text of the response. `true` uses the default settings.',
      }),
    removeBase64Images: z
      .boolean()
      .default(true)
      .meta({
        examples: [true],
        description: 'Replaces images that are embedded as data URLs by their alternative text.',
      }),
    skipTlsVerification: z
      .boolean()
      .default(true)
      .meta({ examples: [true], description: 'Accepted for compatibility; parsing opens no TLS connection.' }),
    timeout: z
      .int()
      .min(1)
      .max(REQUEST_LIMITS.timeoutMaxMs)
      .default(REQUEST_LIMITS.timeoutDefaultMs)
      .meta({
        examples: [REQUEST_LIMITS.timeoutDefaultMs],
        description: 'Time limit of the request in milliseconds.',
        'x-unit': 'milliseconds',
      }),
    zeroDataRetention: z
      .boolean()
      .default(false)
      .meta({
        examples: [false],
        description: 'Keeps the document in memory only, never on a disk. The key needs the permission `zdr`.',
      }),
  })
  .meta({ id: 'ParseOptions', examples: Object.values(REQUEST_EXAMPLES).map((example) => example.value) });

export type PdfOptions = Omit<z.output<typeof pdfParserSchema>, 'type' | 'pages' | 'pageMarkdown' | 'language'> & {
  /** Languages of OCR; those of the server if absent. */
  languages?: string[];
  /** Return the Markdown of each page. */
  pages: boolean;
  /** The pages to read; all if absent. */
  pageRanges?: PageRange[];
};
export type RedactOptions = z.output<typeof redactPiiSchema>;
export interface JsonFormat {
  prompt?: string;
  schema?: Record<string, unknown>;
}
