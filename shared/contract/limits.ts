// Every limit on size, depth, count and time of a request or a document, each with its unit; docs/limits.md is generated from the comments.

const KiB = 1024;
const MiB = 1024 * KiB;

/** Limits of the HTTP API. A request that exceeds one is answered with a 4xx error that names the limit. */
export const REQUEST_LIMITS = {
  /** Bytes of one uploaded file (50 MiB). A larger file is answered with 413 during the upload. */
  fileBytes: 50 * MiB,
  /** Bytes of the `options` part. A larger part is answered with 400. */
  optionsBytes: 256 * KiB,
  /** Parts of a multipart body that are read. The API has two, and any other part is answered with 400. */
  parts: 16,
  /** Bytes of the name of a part. A longer name is answered with 400. */
  partNameBytes: 100,
  /** Bytes of the name of an uploaded file. A longer name is answered with 400. */
  fileNameBytes: 1024,
  /** Header lines of one part. */
  partHeaderPairs: 32,
  /** Milliseconds that an upload may pause. After that it is answered with 408 and the connection is closed. */
  uploadStallMs: 30_000,
  /** Milliseconds for the complete upload. A longer upload is answered with 408. */
  uploadMaxMs: 600_000,
  /** Bytes of a multipart body besides the file: boundaries, part headers, options. A body larger than `fileBytes` plus this is answered with 413. */
  uploadOverheadBytes: MiB,
  /** Bytes of a request body that the gateway still reads after an early response, so that the client receives the response and not a connection reset. */
  lingerBytes: 64 * MiB,
  /** Milliseconds that the gateway still reads a request body after an early response. */
  lingerMs: 5_000,
  /** Bytes of a response that the gateway reads from the payload store before it sends the first byte. If the store fails during this time, the client receives an error response and not a truncated one. */
  responseBufferBytes: MiB,
  /** Bytes of a response body from which it is compressed, if the client accepts gzip or Brotli. */
  compressFromBytes: KiB,
  /** Milliseconds that a client may pause while it reads a response. After that the connection is closed. */
  responseStallMs: 60_000,
  /** Milliseconds between two comments that keep an event stream open while there is no other event. */
  eventKeepAliveMs: 15_000,
  /** Characters of the `X-Warning` header of a Markdown response. The rest of a longer warning is cut off. */
  warningHeaderLength: 1_000,
  /** Milliseconds that a connection may have no traffic in either direction, also while a request is processed. */
  socketIdleMs: 900_000,
  /** Bytes of the header block of a request. */
  headerBytes: 16 * KiB,
  /** Milliseconds for the arrival of the header block of a request. */
  headersTimeoutMs: 15_000,
  /** Milliseconds that a connection stays open for the next request. */
  keepAliveMs: 65_000,
  /** Characters of the headers `Accept` and `Accept-Encoding`, each. A longer one is ignored. */
  acceptLength: 1_000,
  /** Requests of one gateway that are processed at the same time while the message bus is away. A gateway answers a further one with 503 at once, because requests that wait for the bus need memory: up to 1 MiB each. */
  waitingForBus: 200,
  /** Seconds that a browser may keep the answer to a CORS preflight request. No browser keeps it longer than a day, and Chromium two hours. */
  preflightMaxAgeSeconds: 7_200,
  /** Characters of the `X-Request-Id` header of a request. A longer or malformed value is replaced. */
  requestIdLength: 128,
  /** Milliseconds of `timeout` if the request does not set it. */
  timeoutDefaultMs: 30_000,
  /** Largest value of `timeout`, in milliseconds. */
  timeoutMaxMs: 300_000,
  /** Largest value of `maxPages`, in pages. */
  maxPagesMax: 10_000,
  /** UTF-16 code units of a selection of pages, for example `1-3,7`. */
  pageRangesLength: 1_000,
  /** Numbers and ranges in a selection of pages. */
  pageRanges: 100,
  /** Ranges past the last page that a warning names. */
  warningRanges: 5,
  /** Languages in `language` and in OCR_LANGUAGES, each. */
  ocrLanguages: 8,
  /** UTF-16 code units of `auditMetadata.username`. */
  auditUsernameLength: 1024,
  /** Items of `formats`, of `parsers` and of `redactPII.entities`, each. */
  listItems: 64,
  /** Selectors in `includeTags` and in `excludeTags`, each. */
  tagSelectors: 200,
  /** UTF-16 code units of one selector in `includeTags` or `excludeTags`. */
  tagSelectorLength: 500,
  /** Entries of the `headers` option. */
  headerPairs: 100,
  /** UTF-16 code units of one value of the `headers` option. */
  headerValueLength: 8 * KiB,
  /** UTF-16 code units of `origin`, of `integration` and of the PDF password, each. */
  labelLength: 1024,
  /** UTF-16 code units of the prompt of a `json` format. */
  promptLength: 32 * KiB,
  /** Levels of nesting in the options, including the JSON Schema of a `json` format. */
  optionsDepth: 64,
  /** Items of one array, and fields of one object, that are read from the options outside a JSON Schema. With more, the options are invalid in any case. */
  optionsMembers: 1_000,
  /** Entries of `details` in the error for invalid options. Further issues are left out. */
  errorIssues: 100,
  /** UTF-16 code units of all entries of `details` together. Further issues are left out. */
  errorDetailsLength: 64 * KiB,
  /** Options and formats that the message for unsupported ones names. `details` has more. */
  errorNames: 10,
  /** UTF-16 code units of a sent value or name that an error message or a warning repeats. The rest is cut off. */
  errorValueLength: 60,
  /** Selectors that the warning for `includeTags` without a match names. */
  warningSelectors: 5,
  /** UTF-16 code units of the word that the error for invalid JSON repeats. The rest is cut off. */
  errorTokenLength: 20,
  /** UTF-16 code units of an example or a correction in an error message. A longer one is left out. */
  errorExampleLength: 200,
} as const;

/** Limits on the content of a document. Unless stated otherwise, a document that exceeds one is answered with 422 DOCUMENT_TOO_COMPLEX. */
export const DOCUMENT_LIMITS = {
  /** Entries of one ZIP container (docx, xlsx, pptx, odf, epub). */
  zipEntries: 20_000,
  /** Uncompressed bytes of one ZIP entry. */
  zipEntryBytes: 256 * MiB,
  /** Uncompressed bytes of all entries of a ZIP container together. */
  zipTotalBytes: 512 * MiB,
  /** Ratio of uncompressed to compressed bytes of a ZIP entry. It applies to entries larger than `zipRatioFloorBytes`. */
  zipRatio: 200,
  /** Uncompressed bytes of a ZIP entry from which `zipRatio` applies. */
  zipRatioFloorBytes: 8 * MiB,
  /** Levels of nested XML elements. */
  xmlDepth: 1_000,
  /** Levels of nested HTML elements. Deeper elements become siblings. */
  htmlDepth: 400,
  /** Elements of one HTML tree. */
  htmlElements: 2_000_000,
  /** Parts of one mail message, with the parts of the messages in it. */
  mailParts: 20_000,
  /** Levels of nested parts of a mail message. */
  mailDepth: 150,
  /** Bytes of the header of one part of a mail message. */
  mailHeaderBytes: MiB,
  /** Characters of all texts of a mail message together, also of messages in it. Attachments do not count. */
  mailTextLength: 8 * MiB,
  /** Bytes of the RTF body of an Outlook message. */
  mailRtfBytes: 64 * MiB,
  /** Levels of messages in messages that are read. A deeper message is listed as an attachment. */
  mailMessageDepth: 10,
  /** Bytes of a Markdown file. A larger text can be sent as `.txt`, which needs no tree. */
  markdownBytes: 12 * MiB,
  /** Levels of nested quotes and lists of a Markdown file. A list and its item are two levels. */
  markdownDepth: 100,
  /** Bytes of the text and the formatting of one Rich Text file (.rtf). Pictures and embedded files do not count. A larger file is refused before LibreOffice reads it. */
  rtfTextBytes: 20 * MiB,
  /** Cells of one workbook, and texts that its cells share. */
  sheetCells: 5_000_000,
  /** Cells of a CSV file. */
  csvCells: 20_000_000,
  /** Columns of one row of a CSV file. */
  csvColumns: 20_000,
  /** Rows or columns that one table cell may span. A larger `rowspan` or `colspan` is reduced to this. */
  tableSpan: 1_000,
  /** Milliseconds before the deadline of a request at which no more pages of a PDF or image file are read, if a page is ready: the time to answer with the pages that are ready. At most half of the time for the conversion. */
  pdfAnswerMs: 500,
  /** Milliseconds that are added to `pdfAnswerMs` for each millisecond of work of the converter, without the time in which it waits for OCR. The rest of the work took 0.05 to 0.18 of it. */
  pdfAnswerShare: 0.25,
  /** Share of the time of a request that the redaction of PII needs. So much earlier the reading of pages stops. */
  redactShare: 0.2,
  /** Share of the time of a request that a summary or `json` needs. So much earlier the reading of pages stops. */
  enrichShare: 0.3,
  /** Pages of one PDF that are read if the request does not set `maxPages`. */
  pdfPages: 10_000,
  /** Characters of one PDF page. A page with more is `partial`, with a warning. */
  pdfPageCharacters: 200_000,
  /** Painted objects of one PDF page, including form XObjects. A page with more is `partial`, with a warning. */
  pdfPageObjects: 100_000,
  /** Segments of drawn lines that are analysed for the tables of one PDF page. A page with more is `partial`, with a warning. */
  pdfPageSegments: 100_000,
  /** Small round and square shapes of one PDF page that may be bullets of a list. On a page with more, none is: they are a map or a chart. */
  pdfPageMarks: 2_000,
  /** Drawn lines and areas of one PDF page in which figures are searched for a response with `embedded`. A page with more is not searched. */
  pdfPageDrawings: 20_000,
  /** Operators of one PDF page that the second engine (PDF.js) reads. A page with more is `partial`, with a warning. */
  pdfPageOperators: 400_000,
  /** Links, form fields and notes of one PDF page. A page with more is `partial`, with a warning. */
  pdfPageAnnotations: 5_000,
  /** Levels of nested form XObjects on a PDF page. Lines in deeper ones are ignored for tables. */
  pdfFormDepth: 12,
  /** Bookmarks of a PDF that are read to find headings. The rest is ignored. */
  pdfBookmarks: 10_000,
  /** Levels of nested bookmarks of a PDF that are read. */
  pdfBookmarkDepth: 16,
  /** Files carried by a PDF whose names are read. The rest is ignored. */
  pdfAttachments: 1_000,
  /** Elements of the structure tree of one PDF page that are read. The rest is ignored. */
  pdfPageTags: 20_000,
  /** UTF-16 code units of one metadata field of a PDF, and of one text in its structure tree. The rest is cut off. */
  pdfMetadataLength: 4_000,
  /** Pixels of one image in a PDF. The second engine (PDF.js) does not paint a larger one. */
  pdfImagePixels: 64_000_000,
  /** Bytes of one decoded image of an image file: pixels × channels × bytes of a sample. A progressive or interlaced image counts twice. */
  imageBytes: 512 * MiB,
  /** Images of one TIFF file, including smaller copies and masks, which are not pages. */
  tiffDirectories: 20_000,
  /** Bytes of the XMP metadata of an image. Larger metadata is ignored. */
  imageXmpBytes: MiB,
  /** Pixels of a page that is rendered for OCR. This is letter size at 350 dpi; more pixels do not improve the result. */
  ocrPagePixels: 12_000_000,
  /** Pixels of a rendered page. A larger page is rendered at a lower resolution. */
  pagePixels: 40_000_000,
  /** Loaded OCR engines of one OCR process, each for one list of languages. The one that was not used for the longest time is closed first. */
  ocrWarmEngines: 2,
  /** MiB of memory of an OCR process above which it closes its other engines before it loads one. */
  ocrWarmMiB: 400,
  /** Milliseconds of CPU time that OCR may use for one page. A page of dense text needs 3,500; a page with a fine pattern would need minutes. */
  ocrPageCpuMs: 20_000,
  /** Milliseconds of CPU time that LibreOffice may use for one file, in addition to `libreOfficeCpuMsPerMiB`. A file that needs more in a new instance is answered with 422. */
  libreOfficeCpuMs: 20_000,
  /** Milliseconds of CPU time that LibreOffice may use for each MiB of a file. A Rich Text file of 46 MB needs 5,200 for each, one of 10 MB 1,500, and an .xls file of 45 MB 180. */
  libreOfficeCpuMsPerMiB: 5_500,
  /** Milliseconds without any CPU time after which LibreOffice counts as hung. It is killed, and a new instance tries the file once more. */
  libreOfficeIdleMs: 10_000,
  /** Bytes that must be free on the disk for temporary files. With less, a conversion that fails is answered with 503, because the disk is the likely cause. */
  temporaryDiskBytes: 16 * MiB,
  /** Pictures that one response with `embedded` contains. Further pictures are left out, with a warning. */
  pictures: 2_000,
  /** Bytes of one picture that a response with `embedded` contains (16 MiB). A larger picture is left out, with a warning. */
  pictureBytes: 16 * MiB,
  /** Bytes of all pictures of one response with `embedded` (48 MiB). Further pictures are left out, with a warning. */
  picturesBytes: 48 * MiB,
  /** Pixels of one picture of a PDF that is decoded for a response with `embedded`. A picture with more is left out, with a warning. */
  picturePixels: 40_000_000,
  /** UTF-16 code units of one field of the response, and of all cells of a workbook together. */
  fieldLength: 256 * MiB,
} as const;

/** Limits on the transport of jobs, payloads, shared state and events between services. */
export const TRANSPORT_LIMITS = {
  /** Bytes of a payload that is sent inside the job message. A larger payload goes through the payload store. */
  inlinePayloadBytes: 256 * KiB,
  /** Requests of one team that hold a slot or wait for one, over all gateways. The plan of a key can allow fewer. More would not fit into one message of the shared state. */
  teamRequests: 4_000,
  /** Bytes of one message of a payload in NATS. */
  objectChunkBytes: 512 * KiB,
  /** Milliseconds after which the store deletes a payload that was not deleted after its job. */
  payloadTtlMs: 15 * 60_000,
  /** Deliveries of one job to a worker. After the last one fails, the job is answered with CONVERSION_FAILED. */
  maxDeliveries: 3,
  /** Pages of one document that wait in the OCR queue. A few waiting pages are enough to keep all OCR workers busy and to show an autoscaler that the queue has a lag. */
  ocrPagesWaiting: 4,
  /** Pages of one document that are in the OCR queue or in OCR workers at the same time. */
  ocrPagesInFlight: 64,
  /** Milliseconds without a heartbeat after which a job is delivered to another worker. */
  ackWaitMs: 4_000,
  /** Milliseconds between two presence messages, in which a worker announces that it serves a queue. */
  presenceMs: 1_000,
  /** Milliseconds that a worker counts as present after its last presence message. */
  presenceTtlMs: 3_500,
  /** Bytes of all payloads that the in-memory bus keeps in memory. Further payloads are written to private files. */
  memoryPayloadBytes: 16 * MiB,
  /** Bytes of one message on the bus, including its header. `max_payload` of the NATS server must allow them. */
  messageBytes: 768 * KiB,
  /** Milliseconds after which a queue deletes a job that no worker has received. Longer than the largest request timeout. */
  jobTtlMs: 10 * 60_000,
  /** Bytes of one progress report of a job, as JSON. A larger one is not sent. */
  progressBytes: 512,
  /** Milliseconds between two progress reports of a job. Of the reports in between, the latest one is sent. */
  progressIntervalMs: 250,
  /** Milliseconds in which the bus recognizes a job that is published again because its publish acknowledgement was lost, or after a reconnect. As long as `jobTtlMs`, so that no job is in its queue twice. */
  duplicateWindowMs: 10 * 60_000,
  /** Milliseconds that a worker continues a job whose requester is not connected to the bus. After that the job waits in its queue for the requester. An answer that is already made is kept until the deadline of its request. */
  requesterMissingMs: 15_000,
  /** Milliseconds that a worker that stops tries to deliver its answers while the requester is not connected. After that another worker gets the job. */
  answerRetryMs: 5_000,
  /** Milliseconds that storing one chunk of a payload is retried while the bus is unavailable, if no request waits for it. */
  payloadRetryMs: 8_000,
  /** Milliseconds that an operation on shared state is retried while the bus is unavailable, if no request waits for it. A request waits until its timeout. */
  stateRetryMs: 5_000,
  /** Milliseconds that the charge of a finished request, or the release of its credit, is retried while the bus is unavailable. */
  settleRetryMs: 60_000,
  /** Bytes of all zero-data-retention payloads in memory, per NATS server or in-memory bus. When this memory is full, requests are answered with 503 and Retry-After. */
  volatilePayloadBytes: 1024 * MiB,
  /** Bytes of all zero-data-retention jobs of one queue in the memory of the NATS server. When this memory is full, a request is answered with 503 and Retry-After at once. */
  volatileJobBytes: 64 * MiB,
  /** Milliseconds after which the NATS server removes the consumer of a team's lane from which no worker has pulled. Longer than `jobTtlMs`. */
  laneIdleMs: 15 * 60_000,
  /** Milliseconds between two looks of a worker with a free slot at the lanes of its queue. A new job also wakes the workers at once. */
  laneScanMs: 500,
  /** Teams of which a worker remembers when it last started a job. */
  teamTurns: 10_000,
  /** Jobs that a worker may run in addition to its concurrency. Only a team that has no running job in this worker may use them, so long jobs of one team do not block another team. */
  spareSlots: 1,
  /** Bytes of audit events that the bus keeps. The oldest events are deleted first. */
  eventBytes: 256 * MiB,
  /** Milliseconds that the bus keeps an audit event. */
  eventTtlMs: 30 * 24 * 60 * 60_000,
  /** Milliseconds that an audit event is retried while the bus is unavailable. After that only standard output contains it. */
  eventRetryMs: 60_000,
  /** Audit events that wait for an unavailable bus. Further events are written to standard output only. */
  eventsWaiting: 10_000,
  /** Longest time to live, in milliseconds, of a shared value that is stored in memory only. A value with a longer one is stored on disk, so that it is kept when the bus restarts. */
  stateMemoryTtlMs: 60 * 60_000,
} as const;

/** Limits on API keys, and on watching the Secrets that contain them. */
export const KEYS_LIMITS = {
  /** Milliseconds before its expiry from which a key counts as `expiring` in the metrics. */
  expiryNoticeMs: 14 * 24 * 60 * 60_000,
  /** Milliseconds between two checks whether keys have expired, for metrics and audit events. A request with an expired key is refused at once. */
  expiryCheckMs: 10_000,
  /** Days of the longest `--expires`. */
  expiryDays: 3_650,
  /** Milliseconds for one request to the Kubernetes API server. */
  apiTimeoutMs: 10_000,
  /** Milliseconds of pause after the first failed request. The pause doubles with each further failure. */
  retryBaseMs: 250,
  /** Longest pause after a failed request, in milliseconds. */
  retryMaxMs: 5_000,
  /** Longest pause before a watch that ended without an error is started again, in milliseconds. */
  watchPauseMaxMs: 500,
  /** Milliseconds between two warnings in the log while the keys cannot be read. */
  warnIntervalMs: 30_000,
} as const;

/** Limits on requests to the configured language model and on the caller's JSON Schema. */
export const MODEL_LIMITS = {
  /** UTF-16 code units of a document that are sent to the model. The rest is cut off, with a warning. */
  documentUnits: 120_000,
  /** Bytes of one response of the model. A larger response is answered with 502. */
  answerBytes: 4 * MiB,
  /** UTF-16 code units of a summary that the model writes. The rest is cut off. */
  modelSummaryUnits: 8_000,
  /** UTF-16 code units of an extractive summary, which is made without a model. */
  summaryUnits: 1_000,
  /** Objects, lists and values of a JSON Schema. A larger schema is answered with 422. */
  schemaNodes: 10_000,
  /** Items of one list of a JSON Schema, for example of `enum`. A schema with a longer list is answered with 422. */
  schemaListItems: 1_000,
  /** Milliseconds for the compilation of a JSON Schema, and for the check of one answer against it. After that the request is answered with 422. */
  schemaCheckMs: 5_000,
  /** UTF-16 code units of one `pattern` of a JSON Schema. A longer pattern is answered with 422. */
  schemaPatternUnits: 1_000,
  /** Validation errors of an answer that are sent to the model with the second attempt. */
  schemaErrors: 20,
  /** Seconds of `Retry-After` when the model answers 429 without a `Retry-After` of its own. */
  retryAfterDefaultSeconds: 10,
  /** Largest `Retry-After`, in seconds, that is passed on from the model to the caller. */
  retryAfterMaxSeconds: 300,
} as const;

/** Limits on PII redaction. */
export const PII_LIMITS = {
  /** UTF-16 code units per job that the built-in tagger reads (about 170,000 a second). In the rest of the text, only rules and lists find names and places, and the response contains a warning. */
  modelUnits: 1_500_000,
} as const;

/** Limits on audit events, so that a client cannot fill the event stream. */
export const AUDIT_LIMITS = {
  /** Milliseconds in which refused requests are counted before their events are written. */
  refusalWindowMs: 60_000,
  /** Addresses of clients without a known key that have an event of their own in one window. Refused requests of further addresses are counted together. */
  refusalAddresses: 5,
  /** Combinations of key, address and error code that have an event of their own in one window. Further ones are counted together by their error code. */
  refusalKeys: 100,
  /** Characters of the `User-Agent` header in an audit event. */
  userAgentLength: 100,
} as const;
