// Renders a paged document block by block, so that the position of each block in the Markdown is known.
import type { ChildNode, Element } from 'domhandler';
import type { RenderOptions } from '../contract/jobs.ts';
import type { Block, PageBlocks, RecordFields } from '../contract/response.ts';
import { listImages, listLinks, normalizeAddresses, type Placement } from './addresses.ts';
import { removeCode } from './clean.ts';
import type { ConvertedDocument, PagedBlock, PagedPage, RenderedRecord } from './document.ts';
import { isElement, outermost, removeElements } from './dom.ts';
import { type Footnotes, findFootnotes } from './footnotes.ts';
import { toMarkdown } from './markdown.ts';
import { PictureNames } from './pictures.ts';
import { noMatchWarning, selectAll, selectorEngine } from './selectors.ts';
import { serialize } from './serialize.ts';
import { parseHtml } from './tree.ts';

const BETWEEN_BLOCKS = '\n\n';

interface RenderedBlock {
  block: PagedBlock;
  /** Empty if no requested field needs them. */
  nodes: ChildNode[];
  content: string;
  /** The options select some of the block. */
  matched: boolean;
  /** The block is part of `markdown`, `pages`, `html`, `links` and `images`. */
  shown: boolean;
}

/** Fills the requested fields from pages of blocks (docs/api.md, "Pages", "Blocks"). */
export function renderPaged(
  document: ConvertedDocument,
  pages: readonly PagedPage[],
  options: RenderOptions,
): RenderedRecord {
  const wanted = new Set(options.fields);
  const fields: RecordFields = {};
  const pictures = options.embeddedImages ? new PictureNames(document.pictures) : undefined;
  const rendered = renderBlocks(pages, options, pictures);
  if (wanted.has('rawHtml')) {
    const html = sections(pages.map((page) => [page.pageNumber, page.blocks.map((block) => block.html).join('\n')]));
    fields.rawHtml = document.rawHtml ?? pictures?.inText(html, 'src="', '"', 'known') ?? html;
  }
  if (wanted.has('html'))
    fields.html = sections(
      pages.map((page, index) => [
        page.pageNumber,
        shown(rendered[index])
          .map((one) => serialize(one.nodes))
          .join('\n'),
      ]),
    );
  if (wanted.has('links') || wanted.has('images')) {
    const nodes = rendered.flatMap((page) => shown(page).flatMap((one) => one.nodes));
    if (wanted.has('links')) fields.links = listLinks(nodes);
    // Blocks hold running headers and footers too, so their pictures are sent with them.
    const referring = wanted.has('blocks') ? rendered.flat().flatMap((one) => one.nodes) : nodes;
    if (wanted.has('images')) fields.images = pictures?.list(referring) ?? listImages(nodes);
  }
  if (wanted.has('markdown') || wanted.has('blocks')) {
    const joined = joinBlocks(pages, rendered, options.pdf.pageMarkers);
    if (wanted.has('markdown')) fields.markdown = joined.markdown;
    if (wanted.has('blocks'))
      fields.blocks = pages.map((page, index) => pageBlocks(page, rendered[index] ?? [], joined.spans));
  }
  if (wanted.has('pages'))
    fields.pages = pages.map((page, index) => ({
      pageNumber: page.pageNumber,
      markdown: joinPage(shown(rendered[index])),
    }));
  const warnings = [...document.warnings, ...(pictures?.warnings() ?? [])];
  const isEmpty = rendered.every((page) => page.every((one) => !one.matched));
  if (options.includeTags.length > 0 && isEmpty) warnings.push(noMatchWarning(options.includeTags));
  return { fields, metadata: document.metadata, warnings };
}

function shown(blocks: RenderedBlock[] | undefined): RenderedBlock[] {
  return (blocks ?? []).filter((one) => one.shown && one.content !== '');
}

function sections(pages: [number, string][]): string {
  return pages
    .map(([number, html]) => `<section data-page="${number}">\n${html}${html === '' ? '' : '\n'}</section>`)
    .join('\n');
}

/** If this matches in no block, findFootnotes would find nothing. */
const MAY_HOLD_NOTES = /footnote|backlink|href=["']?#/i;
const NO_FOOTNOTES: Footnotes = { references: new Map(), notes: new Map(), backlinks: new Set() };

/** The tree of each block, filtered by the options, and its Markdown. Footnotes are numbered across the document. */
function renderBlocks(
  pages: readonly PagedPage[],
  options: RenderOptions,
  pictures: PictureNames | undefined,
): RenderedBlock[][] {
  const selecting = options.includeTags.length + options.excludeTags.length > 0;
  const hasAll = options.fields.includes('blocks');
  const treesOf = (page: PagedPage) =>
    page.blocks.map((block) => {
      const names = hasAll || isShown(block, options) ? pictures : undefined;
      const position = { page: page.pageNumber, bbox: block.bbox };
      return blockNodes(block, options, selecting, names && ((image) => names.place(image, position)));
    });
  // A reference and its note are in different blocks, so the trees of all blocks are needed at once. Without notes, the
  // trees of one page are enough.
  const noted = pages.some((page) => page.blocks.some((block) => MAY_HOLD_NOTES.test(block.html)));
  const all = noted ? pages.map(treesOf) : undefined;
  const footnotes = all ? findFootnotes(all.flat(2)) : NO_FOOTNOTES;
  const keeps = options.fields.some((field) => field === 'html' || field === 'links' || field === 'images');
  return pages.map((page, index) => {
    const trees = all?.[index] ?? treesOf(page);
    return page.blocks.map((block, at): RenderedBlock => {
      const nodes = trees[at] ?? [];
      return {
        block,
        nodes: keeps ? nodes : [],
        matched: nodes.length > 0,
        content: toMarkdown(nodes, { webpage: false, footnotes }),
        shown: isShown(block, options),
      };
    });
  });
}

/** Running headers and footers are shown only if they are requested. */
function isShown(block: PagedBlock, options: RenderOptions): boolean {
  return !(block.furniture && options.onlyMainContent && options.includeTags.length === 0);
}

function blockNodes(
  block: PagedBlock,
  options: RenderOptions,
  selecting: boolean,
  place: ((image: Element) => Placement) | undefined,
): ChildNode[] {
  const tree = parseHtml(block.html);
  let nodes: ChildNode[] = tree.body.children;
  removeCode(nodes);
  if (selecting) {
    const engine = selectorEngine(tree.document);
    const excluded = new Set(selectAll(engine, options.excludeTags));
    if (options.includeTags.length > 0) {
      const included = new Set(selectAll(engine, options.includeTags));
      const everything = included.has(tree.html) || included.has(tree.body);
      if (!everything) nodes = outermost(included);
    }
    if (excluded.has(tree.html) || excluded.has(tree.body)) return [];
    removeElements(excluded);
    nodes = nodes.filter((node) => !(isElement(node) && excluded.has(node)));
  }
  removeElements(normalizeAddresses(nodes, undefined, options.removeBase64Images, place));
  return nodes;
}

/** The Markdown of the document, and the span `[start, end)` of each block in UTF-16 code units. */
function joinBlocks(
  pages: readonly PagedPage[],
  rendered: RenderedBlock[][],
  pageMarkers: boolean,
): { markdown: string; spans: Map<PagedBlock, [number, number]> } {
  const parts: string[] = [];
  const spans = new Map<PagedBlock, [number, number]>();
  let length = 0;
  const add = (text: string): void => {
    parts.push(text);
    length += text.length;
  };
  let markedPage: number | undefined;
  let before: PagedBlock | undefined;
  pages.forEach((page, index) => {
    for (const { block, content } of shown(rendered[index])) {
      if (markedPage === undefined) markedPage = page.pageNumber;
      else if (block.continues !== undefined && !before?.furniture) add(block.continues);
      else if (pageMarkers && markedPage !== page.pageNumber) {
        // If a page starts with the end of a paragraph of the page before, its marker comes after this paragraph.
        add(`${BETWEEN_BLOCKS}---${BETWEEN_BLOCKS}<!-- page ${page.pageNumber} -->${BETWEEN_BLOCKS}`);
        markedPage = page.pageNumber;
      } else add(BETWEEN_BLOCKS);
      spans.set(block, [length, length + content.length]);
      add(content);
      before = block;
    }
  });
  return { markdown: parts.join(''), spans };
}

function joinPage(blocks: RenderedBlock[]): string {
  return blocks
    .map(({ block, content }, index) => (index === 0 ? content : `${block.continues ?? BETWEEN_BLOCKS}${content}`))
    .join('');
}

function pageBlocks(page: PagedPage, rendered: RenderedBlock[], spans: Map<PagedBlock, [number, number]>): PageBlocks {
  const items = rendered.map(
    ({ block, content }, index): Block => ({
      id: `p${page.pageNumber}.b${index}`,
      type: block.type,
      label: block.label,
      content,
      bbox: block.bbox,
      readingOrder: index,
      markdownSpan: spans.get(block) ?? null,
      source: block.source,
      confidence: block.confidence,
    }),
  );
  return { pageNumber: page.pageNumber, width: page.width, height: page.height, status: page.status, items };
}
