// From the drafts of all pages to the blocks of the document: headings, joins over breaks, lists, captions and their HTML.
// Pages made by hand that need its rules: paragraph-rules.test.ts, document.test.ts; files that do are named where the rule stands.
import type { PagedBlock } from '#shared/document/document.ts';
import { escapeHtml } from '#shared/document/escape-html.ts';
import type { Box } from '../source/geometry.ts';
import type { Bookmark } from '../source/page-model.ts';
import { mergeTables } from '../tables/continuation.ts';
import { tableHtml } from '../tables/html.ts';
import type { Draft, FigureDraft, ListItemDraft, TextDraft } from '../text/blocks.ts';
import { joinHyphenated, type Vocabulary } from '../text/inline.ts';
import { isCaption } from '../text/markers.ts';
import { bringTogether, findFootNotes } from './floats.ts';
import { bodyStyle, type HeadingMark, markHeadings } from './headings.ts';
import { listHtml } from './lists.ts';

/** How sure each way of finding a block is: measured on our fixtures, none of them is a model's score. */
const LAYOUT_CONFIDENCE = {
  text: 0.9,
  heading: 0.85,
  item: 0.9,
  furniture: 0.9,
  tagged: 0.95,
  ruled: 0.95,
  aligned: 0.75,
  figure: 0.9,
  code: 0.8,
  formula: 0.7,
} as const;

export interface PageFrame {
  width: number;
  height: number;
  /** 'native_text' or 'layout_ocr'. */
  source: string;
}

interface DocumentBlocks {
  /** By page index. */
  pages: Map<number, PagedBlock[]>;
  title: string | undefined;
}

/** @param frames size and source of every page that was read, by page index */
export function assembleBlocks(
  drafts: readonly Draft[],
  frames: ReadonlyMap<number, PageFrame>,
  bookmarks: readonly Bookmark[],
  vocabulary: Vocabulary,
): DocumentBlocks {
  const joined = mergeTables(drafts, vocabulary);
  const content = joined.filter((draft) => draft.kind !== 'furniture');
  const headings = markHeadings(content, bookmarks);
  const headed = (draft: Draft) =>
    draft.kind === 'item' && draft.asText && headings.has(draft.asText) ? draft.asText : draft;
  const merged = joined.map(headed);
  const text = content.map(headed);
  const notes = findFootNotes(text, headings, bodyStyle(text).size);
  const pages = new Map<number, PagedBlock[]>();
  let title: string | undefined;
  /** The last paragraph; notes under it do not end it. */
  let open: { block: PagedBlock; draft: TextDraft } | undefined;
  let items: ListItemDraft[] = [];

  const push = (
    draft: Draft,
    block: Pick<PagedBlock, 'type' | 'html'> & Partial<PagedBlock>,
    layout: number,
  ): PagedBlock => {
    const frame = frames.get(draft.pageIndex);
    const full: PagedBlock = {
      label: null,
      bbox: frame ? normaliseBox(draft.box, frame) : null,
      // What a picture says was read by OCR, also on a page whose text was not.
      source: draft.ocr === null ? (frame?.source ?? 'native_text') : 'layout_ocr',
      confidence: { layout, ocr: draft.ocr === null ? null : Math.round(draft.ocr * 1000) / 1000 },
      furniture: false,
      ...block,
    };
    const list = pages.get(draft.pageIndex);
    if (list) list.push(full);
    else pages.set(draft.pageIndex, [full]);
    return full;
  };
  const flushItems = () => {
    const first = items[0];
    if (!first) return;
    // One list a page: a block belongs to one page.
    const box = items.reduce(
      (sum, item) => ({
        x0: Math.min(sum.x0, item.box.x0),
        y0: Math.min(sum.y0, item.box.y0),
        x1: Math.max(sum.x1, item.box.x1),
        y1: Math.max(sum.y1, item.box.y1),
      }),
      first.box,
    );
    push({ ...first, box }, { type: 'text', label: 'list', html: listHtml(items) }, LAYOUT_CONFIDENCE.item);
    items = [];
  };

  let pageIndex = merged[0]?.pageIndex ?? 0;
  for (const [index, draft] of merged.entries()) {
    // What stands after pages that were not read continues nothing.
    if (!isEveryPageRead(frames, pageIndex, draft.pageIndex)) {
      flushItems();
      open = undefined;
    }
    pageIndex = draft.pageIndex;
    if (draft.kind === 'furniture') {
      push(draft, { type: draft.role, html: `<p>${draft.html}</p>`, furniture: true }, LAYOUT_CONFIDENCE.furniture);
      continue;
    }
    if (draft.kind === 'item') {
      const before = items.at(-1);
      if (before && before.pageIndex !== draft.pageIndex) flushItems();
      items.push(draft);
      if (!notes.has(draft)) open = undefined;
      continue;
    }
    const lastItem = items.at(-1);
    if (draft.kind === 'text' && lastItem && carriesItem(lastItem, draft)) {
      lastItem.html = joinHtml(lastItem.html, lastItem.lastWord, draft, vocabulary);
      lastItem.lastWord = draft.lastWord;
      lastItem.endsFull = draft.endsFull;
      continue;
    }
    flushItems();
    if (draft.kind === 'table') {
      push(
        draft,
        {
          type: 'table',
          label: `${draft.source}_table`,
          html: tableHtml(draft.grid),
        },
        LAYOUT_CONFIDENCE[draft.source],
      );
    } else if (draft.kind === 'figure') {
      const html = `<figure>${imageHtml(draft)}${draft.html ?? ''}</figure>`;
      push(
        draft,
        { type: 'figure', html, furniture: (draft.repeated || draft.labels) ?? false },
        LAYOUT_CONFIDENCE.figure,
      );
    } else if (draft.kind === 'code') {
      push(
        draft,
        { type: 'text', label: 'code', html: `<pre><code>${escapeHtml(draft.text)}</code></pre>` },
        LAYOUT_CONFIDENCE.code,
      );
      open = undefined;
    } else if (draft.kind === 'formula') {
      const html = `<div data-latex="${escapeHtml(draft.latex)}">${escapeHtml(draft.text)}</div>`;
      push(draft, { type: 'formula', html }, LAYOUT_CONFIDENCE.formula);
      open = undefined;
    } else {
      const heading = headings.get(draft);
      if (heading) {
        push(draft, headingBlock(draft, heading), LAYOUT_CONFIDENCE.heading);
        if (heading.level === 1) title ??= draft.text;
        open = undefined;
        continue;
      }
      if (isCaption(draft.text) && (isShort(draft) || touchesFloat(draft, merged[index - 1], merged[index + 1]))) {
        push(draft, { type: 'caption', html: `<p>${draft.html}</p>` }, LAYOUT_CONFIDENCE.text);
        continue;
      }
      const block = push(draft, { type: 'text', html: `<p>${draft.html}</p>` }, LAYOUT_CONFIDENCE.text);
      if (notes.has(draft)) continue;
      if (open) {
        const joined = continuation(open.draft, draft, vocabulary);
        const before = { block: open.block, list: pages.get(open.draft.pageIndex) ?? [] };
        if (joined && bringTogether(before, { block, list: pages.get(draft.pageIndex) ?? [] })) {
          block.continues = joined.glue;
          if (joined.strip) open.block.html = open.block.html.replace(/[-\u00ad\u2010]((?:<\/[a-z]+>)*<\/p>)$/, '$1');
        }
      }
      open = { block, draft };
    }
  }
  flushItems();
  return { pages, title };
}

function isEveryPageRead(frames: ReadonlyMap<number, PageFrame>, from: number, to: number): boolean {
  for (let index = from + 1; index < to; index++) if (!frames.has(index)) return false;
  return true;
}

function imageHtml({ picture, description }: FigureDraft): string {
  if (picture === undefined && description === undefined) return '';
  const src = picture === undefined ? '' : ` src="${picture}"`;
  return `<img${src} alt="${escapeHtml(description ?? '')}">`;
}

function headingBlock(draft: TextDraft, mark: HeadingMark): Pick<PagedBlock, 'type' | 'html' | 'label'> {
  return {
    type: mark.title ? 'title' : 'section_header',
    label: `h${mark.level}`,
    html: `<h${mark.level}>${draft.plainHtml}</h${mark.level}>`,
  };
}

function normaliseBox(box: Box, frame: PageFrame): [number, number, number, number] | null {
  if (!(frame.width > 0 && frame.height > 0)) return null;
  const clamp = (value: number) => Math.round(Math.min(1, Math.max(0, value)) * 1e5) / 1e5;
  return [
    clamp(box.x0 / frame.width),
    clamp(box.y0 / frame.height),
    clamp(box.x1 / frame.width),
    clamp(box.y1 / frame.height),
  ];
}

/** A caption that stands away from its figure is told from a sentence by its shortness. */
function isShort(draft: TextDraft): boolean {
  return draft.lines <= 6 && draft.text.length < 600;
}

/** Whether a table or a figure comes just before or after (fixtures/pdf/jutting-table.pdf: a caption of many lines). */
function touchesFloat(draft: TextDraft, ...neighbours: (Draft | undefined)[]): boolean {
  return neighbours.some(
    (one) => (one?.kind === 'table' || one?.kind === 'figure') && one.pageIndex === draft.pageIndex,
  );
}

/** Whether a paragraph that begins a column or page carries on the one before it, and how the two are joined. */
function continuation(
  before: TextDraft,
  draft: TextDraft,
  vocabulary: Vocabulary,
): { glue: '' | ' '; strip: boolean } | undefined {
  if (before.pageIndex === draft.pageIndex && !draft.firstInColumn) return undefined;
  if (Math.abs(before.style.size - draft.style.size) > 0.6) return undefined;
  const hyphen = joinHyphenated(before.lastWord, draft.firstWord, vocabulary);
  if (hyphen !== undefined && before.endsFull) return { glue: '', strip: hyphen !== before.lastWord };
  if (!before.endsFull || draft.indented) return undefined;
  const ended = /[.!?:;]["”’')\]]*$/.test(before.text);
  if (/^[\p{Ll}(]/u.test(draft.text) && !ended) return { glue: ' ', strip: false };
  if (/[\p{L}\p{N},]$/u.test(before.text) && before.lines > 1) return { glue: ' ', strip: false };
  return undefined;
}

function carriesItem(item: ListItemDraft, draft: TextDraft): boolean {
  return (
    item.endsFull &&
    draft.firstInColumn &&
    /^\p{Ll}/u.test(draft.text) &&
    !/[.!?:;]["”’')\]]*$/.test(item.text) &&
    Math.abs(draft.style.size - item.size) < 0.6
  );
}

function joinHtml(html: string, lastWord: string, draft: TextDraft, vocabulary: Vocabulary): string {
  const joined = joinHyphenated(lastWord, draft.firstWord, vocabulary);
  if (joined === undefined) return `${html} ${draft.html}`;
  return (joined === lastWord ? html : html.replace(/[-\u00ad\u2010]((?:<\/[a-z]+>)*)$/, '$1')) + draft.html;
}
