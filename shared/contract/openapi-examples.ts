// Holds the examples of the OpenAPI document: requests that work as they are, and the responses to them.
import type { JsonObject } from './json-value.ts';

interface Example {
  summary: string;
  value: JsonObject;
}

/** Options by name. Swagger UI fills in the first one. */
export const REQUEST_EXAMPLES = {
  plain: { summary: 'Markdown', value: { formats: ['markdown'] } },
  ocrWithBlocks: {
    summary: 'OCR of every page, with layout blocks and the Markdown of each page',
    value: { formats: ['markdown'], parsers: [{ type: 'pdf', mode: 'ocr', blocks: true, pages: true }] },
  },
  selectedPages: {
    summary: 'Some pages of a PDF, with English as the language of OCR',
    value: { formats: ['markdown'], parsers: [{ type: 'pdf', pages: '1,3-', pageMarkers: true }], language: 'eng' },
  },
  redaction: {
    summary: 'Markdown and links without email addresses and telephone numbers',
    value: {
      formats: ['markdown', 'links'],
      redactPII: { entities: ['EMAIL', 'PHONE'], replaceStyle: 'tag' },
    },
  },
  partOfAPage: {
    summary: 'Headings, paragraphs and tables of an HTML file, as Markdown and HTML',
    value: { formats: ['markdown', 'html'], includeTags: ['h1', 'h2', 'p', 'table'], excludeTags: ['nav'] },
  },
  json: {
    summary: 'Data that a language model extracts (the server needs a configured model)',
    value: {
      formats: [
        {
          type: 'json',
          prompt: 'Extract the invoice number and the total.',
          schema: {
            type: 'object',
            properties: { invoiceNumber: { type: 'string' }, total: { type: 'number' } },
            required: ['invoiceNumber', 'total'],
          },
        },
      ],
    },
  },
} as const satisfies Record<string, { summary: string; value: unknown }>;

const METADATA: JsonObject = {
  title: 'Quarterly report',
  sourceURL: 'report.pdf',
  url: 'report.pdf',
  statusCode: 200,
  contentType: 'application/pdf',
  numPages: 1,
  totalPages: 1,
  creditsUsed: 2,
  concurrencyLimited: false,
};

/** Responses to REQUEST_EXAMPLES, by name. */
export const RESPONSE_EXAMPLES: Record<keyof typeof REQUEST_EXAMPLES, Example> = {
  plain: {
    summary: 'Markdown',
    value: { success: true, data: { markdown: '# Quarterly report\n\nRevenue rose.', metadata: METADATA } },
  },
  ocrWithBlocks: {
    summary: 'A scanned page with its layout blocks',
    value: {
      success: true,
      data: {
        markdown: '# Quarterly report\n\nRevenue rose.',
        pages: [{ pageNumber: 1, markdown: '# Quarterly report\n\nRevenue rose.' }],
        blocks: [
          {
            pageNumber: 1,
            width: 1654,
            height: 2339,
            status: 'ok',
            items: [
              {
                id: 'p1.b0',
                type: 'title',
                label: null,
                content: '# Quarterly report',
                bbox: [0.1, 0.08, 0.52, 0.11],
                readingOrder: 0,
                markdownSpan: [0, 18],
                source: 'layout_ocr',
                confidence: { layout: null, ocr: 0.96 },
              },
              {
                id: 'p1.b1',
                type: 'text',
                label: null,
                content: 'Revenue rose.',
                bbox: [0.1, 0.14, 0.27, 0.16],
                readingOrder: 1,
                markdownSpan: [20, 33],
                source: 'layout_ocr',
                confidence: { layout: null, ocr: 0.95 },
              },
            ],
          },
        ],
        metadata: METADATA,
      },
    },
  },
  selectedPages: {
    summary: 'Two of three pages',
    value: {
      success: true,
      data: {
        markdown: '# Quarterly report\n\n---\n\n<!-- page 3 -->\n\nRevenue rose.',
        pages: [
          { pageNumber: 1, markdown: '# Quarterly report' },
          { pageNumber: 3, markdown: 'Revenue rose.' },
        ],
        metadata: { ...METADATA, numPages: 2, totalPages: 3, creditsUsed: 3 },
      },
    },
  },
  redaction: {
    summary: 'Redacted Markdown and links',
    value: {
      success: true,
      data: {
        markdown: '# Quarterly report\n\nQuestions: <EMAIL>, <PHONE>',
        links: ['https://example.com/report'],
        metadata: { ...METADATA, piiRedactions: { EMAIL: 1, PHONE: 1 } },
      },
    },
  },
  partOfAPage: {
    summary: 'Selected elements of an HTML file',
    value: {
      success: true,
      data: {
        markdown: '# Quarterly report\n\nRevenue rose.',
        html: '<h1>Quarterly report</h1>\n<p>Revenue rose.</p>',
        metadata: {
          title: 'Quarterly report',
          sourceURL: 'report.html',
          url: 'report.html',
          statusCode: 200,
          contentType: 'text/html',
          creditsUsed: 1,
          concurrencyLimited: false,
        },
      },
    },
  },
  json: {
    summary: 'Extracted data',
    value: {
      success: true,
      data: {
        json: { invoiceNumber: '2024-117', total: 118.5 },
        metadata: { ...METADATA, creditsUsed: 6, sourceURL: 'invoice.pdf', url: 'invoice.pdf', title: 'Invoice' },
      },
    },
  },
};
