// Declares the response as zod schemas (docs/api.md, "Record"), from which the types and the OpenAPI document are derived; tests validate real responses with them.
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

/** `[x0, y0, x1, y1]`, each from 0 to 1 relative to the page, origin at the top left. */
const bboxSchema = z.tuple([z.number(), z.number(), z.number(), z.number()]);

const blockSchema = z
  .object({
    id: z.string().meta({ description: '`p<page>.b<index in reading order>`. The same request returns the same ids.' }),
    type: z.enum(BLOCK_TYPES).meta({ description: 'Kind of content. New kinds may be added.' }),
    label: z.string().nullable().meta({ description: 'Label of the layout analysis.' }),
    content: z.string().meta({ description: 'Markdown of the block.' }),
    bbox: bboxSchema.nullable().meta({
      description: '`[x0, y0, x1, y1]`, from 0 to 1, relative to the page. The origin is the top left corner.',
    }),
    readingOrder: z.int().meta({ description: 'Position in reading order.' }),
    markdownSpan: z.tuple([z.int(), z.int()]).nullable().meta({
      description:
        'Offsets `[start, end)` of `content` in the Markdown of the document, in UTF-16 code units. Null if the Markdown does not contain `content` unchanged.',
    }),
    source: z.string().nullable().meta({ description: 'How the block was read, for example `native_text`.' }),
    confidence: z
      .object({ layout: z.number().nullable(), ocr: z.number().nullable() })
      .meta({ description: 'Confidence of layout analysis and of OCR, from 0 to 1.' }),
  })
  .meta({ id: 'Block' });
export type Block = z.infer<typeof blockSchema>;

const pageBlocksSchema = z
  .object({
    pageNumber: z.int().meta({ description: 'Number of the physical page, starting at 1.' }),
    width: z.number().nullable().meta({ description: 'Width of the page in pixels.' }),
    height: z.number().nullable().meta({ description: 'Height of the page in pixels.' }),
    status: z.enum(['ok', 'partial', 'failed']).meta({
      description:
        '`partial`: a part of the page could not be read, or not before the timeout, or OCR read it with very low confidence. `failed`: the page could not be read, or not before the timeout. `warning` names such pages.',
    }),
    items: z.array(blockSchema).meta({ description: 'Blocks of the page in reading order.' }),
  })
  .meta({ id: 'PageBlocks' });
export type PageBlocks = z.infer<typeof pageBlocksSchema>;

const pageSchema = z.object({ pageNumber: z.int(), markdown: z.string() }).meta({ id: 'Page' });
export type Page = z.infer<typeof pageSchema>;

const pictureSchema = z
  .object({
    id: z.string().meta({
      description:
        'File name of the picture, for example `image-3.png`. The Markdown refers to it as `![alt](image-3.png)`.',
    }),
    page: z.int().optional().meta({ description: 'PDF page or slide that shows the picture first, starting at 1.' }),
    bbox: bboxSchema.optional().meta({ description: 'PDF: place on that page, as in `blocks`.' }),
    mimeType: z.string().meta({ description: 'MIME type of the bytes, for example `image/png`.' }),
    base64: z.string().meta({ description: 'The bytes of the picture.' }),
    alt: z.string().optional().meta({ description: 'Alternative text from the document.' }),
    width: z.int().optional().meta({ description: 'Width in pixels.' }),
    height: z.int().optional().meta({ description: 'Height in pixels.' }),
  })
  .meta({ id: 'Picture', description: 'A picture inside the document.' });
/** A picture inside the document, as `data.images` holds it. */
export type EmbeddedPicture = z.infer<typeof pictureSchema>;

const linkedImageSchema = z
  .object({ url: z.string().meta({ description: 'Absolute URL of the image.' }) })
  .meta({ id: 'LinkedImage', description: 'An image that the document links to.' });
export type LinkedImage = z.infer<typeof linkedImageSchema>;

const textOrList = z.union([z.string(), z.array(z.string())]);

const metadataSchema = z
  .object({
    title: z.string().optional().meta({ description: 'Title from the document.' }),
    description: textOrList.optional().meta({ description: 'Description from the document.' }),
    keywords: textOrList.optional().meta({ description: 'Keywords from the document.' }),
    language: z
      .union([z.string(), z.array(z.string()), z.null()])
      .optional()
      .meta({ description: 'Language of the document.' }),
    sourceURL: z.string().meta({ description: 'File name of the upload.' }),
    url: z.string().meta({ description: 'File name of the upload, as in `sourceURL`.' }),
    statusCode: z.int().meta({ description: 'Always 200.' }),
    contentType: z.string().meta({ description: 'MIME type of the file format.' }),
    error: z.string().nullable().optional(),
    ogLocaleAlternate: z.array(z.string()).optional(),
    numPages: z.int().optional().meta({ description: 'PDF: pages that were read.' }),
    totalPages: z.int().optional().meta({ description: 'PDF: pages in the file.' }),
    concurrencyLimited: z.boolean().meta({ description: 'Whether the request waited for a free slot of its team.' }),
    concurrencyQueueDurationMs: z
      .number()
      .optional()
      .meta({ description: 'Milliseconds that the request waited for a slot.' }),
    creditsUsed: z.number().meta({ description: 'Credits that the request cost.' }),
    requestId: z.string().optional().meta({ description: 'Value of the `X-Request-Id` header.' }),
    piiRedactions: z
      .record(z.string(), z.int())
      .optional()
      .meta({ description: 'Number of redactions by entity, with `redactPII`.' }),
  })
  .catchall(z.unknown())
  .meta({ id: 'Metadata', description: 'Other keys are metadata from the document, with string or array values.' });

/** The keys of `metadata` that the schema declares. */
export type MetadataKey = keyof typeof metadataSchema.shape;

/** The fields of `data` besides `metadata` and `warning`. */
export const recordFieldsSchema = z.object({
  markdown: z.string().optional().meta({ description: 'The document as Markdown.' }),
  html: z.string().nullable().optional().meta({ description: 'The document as cleaned HTML.' }),
  rawHtml: z
    .string()
    .nullable()
    .optional()
    .meta({ description: 'An HTML file unmodified; for other files, the HTML of the converter.' }),
  links: z.array(z.string()).optional().meta({ description: 'Absolute URLs of the links, in document order.' }),
  images: z
    .array(z.union([z.string(), pictureSchema, linkedImageSchema]))
    .optional()
    .meta({
      description:
        'Absolute URLs of the images, in document order. With `embedded`, objects: pictures inside the document, and `{url}` for images that it links to.',
    }),
  summary: z.string().nullable().optional().meta({ description: 'Summary of the document.' }),
  json: z.unknown().optional().meta({ description: 'Data that the language model extracted.' }),
  pages: z.array(pageSchema).nullable().optional().meta({ description: 'PDF: the Markdown of each page.' }),
  blocks: z.array(pageBlocksSchema).nullable().optional().meta({ description: 'PDF: the layout blocks of each page.' }),
});
export type RecordFields = z.infer<typeof recordFieldsSchema>;
export type FieldName = keyof RecordFields;

const dataSchema = recordFieldsSchema
  .extend({
    warning: z.string().nullable().optional().meta({ description: 'Problems that did not prevent the conversion.' }),
    metadata: metadataSchema,
  })
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
