// Reads a page's painted objects out of PDFium (lines, filled areas, image boxes) without decoding an image.
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { type Box, concatenate, type Matrix, mapBox, unionBox } from './geometry.ts';
import { MarkCollector } from './marks.ts';
import type { ImageArea, PageContent, Region } from './page-model.ts';
import { decodeUtf16, type Pdfium } from './pdfium-module.ts';
import type { PageTags, Told } from './pdfium-tags.ts';
import { RulingCollector } from './rulings.ts';

const PATH = 2;
const IMAGE = 3;
const SHADING = 4;
const FORM = 5;

interface Walk {
  pdfium: Pdfium;
  scratch: number;
  rulings: RulingCollector;
  marks: MarkCollector;
  images: ImageArea[];
  /** Those that no image belongs to are drawings. */
  described: Map<Told, Box | undefined>;
  descriptions: PageTags['descriptions'];
  objects: number;
  segments: number;
  /** More was drawn than is looked at. */
  cut: boolean;
  pageBox: Box;
}

/** @param display user space to the displayed frame */
export function readObjects(
  pdfium: Pdfium,
  page: number,
  display: Matrix,
  width: number,
  height: number,
  scratch: number,
  descriptions?: PageTags['descriptions'],
): Pick<
  PageContent,
  'rulings' | 'regions' | 'marks' | 'images' | 'drawings' | 'objects' | 'slants' | 'segments' | 'cutDrawing'
> {
  const pageBox = { x0: 0, y0: 0, x1: width, y1: height };
  const walk: Walk = {
    pdfium,
    scratch,
    rulings: new RulingCollector(pageBox),
    marks: new MarkCollector(),
    images: [],
    described: new Map(),
    descriptions,
    objects: 0,
    segments: 0,
    cut: false,
    pageBox,
  };
  const count = pdfium.FPDFPage_CountObjects(page);
  for (let i = 0; i < count && walk.objects < DOCUMENT_LIMITS.pdfPageObjects; i++)
    readObject(walk, pdfium.FPDFPage_GetObject(page, i), display, 0, undefined);
  const { rulings, regions, slants } = walk.rulings.finish();
  const cutDrawing = walk.cut || walk.objects >= DOCUMENT_LIMITS.pdfPageObjects;
  return {
    rulings,
    regions: regions satisfies Region[],
    slants,
    marks: walk.marks.finish(),
    images: walk.images,
    drawings: [...walk.described].flatMap(([{ text }, box]) => (box ? [{ box, description: text }] : [])),
    objects: walk.objects,
    segments: walk.segments,
    cutDrawing,
  };
}

function readObject(walk: Walk, object: number, toPage: Matrix, depth: number, around: Told | undefined): void {
  walk.objects++;
  if (object === 0) return;
  const { pdfium } = walk;
  const type = pdfium.FPDFPageObj_GetType(object);
  const told = walk.descriptions?.get(pdfium.FPDFPageObj_GetMarkedContentID(object)) ?? around;
  if (told && type !== IMAGE && type !== FORM) growDrawing(walk, told, boundsOf(walk, object, toPage));
  if (type === PATH) readPath(walk, object, toPage);
  else if (type === IMAGE || type === SHADING) {
    const box = boundsOf(walk, object, toPage);
    if (!box) return;
    if (type === SHADING) return;
    let pixelWidth = 0;
    let pixelHeight = 0;
    if (pdfium.FPDFImageObj_GetImagePixelSize(object, walk.scratch, walk.scratch + 4)) {
      const i32 = pdfium.heap.i32;
      pixelWidth = i32[walk.scratch >> 2] ?? 0;
      pixelHeight = i32[(walk.scratch >> 2) + 1] ?? 0;
    }
    walk.images.push({ box, pixelWidth, pixelHeight, ...(told && { description: told.text }) });
    if (told) walk.described.set(told, undefined);
  } else if (type === FORM && depth < DOCUMENT_LIMITS.pdfFormDepth) {
    const inner = concatenate(matrixOf(walk, object), toPage);
    const count = pdfium.FPDFFormObj_CountObjects(object);
    for (let i = 0; i < count && walk.objects < DOCUMENT_LIMITS.pdfPageObjects; i++)
      readObject(walk, pdfium.FPDFFormObj_GetObject(object, i), inner, depth + 1, told);
  }
}

function growDrawing(walk: Walk, told: Told, box: Box | undefined): void {
  if (!box) return;
  const known = walk.described.get(told);
  // An image of the picture has been met: that is the picture.
  if (known === undefined && walk.described.has(told)) return;
  walk.described.set(told, known ? unionBox(known, box) : box);
}

function matrixOf(walk: Walk, object: number): Matrix {
  if (!walk.pdfium.FPDFPageObj_GetMatrix(object, walk.scratch)) return { a: 1, b: 0, c: 0, d: 1, e: 0, f: 0 };
  const f32 = walk.pdfium.heap.f32;
  const at = walk.scratch >> 2;
  return {
    a: f32[at] ?? 1,
    b: f32[at + 1] ?? 0,
    c: f32[at + 2] ?? 0,
    d: f32[at + 3] ?? 1,
    e: f32[at + 4] ?? 0,
    f: f32[at + 5] ?? 0,
  };
}

/** The part of an object's bounds that lies on the page, or undefined where none does. */
function boundsOf(walk: Walk, object: number, toPage: Matrix): Box | undefined {
  const s = walk.scratch;
  if (!walk.pdfium.FPDFPageObj_GetBounds(object, s, s + 4, s + 8, s + 12)) return undefined;
  const f32 = walk.pdfium.heap.f32;
  const at = s >> 2;
  const box = mapBox(toPage, f32[at] ?? 0, f32[at + 1] ?? 0, f32[at + 2] ?? 0, f32[at + 3] ?? 0);
  const page = walk.pageBox;
  if (!(box.x1 >= page.x0 && box.x0 <= page.x1 && box.y1 >= page.y0 && box.y0 <= page.y1)) return undefined;
  return {
    x0: Math.max(box.x0, page.x0),
    y0: Math.max(box.y0, page.y0),
    x1: Math.min(box.x1, page.x1),
    y1: Math.min(box.y1, page.y1),
  };
}

function colorOf(walk: Walk, object: number, stroke: boolean): { color: number; alpha: number } {
  const { pdfium, scratch: s } = walk;
  const read = stroke ? pdfium.FPDFPageObj_GetStrokeColor : pdfium.FPDFPageObj_GetFillColor;
  if (!read(object, s, s + 4, s + 8, s + 12)) return { color: 0, alpha: 255 };
  const i32 = pdfium.heap.i32;
  const at = s >> 2;
  return {
    color: (((i32[at] ?? 0) & 255) << 16) | (((i32[at + 1] ?? 0) & 255) << 8) | ((i32[at + 2] ?? 0) & 255),
    alpha: (i32[at + 3] ?? 255) & 255,
  };
}

/** Whether the object's innermost marked content is tagged `Lbl`. */
function isLabel({ pdfium, scratch: s }: Walk, object: number): boolean {
  const count = pdfium.FPDFPageObj_CountMarks(object);
  if (count <= 0) return false;
  const mark = pdfium.FPDFPageObj_GetMark(object, count - 1);
  // Room for four letters of UTF-16 and the zero; a longer name leaves the buffer alone and tells its size.
  if (mark === 0 || !pdfium.FPDFPageObjMark_GetName(mark, s + 8, 10, s)) return false;
  const size = pdfium.heap.i32[s >> 2] ?? 0;
  return size === 8 && decodeUtf16(pdfium.heap.u8.slice(s + 8, s + 16)) === 'Lbl';
}

function readPath(walk: Walk, object: number, toPage: Matrix): void {
  const { pdfium, scratch: s } = walk;
  if (!pdfium.FPDFPath_GetDrawMode(object, s, s + 4)) return;
  const i32 = pdfium.heap.i32;
  const filled = (i32[s >> 2] ?? 0) !== 0;
  const stroked = (i32[(s >> 2) + 1] ?? 0) !== 0;
  if (!(filled || stroked) || !boundsOf(walk, object, toPage)) return;
  const segments = pdfium.FPDFPath_CountSegments(object);
  if (segments < 2) return;
  if (walk.segments + segments > DOCUMENT_LIMITS.pdfPageSegments) {
    walk.cut = true;
    return;
  }
  walk.segments += segments;
  const fill = filled ? colorOf(walk, object, false) : undefined;
  const stroke = stroked ? colorOf(walk, object, true) : undefined;
  let strokeWidth = 0;
  const matrix = concatenate(matrixOf(walk, object), toPage);
  if (stroked && pdfium.FPDFPageObj_GetStrokeWidth(object, s))
    strokeWidth = Math.abs(
      (pdfium.heap.f32[s >> 2] ?? 0) * Math.sqrt(Math.abs(matrix.a * matrix.d - matrix.b * matrix.c)),
    );

  const label = isLabel(walk, object);
  let points: number[] = [];
  let curved = false;
  const flush = (closed: boolean) => {
    if (points.length >= 4) {
      if (stroke && stroke.alpha > 0) {
        walk.rulings.stroke(points, closed, curved, strokeWidth, stroke.color);
        if (closed) walk.marks.add(points, curved, { filled: false, color: stroke.color, width: strokeWidth }, label);
      }
      if (fill && fill.alpha > 0) {
        walk.rulings.fill(points, curved, fill.color);
        walk.marks.add(points, curved, { filled: true, color: fill.color }, label);
      }
    }
    points = [];
    curved = false;
  };
  for (let i = 0; i < segments; i++) {
    const segment = pdfium.FPDFPath_GetPathSegment(object, i);
    if (segment === 0) continue;
    const type = pdfium.FPDFPathSegment_GetType(segment);
    if (type === 2) flush(false);
    if (type === 1) curved = true;
    if (pdfium.FPDFPathSegment_GetPoint(segment, s, s + 4)) {
      const f32 = pdfium.heap.f32;
      const x = f32[s >> 2] ?? 0;
      const y = f32[(s >> 2) + 1] ?? 0;
      points.push(matrix.a * x + matrix.c * y + matrix.e, matrix.b * x + matrix.d * y + matrix.f);
    }
    if (pdfium.FPDFPathSegment_GetClose(segment)) flush(true);
  }
  flush(filled);
}
