// Gives the figures of a PDF their pictures, and adds figures for pictures that layout leaves out because text stands on them.
import { createHash } from 'node:crypto';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { PictureCollection } from '#shared/document/pictures.ts';
import { area, type Box, boundingBox, centreInside, intersectionArea } from '../source/geometry.ts';
import { loadSharp } from '../source/image/libvips.ts';
import type { PageContent, PagePicture, PixelPicture, StoredPicture } from '../source/page-model.ts';
import { type PageSource, PageUnreadableError } from '../source/page-source.ts';
import type { Draft, FigureDraft } from '../text/blocks.ts';
import { findDrawnFigures } from './drawings.ts';
import type { ReadPage } from './page-reader.ts';

/** Pictures below this share of the page, or thinner than this in points, are ornaments, as in layout. */
const FIGURE_SHARE = 0.004;
const FIGURE_SIDE = 18;
/** A picture that covers this much of a page is its background or its scan. */
const PAGE_SHARE = 0.75;
/** A page-filling image under more words is the background of a page of text, and so are its strips, which span this share of a side. */
const BACKGROUND_WORDS = 40;
const PAGE_SIDE = 0.9;
/** Text on a picture covers less of it. A picture with more is the background of a panel of text. */
const TEXT_SHARE = 0.15;
/** Pages on which a picture stands at the same place, from which it is page furniture. */
const REPEATED_PAGES = 3;
/** Images of one page that are looked at. */
const PAGE_IMAGES = 400;
/** zlib level: higher ones cost several times as much for a few percent. */
const COMPRESSION = 6;

/** The pictures of one document. */
export class PdfPictures {
  readonly collection = new PictureCollection();
  readonly #source: PageSource;
  /** Addresses by the key of the source, and by the hash of the pixels or bytes. */
  readonly #known = new Map<string, string>();
  readonly #figures: FigureDraft[] = [];
  #bytes = 0;
  #count = 0;

  constructor(source: PageSource) {
    this.#source = source;
  }

  /** The drafts of a run of pages, with pictures. @throws EngineCrashError */
  async add(batch: readonly ReadPage[], drafts: readonly Draft[], signal: AbortSignal): Promise<Draft[]> {
    const complete: Draft[] = [];
    for (const page of batch) {
      const own = drafts.filter((draft) => draft.pageIndex === page.content.index);
      complete.push(...(await this.#addDrawnFigures(page, addTextedPictures(page, own))));
    }
    if (!this.#source.readPicture) return complete;
    for (const draft of complete) {
      if (draft.kind !== 'figure' || draft.labels) continue;
      signal.throwIfAborted();
      const address = await this.#address(draft.pageIndex, draft.box);
      if (address === undefined) continue;
      draft.picture = address;
      this.#figures.push(draft);
    }
    return complete;
  }

  async #addDrawnFigures(page: ReadPage, drafts: Draft[]): Promise<Draft[]> {
    if (page.source !== 'native_text' || page.status === 'failed') return drafts;
    const boxes = await this.#source.readDrawings?.(page.content.index).catch((error: unknown) => {
      if (!(error instanceof PageUnreadableError)) throw error;
      return undefined;
    });
    for (const box of findDrawnFigures(page.content, boxes ?? [], drafts)) {
      const figure: FigureDraft = { kind: 'figure', pageIndex: page.content.index, box, ocr: null };
      drafts.splice(placeOf(box, drafts), 0, figure);
    }
    return drafts;
  }

  /** Marks the pictures that repeat at the same place, such as a logo on each page. */
  markRepeated(): void {
    const places = new Map<string, Map<number, FigureDraft[]>>();
    for (const figure of this.#figures) {
      const { x0, y0, x1, y1 } = figure.box;
      const place = `${figure.picture} ${[x0, y0, x1, y1].map((value) => Math.round(value / 8)).join()}`;
      const pages = places.get(place) ?? new Map<number, FigureDraft[]>();
      pages.set(figure.pageIndex, [...(pages.get(figure.pageIndex) ?? []), figure]);
      places.set(place, pages);
    }
    for (const pages of places.values())
      if (pages.size >= REPEATED_PAGES) for (const figure of [...pages.values()].flat()) figure.repeated = true;
  }

  async #address(pageIndex: number, box: Box): Promise<string | undefined> {
    if (this.#count >= DOCUMENT_LIMITS.pictures || this.#bytes >= DOCUMENT_LIMITS.picturesBytes) return this.#omit();
    let picture: PagePicture | 'too-large' | undefined;
    try {
      picture = await this.#source.readPicture?.(pageIndex, box);
    } catch (error) {
      if (!(error instanceof PageUnreadableError)) throw error;
      return this.#omit();
    }
    if (picture === undefined) return undefined;
    if (picture === 'too-large') return this.#omit();
    if (picture.kind === 'seen') return this.#known.get(picture.key);
    const data = picture.kind === 'jpeg' ? picture.bytes : picture.pixels;
    const size = picture.kind === 'jpeg' ? 'jpeg' : `${picture.width}x${picture.height}`;
    const hash = `${size} ${createHash('sha256').update(data).digest('base64')}`;
    const address = this.#known.get(hash) ?? (await this.#store(hash, picture));
    if (address === undefined) return undefined;
    this.#known.set(hash, address);
    if (picture.key !== undefined) this.#known.set(picture.key, address);
    return address;
  }

  async #store(key: string, picture: StoredPicture): Promise<string | undefined> {
    if (picture.kind === 'pixels' && isBlank(picture.pixels, picture.channels)) return undefined;
    const bytes = picture.kind === 'jpeg' ? picture.bytes : await encodePng(picture);
    if (bytes.length > DOCUMENT_LIMITS.pictureBytes || this.#bytes + bytes.length > DOCUMENT_LIMITS.picturesBytes)
      return this.#omit();
    this.#bytes += bytes.length;
    this.#count++;
    return this.collection.add(key, () => bytes);
  }

  #omit(): undefined {
    this.collection.omitted++;
    return undefined;
  }
}

async function encodePng({ width, height, channels, pixels }: PixelPicture): Promise<Buffer> {
  const sharp = await loadSharp();
  return sharp(pixels, { raw: { width, height, channels }, limitInputPixels: false })
    .png({ compressionLevel: COMPRESSION })
    .toBuffer();
}

/** Whether all pixels have one color, so that the picture shows nothing. */
function isBlank(pixels: Uint8Array, channels: number): boolean {
  for (let at = channels; at < pixels.length; at++) if (pixels[at] !== pixels[at - channels]) return false;
  return true;
}

/** Adds figures for pictures that no draft stands for. Reading order and text of the other drafts stay as they are. */
function addTextedPictures(page: ReadPage, drafts: readonly Draft[]): Draft[] {
  // What OCR read a page from is the page itself, not a picture on it.
  if (page.source === 'layout_ocr' && page.content.words.length > 0) return [...drafts];
  const figures = drafts.filter((draft) => draft.kind === 'figure' && !draft.labels);
  const complete = [...drafts];
  for (const { box, description } of pictureGroups(page.content)) {
    if (figures.some((figure) => intersectionArea(figure.box, box) > area(box) / 2)) continue;
    if (!isPicture(page.content, box)) continue;
    const figure: FigureDraft = {
      kind: 'figure',
      pageIndex: page.content.index,
      box,
      ocr: null,
      ...(description === undefined ? {} : { description }),
    };
    complete.splice(placeOf(box, complete), 0, figure);
  }
  return complete;
}

interface PictureGroup {
  box: Box;
  description?: string;
}

/** The images of a page; strips and layers of one picture are one. Under text that fills the page, only images within it are pictures. */
function pictureGroups(page: PageContent): PictureGroup[] {
  const images = page.images.slice(0, PAGE_IMAGES);
  const groups = groupImages(page, images);
  const isBackground = ({ box }: PictureGroup) =>
    area(box) > page.width * page.height * PAGE_SHARE &&
    page.words.filter((word) => centreInside(word.box, box)).length > BACKGROUND_WORDS;
  if (!groups.some(isBackground)) return groups;
  const inside = images.filter(
    ({ box }) => box.x1 - box.x0 < page.width * PAGE_SIDE && box.y1 - box.y0 < page.height * PAGE_SIDE,
  );
  return groupImages(page, inside).filter((group) => !isBackground(group));
}

function groupImages(page: PageContent, images: PageContent['images']): PictureGroup[] {
  const groups: PictureGroup[] = [];
  for (const { box, description } of images) {
    const small = Math.min(box.x1 - box.x0, box.y1 - box.y0) < FIGURE_SIDE;
    if (small || area(box) < page.width * page.height * FIGURE_SHARE) continue;
    const near = groups.find((other) => intersectionArea(grow(other.box, 2), box) > 0);
    if (!near) groups.push({ box, ...(description === undefined ? {} : { description }) });
    else {
      near.box = boundingBox([near.box, box]);
      near.description ??= description;
    }
  }
  return groups;
}

function grow(box: Box, by: number): Box {
  return { x0: box.x0 - by, y0: box.y0 - by, x1: box.x1 + by, y1: box.y1 + by };
}

/** Whether an image is a picture with some text on it, and neither the scan of the page nor the background of its text. */
function isPicture(page: PageContent, box: Box): boolean {
  const words = page.words.filter((word) => centreInside(word.box, box));
  const isScan = area(box) > page.width * page.height * PAGE_SHARE && words.some((word) => word.invisible);
  return !isScan && words.reduce((sum, word) => sum + area(word.box), 0) < area(box) * TEXT_SHARE;
}

/** The index at which a picture is read: before the text on it, or else before the first draft that starts below its top. */
function placeOf(box: Box, drafts: readonly Draft[]): number {
  const on = drafts.findIndex((draft) => draft.kind !== 'furniture' && centreInside(draft.box, box));
  if (on >= 0) return on;
  const below = drafts.findIndex((draft) => draft.kind !== 'furniture' && draft.box.y0 >= box.y0);
  if (below >= 0) return below;
  const foot = drafts.findLastIndex((draft) => draft.kind !== 'furniture');
  return foot + 1;
}
