// The converter of PDF and image files: pages in bounded batches, from the text layer or OCR, through one layout, to typed blocks.
import { ParseError } from '#shared/contract/errors.ts';
import { formatByExtension } from '#shared/contract/formats.ts';
import type { JobContext, RenderOptions } from '#shared/contract/jobs.ts';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { describePagesPastEnd, selectPages } from '#shared/contract/page-ranges.ts';
import type { ConvertedDocument, PagedPage, SourceFile } from '#shared/document/document.ts';
import { assembleBlocks, type PageFrame } from './layout/document.ts';
import { bodySize, type FurnitureMemory, findFurniture } from './layout/furniture.ts';
import { layoutPage } from './layout/page.ts';
import { readMetadata } from './metadata.ts';
import { PageReader, type PageRun, type ReadPage } from './pages/page-reader.ts';
import { PdfPictures } from './pages/pictures.ts';
import { PageProgress } from './pages/progress.ts';
import { ReadingTime } from './pages/reading-time.ts';
import { openImageSource } from './source/image/image-source.ts';
import { openPageSource } from './source/open-page-source.ts';
import type { Bookmark } from './source/page-model.ts';
import { EngineCrashError, type PageSource } from './source/page-source.ts';
import { openWithPdfjs } from './source/pdfjs-source.ts';
import { TagTrust } from './source/tag-trust.ts';
import { HeadMemory } from './tables/head-memory.ts';
import type { Draft } from './text/blocks.ts';
import { learnWords, type Vocabulary } from './text/inline.ts';
import { buildChunks, type Chunk } from './text/lines.ts';
import { readTypewritten } from './text/typewriter.ts';
import { makeUpright, type UprightPage } from './text/upright.ts';

/** Pages held in memory at once, twice: one run is laid out while the next is read. Running heads are looked for over a run and those before it. */
const BATCH_PAGES = 16;

/**
 * Converts a PDF or an image file to blocks on pages.
 * Shortly before the deadline it ends with the pages that are ready, if there is one.
 * @throws ParseError DOCUMENT_ENCRYPTED, DOCUMENT_CORRUPT, DOCUMENT_TOO_COMPLEX, REQUEST_TIMEOUT, or what the OCR service answered where no page could be read.
 */
export async function convertPdf(
  file: SourceFile,
  options: RenderOptions,
  context: JobContext,
): Promise<ConvertedDocument> {
  const isImage = formatByExtension(file.extension)?.container === 'image';
  const source = isImage ? await openImageSource(file.bytes) : await openPageSource(file.bytes, options.pdf.password);
  const time = new ReadingTime(context, options.laterShare);
  try {
    return await convertSource(source, options, context, time);
  } catch (error) {
    if (!(error instanceof EngineCrashError)) throw error;
    // The file crashed the first engine; the second may read it.
    const second = await openPageSource(file.bytes, options.pdf.password, [openWithPdfjs]);
    try {
      return await convertSource(second, options, context, time);
    } finally {
      await second.close();
    }
  } finally {
    time.close();
    await source.close().catch(() => undefined);
  }
}

async function convertSource(
  source: PageSource,
  options: RenderOptions,
  context: JobContext,
  time: ReadingTime,
): Promise<ConvertedDocument> {
  const { indexes, warnings } = choosePages(source.pageCount, options.pdf);
  const reader = new PageReader(source, options.pdf, context, new PageProgress(context, indexes.length), time);
  const vocabulary: Vocabulary = new Set();
  const repeated: FurnitureMemory = new Map();
  const heads = new HeadMemory();
  const tags = new TagTrust();
  const frames = new Map<number, PageFrame>();
  const pages: PagedPage[] = [];
  const drafts: Draft[] = [];
  const bookmarks = await source.outline().catch(() => []);
  const pictures = options.embeddedImages ? new PdfPictures(source) : undefined;
  for await (const batch of readRuns(reader, indexes, time)) {
    for (const page of batch) {
      frames.set(page.content.index, { width: page.content.width, height: page.content.height, source: page.source });
      pages.push({
        pageNumber: page.content.index + 1,
        width: page.renderWidth,
        height: page.renderHeight,
        status: page.status,
        blocks: [],
      });
    }
    tags.mark(batch.map((page) => page.content));
    const found = layoutBatch(batch, vocabulary, repeated, heads, bookmarks);
    drafts.push(...((await pictures?.add(batch, found, context.signal)) ?? found));
  }
  const missing = new Set(reader.missing(indexes));
  // For example, the first engine crashed on a page after the time was over.
  if (missing.size === indexes.length) throw new ParseError('REQUEST_TIMEOUT');
  reader.throwIfNothingRead(drafts.length === 0);
  if (
    drafts.every(
      (draft) =>
        (draft.kind === 'figure' &&
          draft.html === undefined &&
          draft.description === undefined &&
          draft.picture === undefined) ||
        draft.kind === 'furniture',
    )
  )
    reader.tellEmpty(
      pages.filter(({ pageNumber }) => !missing.has(pageNumber - 1)),
      new Set(drafts.filter((draft) => draft.kind === 'furniture').map((draft) => draft.pageIndex)),
    );
  pictures?.markRepeated();
  const { pages: blocks, title } = assembleBlocks(drafts, frames, bookmarks, vocabulary);
  for (const index of missing)
    if (!frames.has(index))
      pages.push({ pageNumber: index + 1, width: null, height: null, status: 'failed', blocks: [] });
  for (const page of pages) page.blocks = blocks.get(page.pageNumber - 1) ?? [];
  return {
    genre: 'document',
    html: '',
    pages,
    ...(pictures ? { pictures: pictures.collection } : {}),
    metadata: readMetadata(source.info, title, indexes.length - missing.size, source.pageCount),
    warnings: [
      ...describeMissing(missing, indexes.length),
      ...warnings,
      ...(source.warnings ?? []),
      ...reader.warnings(),
    ],
  };
}

/**
 * The pages to read, as indexes from 0 in the order of the document, and a warning about selected pages that do not exist.
 * @throws ParseError BAD_REQUEST if none of the selected pages exists
 */
function choosePages(
  pageCount: number,
  { pageRanges, maxPages = DOCUMENT_LIMITS.pdfPages }: RenderOptions['pdf'],
): { indexes: number[]; warnings: string[] } {
  if (!pageRanges)
    return { indexes: Array.from({ length: Math.min(pageCount, maxPages) }, (_, index) => index), warnings: [] };
  const indexes = selectPages(pageRanges, pageCount, maxPages);
  const past = describePagesPastEnd(pageRanges, pageCount);
  const has = `The document has ${pageCount} ${pageCount === 1 ? 'page' : 'pages'}`;
  if (indexes.length === 0)
    throw new ParseError('BAD_REQUEST', `Bad Request: none of the selected pages (${past}) exists. ${has}.`, {
      details: [{ path: 'parsers', message: `\`pages\` selects no page of the document (${past})`, code: 'custom' }],
    });
  return { indexes, warnings: past === '' ? [] : [`${has}, so selected pages past the end were ignored (${past}).`] };
}

/** A warning about the pages that the time did not suffice for. */
function describeMissing(missing: ReadonlySet<number>, count: number): string[] {
  if (missing.size === 0) return [];
  const runs: { first: number; last: number }[] = [];
  for (const index of missing) {
    const run = runs.at(-1);
    if (run && run.last === index) run.last = index + 1;
    else runs.push({ first: index + 1, last: index + 1 });
  }
  const ranges = runs.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(',');
  return [
    `${missing.size} of ${count} pages are missing because the time limit was reached: ${ranges}. ` +
      'Send the request with a longer `timeout`, or ask for fewer pages with `parsers[].pages`',
  ];
}

/** Runs of whole pages. While one is laid out, and while its last pages are still with OCR, the next is being read. */
async function* readRuns(
  reader: PageReader,
  indexes: readonly number[],
  time: ReadingTime,
): AsyncGenerator<ReadPage[]> {
  const begin = (first: number) => reader.begin(indexes.slice(first, first + BATCH_PAGES));
  let next: Promise<PageRun> | undefined;
  try {
    for (let first = 0; first < indexes.length; first += BATCH_PAGES) {
      const { pages, settled } = await (next ?? begin(first));
      next = first + BATCH_PAGES < indexes.length && !time.isOver() ? begin(first + BATCH_PAGES) : undefined;
      // Its failure is met where it is awaited.
      next?.catch(() => undefined);
      await settled;
      yield pages;
      if (!next) return;
    }
  } finally {
    // A run that goes on would read from a file that is closed.
    reader.stop();
    await next?.catch(() => undefined);
  }
}

interface PreparedPage {
  upright: UprightPage;
  chunks: Chunk[];
}

/** The drafts of a run of pages, in reading order. */
export function layoutBatch(
  batch: readonly ReadPage[],
  vocabulary: Vocabulary,
  repeated: FurnitureMemory = new Map(),
  heads = new HeadMemory(),
  bookmarks: readonly Bookmark[] = [],
): Draft[] {
  const prepared: PreparedPage[] = batch.map(({ content }) => {
    const upright = makeUpright(content);
    const chunks = buildChunks(upright.page.words);
    learnWords(
      vocabulary,
      chunks.map((chunk) => chunk.words),
    );
    return { upright, chunks };
  });
  readTypewritten(prepared.map(({ chunks }) => chunks));
  const furniture = findFurniture(
    prepared.map(({ upright, chunks }) => ({
      index: upright.page.index,
      width: upright.page.width,
      height: upright.page.height,
      chunks,
    })),
    repeated,
    namedBy(bookmarks),
  );
  const body = bodySize(prepared.flatMap((page) => page.chunks));
  return prepared.flatMap(({ upright, chunks }) =>
    layoutPage(upright, chunks, furniture.get(upright.page.index) ?? [], vocabulary, body, heads),
  );
}

/** Whether the outline has a text as its title for a page. */
function namedBy(bookmarks: readonly Bookmark[]): (pageIndex: number, text: string) => boolean {
  const plain = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
  const named = new Set(bookmarks.map(({ pageIndex, title }) => `${pageIndex} ${plain(title)}`));
  return (pageIndex, text) => named.size > 0 && named.has(`${pageIndex} ${plain(text)}`);
}
