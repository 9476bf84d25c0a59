// Every size, depth, count and time that a request or a document may reach, in one place, so that each is documented and none is found by accident.

const KiB = 1024;
const MiB = 1024 * KiB;

/** Limits of the HTTP edge. Past one of them the answer is a 4xx that names it. */
export const REQUEST_LIMITS = {
  /** Bytes of one uploaded file (SPEC 8: 50 MB, read as MiB). Past it: 413 while the body streams. */
  fileBytes: 50 * MiB,
  /** Bytes of the `options` part. Past it: 400. */
  optionsBytes: 256 * KiB,
  /** Parts a multipart body may hold; the API knows two. Past it: 400. */
  parts: 16,
  /** Bytes of a part's name. */
  partNameBytes: 100,
  /** Bytes of an uploaded file's name. Past it: 400. */
  fileNameBytes: 1024,
  /** Header lines of one part, enforced by busboy. */
  partHeaderPairs: 32,
  /** Milliseconds without a byte of an upload before the connection is cut with 408. */
  uploadStallMs: 30_000,
  /** Milliseconds a whole upload may take, however steadily it drips. Past it: 408. */
  uploadMaxMs: 600_000,
  /** Bytes of a multipart body beside the file: boundaries, part headers, options. Past file and this: 413. */
  uploadOverheadBytes: MiB,
  /** After an early answer, what is still read of the request so that the client sees the answer and not a reset. */
  lingerBytes: 64 * MiB,
  lingerMs: 5_000,
  /** Bytes of an answer that are read before the first is sent, so that a store that goes away is an error and not a torn answer. */
  answerHeldBytes: MiB,
  /** Milliseconds in which a client must take up some of its answer before the connection is cut. */
  answerStallMs: 60_000,
  /** Milliseconds a connection may be without a byte either way, a running parse included. */
  silenceMs: 900_000,
  /** Bytes of a request's header block, and milliseconds it may take to arrive. */
  headerBytes: 16 * KiB,
  headersTimeoutMs: 15_000,
  /** Milliseconds an idle connection is kept for the next request. */
  keepAliveMs: 65_000,
  /** Length of an inbound `X-Request-Id`; a longer or stranger one is replaced. */
  requestIdLength: 128,
  /** Milliseconds of `timeout` where the request names none, and at most (SPEC 8). */
  timeoutDefaultMs: 30_000,
  timeoutMaxMs: 300_000,
  /** The most that `maxPages` may be (SPEC 2.4). */
  maxPagesMax: 10_000,
  /** UTF-16 code units (SPEC 2.2). */
  auditUsernameLength: 1024,
  /** Items of `formats` and of `parsers`. */
  listItems: 64,
  /** Selectors in `includeTags` or `excludeTags`, and the length of one. */
  tagSelectors: 200,
  tagSelectorLength: 500,
  /** Pairs in `headers`, and the length of one value. */
  headerPairs: 100,
  headerValueLength: 8 * KiB,
  /** Length of `origin` and `integration`. */
  labelLength: 1024,
  /** Length of a json format's prompt. */
  promptLength: 32 * KiB,
  /** Nesting of the options JSON (a JSON Schema nests). */
  optionsDepth: 64,
} as const;

/** Limits on what a document may unfold to. Past one of them: 422 DOCUMENT_TOO_COMPLEX. */
export const DOCUMENT_LIMITS = {
  /** Entries in one ZIP container (docx, xlsx, pptx, odf, epub). */
  zipEntries: 20_000,
  /** Bytes that one ZIP entry, and all entries together, may inflate to. */
  zipEntryBytes: 256 * MiB,
  zipTotalBytes: 512 * MiB,
  /** Inflated over stored size, looked at once an entry passes `zipRatioFloorBytes`. */
  zipRatio: 200,
  zipRatioFloorBytes: 8 * MiB,
  /** Nesting of XML and HTML elements. HTML past it is flattened, XML past it is refused. */
  xmlDepth: 1_000,
  htmlDepth: 400,
  /** Elements of one HTML tree. */
  htmlElements: 2_000_000,
  /** Cells of one spreadsheet that are read. */
  sheetCells: 5_000_000,
  /** Cells of a CSV file that are read, and columns of one row. */
  csvCells: 20_000_000,
  csvColumns: 20_000,
  /** Repeat a `rowspan` or `colspan` may ask for. */
  tableSpan: 1_000,
  /** Pages of one PDF that are read when `maxPages` names no number. */
  pdfPages: 10_000,
  /** Characters, and painted objects (forms included), that are read of one PDF page. Past it: the page is `partial`, with a warning. */
  pdfPageCharacters: 200_000,
  pdfPageObjects: 100_000,
  /** Pieces of drawn lines that are looked at for the tables of one PDF page. Past it: the page is `partial`, with a warning. */
  pdfPageSegments: 100_000,
  /** Operators of one PDF page that the second engine goes through. Past it: the page is `partial`, with a warning. */
  pdfPageOperators: 400_000,
  /** Links, fields and notes of one PDF page. Past it: the page is `partial`, with a warning. */
  pdfPageAnnotations: 5_000,
  /** Nesting of the form XObjects of a PDF page; what lies deeper draws no tables. */
  pdfFormDepth: 12,
  /** Bookmarks of a PDF, which tell headings and their levels, and how deep they nest. */
  pdfBookmarks: 10_000,
  pdfBookmarkDepth: 16,
  /** Elements of the structure tree of one PDF page that are looked at for descriptions of pictures and the text of glyphs. */
  pdfPageTags: 20_000,
  /** UTF-16 code units of one field of a PDF's own metadata, and of one text in its structure tree. */
  pdfMetadataLength: 4_000,
  /** Pixels of one image in a PDF; a larger one is not painted by the second engine. */
  pdfImagePixels: 64_000_000,
  /** Pixels of a page that is rendered for OCR: letter size at 350 dpi, where more detail reads no better. */
  ocrPagePixels: 12_000_000,
  /** Pixels of one rendered page (a page that would be larger is rendered at a lower resolution). */
  pagePixels: 40_000_000,
  /** Processor milliseconds that OCR may spend on one page (a dense page takes 3,500): a fine pattern would take minutes. */
  ocrPageCpuMs: 20_000,
  /** UTF-16 code units of one field of the answer. */
  fieldLength: 256 * MiB,
} as const;

/** Limits of the insides: how jobs and payloads move. */
export const TRANSPORT_LIMITS = {
  /** Payloads up to this many bytes travel inside the job message; larger ones go through the payload store. */
  inlinePayloadBytes: 256 * KiB,
  /** Chunk size of the NATS Object Store. */
  objectChunkBytes: 512 * KiB,
  /** How long a payload may live before the store sweeps it, whatever happened to its job. */
  payloadTtlMs: 15 * 60_000,
  /** Times a job is given to a worker before it is answered as abandoned. */
  maxDeliveries: 3,
  /** Pages of one document that wait in the queue for an OCR worker: enough that none is idle, and that an autoscaler sees a lag. */
  ocrPagesWaiting: 4,
  /** Pages of one document that are on the bus for OCR at all, however many workers take them. */
  ocrPagesUnderWay: 64,
  /** A worker that says nothing for this long is taken for dead, and its job goes to another. */
  ackWaitMs: 4_000,
  /** How often a worker tells that it is there, and how long that word holds. */
  presenceMs: 1_000,
  presenceTtlMs: 3_500,
  /** Within one process, payloads stay in memory up to this many bytes together; what does not fit goes to private files. */
  memoryPayloadBytes: 16 * MiB,
  /** Bytes of one message on the bus, header and all; the server's `max_payload` must allow it. */
  messageBytes: 768 * KiB,
  /** Longest life of a job that nobody takes, whatever became of its requester. Above the largest request timeout. */
  jobTtlMs: 10 * 60_000,
  /** How long the bus knows a job that is published again because its word that it has it was lost. It keeps a name a job in memory for it. */
  duplicateWindowMs: 2 * 60_000,
  /** How long a worker tries to hand its answer to a requester that is not there (its connection may be coming back). */
  answerPatienceMs: 5_000,
  /** How long a read or change of shared state is tried while the bus is away. */
  statePatienceMs: 5_000,
  /**
   * Bytes of zero-data-retention payloads (uploads and what is made of them) that memory holds together: of all gateways and
   * workers in the bus's store, or of the one process. A server with less memory for its streams holds what it has. Past it: 503 with Retry-After.
   */
  volatilePayloadBytes: 1024 * MiB,
  /** Bytes of zero-data-retention jobs that wait in the bus's memory. Past it a job waits for room, until its request's timeout: 503. */
  volatileJobBytes: 256 * MiB,
  /** Bytes and age of the events (audit) that the bus keeps for whoever collects them; the oldest goes first. */
  eventBytes: 256 * MiB,
  eventTtlMs: 30 * 24 * 60 * 60_000,
  /** How long an event waits for a bus that is away, and how many may; past it standard output alone has them. */
  eventPatienceMs: 60_000,
  eventsWaiting: 10_000,
  /** Shared values with a longer time to live than this are kept on disk, so that a restarted bus still has them. */
  stateMemoryTtlMs: 60 * 60_000,
} as const;

/** How Secrets with API keys are followed. */
export const KEYS_LIMITS = {
  /** Milliseconds that one question to the API server may take. */
  apiTimeoutMs: 10_000,
  /** Pause after the first fault; doubled with each one up to `retryMaxMs`. */
  retryBaseMs: 250,
  retryMaxMs: 5_000,
  /** Longest pause between two watches where the first ended without a fault. */
  rewatchMaxMs: 500,
  /** How often the log says again that the keys are out of reach. */
  complaintMs: 30_000,
} as const;

/** Resident memory, in MiB, that one isolated conversion process (with its children) may reach before it is killed. */
export const MEMORY_LIMITS_MIB = {
  pdf: 2048,
  ocr: 1536,
  office: 3072,
  html: 2048,
  csv: 2048,
  pii: 2048,
  enrich: 1024,
} as const;

/** What is sent to and taken from a configured language model, and from the caller's JSON Schema. */
export const MODEL_LIMITS = {
  /** UTF-16 code units of a document that are sent. Past it the document is cut, with a warning. */
  documentUnits: 120_000,
  /** Bytes of one answer. Past it: 502. */
  answerBytes: 4 * MiB,
  /** Code units of a model's summary, and of one made by extraction. */
  modelSummaryUnits: 8_000,
  summaryUnits: 1_000,
  /** Objects, lists and values of a JSON Schema, and code units of one of its patterns. Past it: 422. */
  schemaNodes: 20_000,
  schemaPatternUnits: 1_000,
  /** Faults of an answer that the model is told of when it is asked again. */
  schemaFaults: 20,
  /** Seconds a caller is told to wait after the endpoint's 429, where it names none, and at most. */
  retryAfterDefaultSeconds: 10,
  retryAfterMaxSeconds: 300,
} as const;

/** What one redaction may spend on the built-in tagger, which reads some 170,000 code units a second. */
export const PII_LIMITS = {
  /** UTF-16 code units that it reads in one job. Past it names and places are found by rules and lists, with a warning. */
  modelUnits: 1_500_000,
} as const;
