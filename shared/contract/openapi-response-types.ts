// Describes the types of a successful parse besides JSON, and its headers, for the OpenAPI document (docs/api.md, "Response type").
import type { JsonObject } from './json-value.ts';

export const OTHER_PARSE_TYPES: JsonObject = {
  'text/markdown': {
    schema: { type: 'string', description: 'The value of `data.markdown` alone.' },
    example: '# Quarterly report\n\nRevenue rose.',
  },
  'text/event-stream': {
    schema: {
      type: 'string',
      description:
        'Events whose data is one line of JSON: `progress` (ProgressEvent) several times; then `timings` (TimingsEvent) and `result` (ParseResponse), or `error` (ErrorEvent).',
    },
    example:
      'event: progress\ndata: {"stage":"ocr","pagesDone":3,"pages":40}\n\nevent: timings\ndata: {"receive":8.2,"queue":1.3,"convert":2828.7}\n\nevent: result\ndata: {"success":true,"data":{}}\n\n',
  },
};

export const PARSE_HEADERS: JsonObject = {
  'Server-Timing': {
    description: 'Milliseconds of each stage that ran: receive, queue, convert, redact, enrich.',
    schema: { type: 'string' },
  },
  'X-Warning': { description: 'Warnings, with `text/markdown` only.', schema: { type: 'string' } },
};
