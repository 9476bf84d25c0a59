// The answer as zod schemas (SPEC 2.6 to 2.8 and 7.1): tests hold real answers against them, and the OpenAPI document is generated from them.
import { z } from 'zod';

export const BLOCK_TYPES = [
  'title',
  'section_header',
  'text',
  'table',
  'formula',
  'figure',
  'caption',
  'page_number',
  'page_header',
  'page_footer',
] as const;
export type BlockType = (typeof BLOCK_TYPES)[number];

/** A box normalized to the page: `[x0, y0, x1, y1]`, each 0 to 1, origin at the top left. */
export const bboxSchema = z.tuple([z.number(), z.number(), z.number(), z.number()]);

export const blockSchema = z
  .object({
    id: z.string().meta({ description: '`p<page>.b<index in reading order>`.' }),
    type: z.enum(BLOCK_TYPES),
    label: z.string().nullable(),
    content: z.string().meta({ description: 'Markdown fragment this block gave to the document Markdown.' }),
    bbox: bboxSchema.nullable(),
    readingOrder: z.int(),
    markdownSpan: z
      .tuple([z.int(), z.int()])
      .nullable()
      .meta({ description: 'UTF-16 offsets [start, end) in the document Markdown.' }),
    source: z.string().nullable(),
    confidence: z.object({ layout: z.number().nullable(), ocr: z.number().nullable() }),
  })
  .meta({ id: 'Block' });
export type Block = z.infer<typeof blockSchema>;

export const pageBlocksSchema = z
  .object({
    pageNumber: z.int(),
    width: z.number().nullable(),
    height: z.number().nullable(),
    status: z.enum(['ok', 'partial', 'failed']),
    items: z.array(blockSchema),
  })
  .meta({ id: 'PageBlocks' });
export type PageBlocks = z.infer<typeof pageBlocksSchema>;

export const pageSchema = z.object({ pageNumber: z.int(), markdown: z.string() }).meta({ id: 'Page' });
export type Page = z.infer<typeof pageSchema>;

const textOrList = z.union([z.string(), z.array(z.string())]);

export const metadataSchema = z
  .object({
    title: z.string().optional(),
    description: textOrList.optional(),
    keywords: textOrList.optional(),
    language: z.union([z.string(), z.array(z.string()), z.null()]).optional(),
    sourceURL: z.string(),
    url: z.string(),
    statusCode: z.int(),
    contentType: z.string(),
    error: z.string().nullable().optional(),
    ogLocaleAlternate: z.array(z.string()).optional(),
    numPages: z.int().optional(),
    totalPages: z.int().optional(),
    concurrencyLimited: z.boolean(),
    concurrencyQueueDurationMs: z.number().optional(),
    creditsUsed: z.number(),
    requestId: z.string().optional(),
    piiRedactions: z
      .record(z.string(), z.int())
      .optional()
      .meta({ description: 'Redactions by entity, with redactPII.' }),
  })
  .catchall(z.unknown())
  .meta({ id: 'Metadata' });
export type Metadata = z.infer<typeof metadataSchema>;

/** The fields of `data` that parse fills, besides `metadata` and `warning`. */
export const recordFieldsSchema = z.object({
  markdown: z.string().optional(),
  html: z.string().nullable().optional(),
  rawHtml: z.string().nullable().optional(),
  links: z.array(z.string()).optional(),
  images: z.array(z.string()).optional(),
  summary: z.string().nullable().optional(),
  json: z.unknown().optional(),
  pages: z.array(pageSchema).nullable().optional(),
  blocks: z.array(pageBlocksSchema).nullable().optional(),
});
export type RecordFields = z.infer<typeof recordFieldsSchema>;
export type FieldName = keyof RecordFields;

export const dataSchema = recordFieldsSchema
  .extend({ warning: z.string().nullable().optional(), metadata: metadataSchema })
  .meta({ id: 'Document' });

export const parseResponseSchema = z
  .object({ success: z.literal(true), data: dataSchema })
  .meta({ id: 'ParseResponse' });
export type ParseResponse = z.infer<typeof parseResponseSchema>;

export const errorResponseSchema = z
  .strictObject({
    success: z.literal(false),
    error: z.string(),
    code: z.string(),
    details: z.array(z.object({ path: z.string(), message: z.string(), code: z.string() })).optional(),
  })
  .meta({ id: 'ErrorResponse' });
