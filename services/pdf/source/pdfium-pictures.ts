// Reads the picture that a page shows in a box: the stored file or pixels of a single image, or else the drawn region of the page.
import { createHash } from 'node:crypto';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { area, type Box, concatenate, intersectionArea, type Matrix, mapBox } from './geometry.ts';
import type { PagePicture, PixelPicture, StoredPicture } from './page-model.ts';
import { objectBounds, objectMatrix } from './pdfium-geometry.ts';
import { decodeUtf8, type Pdfium, readSized } from './pdfium-module.ts';

const TEXT = 1;
const PATH = 2;
const IMAGE = 3;
const FORM = 5;

/** FPDFImageObj_GetImageMetadata (fpdf_edit.h): grey, RGB, their calibrated forms and ICC profiles, which viewers assume for a JPEG file. */
const JPEG_COLOR_SPACES: ReadonlySet<number> = new Set([1, 2, 4, 5, 7]);
/** FPDFBitmap_GetFormat (fpdfview.h): bytes of a pixel. */
const PIXEL_BYTES: Readonly<Record<number, 1 | 3 | 4>> = { 1: 1, 2: 3, 3: 4, 4: 4 };
const BITMAP_BGRX = 3;
const BITMAP_BGRA = 4;
const RENDER_ANNOTATIONS = 0x01;

/** Resolution of a region without an image, and the largest of any region, in dots per inch. */
const DRAWING_DPI = 200;
const MAX_DPI = 400;
/** Points by which an edge may miss another one that is meant to be the same. */
const TOLERANCE = 1.5;
/** Share of an image that another object may cover and still not be part of the picture. */
const COVERED_SHARE = 0.01;
/** Numbers of components of the JPEG files that are passed on: grey and RGB. */
const JPEG_COMPONENTS: ReadonlySet<number> = new Set([1, 3]);
/** Mean value of the channels from which a picture is nearly white. */
const LIGHT = 225;
/** Share of the box that an image must fill to be the picture. */
const WHOLE_SHARE = 0.7;
/** A frame around an image has at most this many segments. */
const FRAME_SEGMENTS = 6;

/** The page that the pictures are on. */
interface PictureFrame {
  document: number;
  page: number;
  /** User space to the displayed frame. */
  display: Matrix;
  /** Points, as displayed. */
  width: number;
  height: number;
  /** An image of the file may have a mask (`mayMask`). */
  masked: boolean;
  /** Keys of the pictures that were read before. */
  seen: Set<string>;
  /** At least 64 bytes. */
  scratch: number;
}

interface PlacedImage {
  object: number;
  /** The unit square of the image to the displayed frame. */
  matrix: Matrix;
  box: Box;
  pixelWidth: number;
  pixelHeight: number;
}

interface Walk {
  pdfium: Pdfium;
  frame: PictureFrame;
  box: Box;
  images: PlacedImage[];
  /** Boxes of text and drawings that were painted after the first image. */
  over: Box[];
  objects: number;
}

/**
 * The picture in a box of the displayed frame.
 * @returns 'too-large' above DOCUMENT_LIMITS.picturePixels; undefined if the box shows nothing
 */
export function readPicture(pdfium: Pdfium, frame: PictureFrame, box: Box): PagePicture | 'too-large' | undefined {
  const walk: Walk = { pdfium, frame, box, images: [], over: [], objects: 0 };
  const count = pdfium.FPDFPage_CountObjects(frame.page);
  for (let n = 0; n < count && walk.objects < DOCUMENT_LIMITS.pdfPageObjects; n++)
    visit(walk, pdfium.FPDFPage_GetObject(frame.page, n), frame.display, 0);
  const { images } = walk;
  if (images.some(({ pixelWidth, pixelHeight }) => pixelWidth * pixelHeight > DOCUMENT_LIMITS.picturePixels))
    return 'too-large';
  const [only] = images;
  if (only && images.length === 1 && isWhole(walk, only)) {
    const stored = readImage(walk, only);
    if (stored) return stored;
  }
  return drawRegion(walk);
}

function visit(walk: Walk, object: number, toPage: Matrix, depth: number): void {
  walk.objects++;
  if (object === 0) return;
  const { pdfium, frame } = walk;
  const type = pdfium.FPDFPageObj_GetType(object);
  if (type === FORM) {
    if (depth >= DOCUMENT_LIMITS.pdfFormDepth) return;
    const inner = concatenate(objectMatrix(pdfium, object, frame.scratch), toPage);
    const count = pdfium.FPDFFormObj_CountObjects(object);
    for (let n = 0; n < count && walk.objects < DOCUMENT_LIMITS.pdfPageObjects; n++)
      visit(walk, pdfium.FPDFFormObj_GetObject(object, n), inner, depth + 1);
    return;
  }
  const box = objectBounds(pdfium, object, toPage, frame.scratch);
  if (!box || intersectionArea(box, walk.box) <= 0) return;
  if (type !== IMAGE) {
    if (walk.images.length > 0 && (type === TEXT || type === PATH) && !isFrame(walk, object, type)) walk.over.push(box);
    return;
  }
  // An image that reaches far beyond the box is the background of the picture or of the page.
  if (intersectionArea(box, walk.box) < area(box) / 2) return;
  const s = frame.scratch;
  if (!pdfium.FPDFImageObj_GetImagePixelSize(object, s, s + 4)) return;
  const { i32 } = pdfium.heap;
  const [pixelWidth = 0, pixelHeight = 0] = i32.subarray(s >> 2, (s >> 2) + 2);
  walk.images.push({
    object,
    matrix: concatenate(objectMatrix(pdfium, object, frame.scratch), toPage),
    box,
    pixelWidth,
    pixelHeight,
  });
}

/** Whether an object is only the outline around an image. */
function isFrame({ pdfium, frame: { scratch } }: Walk, object: number, type: number): boolean {
  if (type !== PATH || pdfium.FPDFPath_CountSegments(object) > FRAME_SEGMENTS) return false;
  return pdfium.FPDFPath_GetDrawMode(object, scratch, scratch + 4) !== 0 && pdfium.heap.i32[scratch >> 2] === 0;
}

/** Whether the page shows an image upright, complete and alone, so that the stored image is the picture. */
function isWhole(walk: Walk, image: PlacedImage): boolean {
  const { pdfium } = walk;
  const { a, b, c, d } = image.matrix;
  const upright = a > 0 && d < 0 && Math.max(Math.abs(b), Math.abs(c)) < 0.01 * Math.min(a, -d);
  if (!upright || pdfium.FPDFPageObj_HasTransparency(image.object)) return false;
  if (area(image.box) < area(walk.box) * WHOLE_SHARE) return false;
  const covered = walk.over.reduce((sum, box) => sum + intersectionArea(box, image.box), 0);
  return covered <= area(image.box) * COVERED_SHARE && !isClipped(walk, image);
}

/** Whether a clip path leaves out a part of an image. Clip paths of forms are not known. */
function isClipped(walk: Walk, image: PlacedImage): boolean {
  const { pdfium, frame } = walk;
  const clip = pdfium.FPDFPageObj_GetClipPath(image.object);
  const paths = Math.max(0, pdfium.FPDFClipPath_CountPaths(clip));
  const s = frame.scratch;
  for (let path = 0; path < paths; path++) {
    const segments = pdfium.FPDFClipPath_CountPathSegments(clip, path);
    if (segments > FRAME_SEGMENTS) return true;
    let bounds: Box | undefined;
    for (let n = 0; n < segments; n++) {
      const segment = pdfium.FPDFClipPath_GetPathSegment(clip, path, n);
      if (segment === 0 || !pdfium.FPDFPathSegment_GetPoint(segment, s, s + 4)) continue;
      const [x = 0, y = 0] = pdfium.heap.f32.subarray(s >> 2, (s >> 2) + 2);
      const point = mapBox(frame.display, x, y, x, y);
      bounds = bounds
        ? {
            x0: Math.min(bounds.x0, point.x0),
            y0: Math.min(bounds.y0, point.y0),
            x1: Math.max(bounds.x1, point.x1),
            y1: Math.max(bounds.y1, point.y1),
          }
        : point;
    }
    if (bounds && !contains(bounds, image.box)) return true;
  }
  return false;
}

const contains = (outer: Box, inner: Box): boolean =>
  outer.x0 <= inner.x0 + TOLERANCE &&
  outer.y0 <= inner.y0 + TOLERANCE &&
  outer.x1 >= inner.x1 - TOLERANCE &&
  outer.y1 >= inner.y1 - TOLERANCE;

/** The stored JPEG file, or the pixels of an image with its mask as transparency; undefined if it must be drawn. */
function readImage(walk: Walk, image: PlacedImage): PagePicture | undefined {
  const { pdfium, frame } = walk;
  const { colorSpace, bits } = imageFormat(walk, image.object);
  // A stencil mask has no pixels of its own: it shows the fill color of the page.
  if (colorSpace === 0 && bits <= 1) return undefined;
  // Images with different masks often have the same data, so data identifies a picture only in a file without masks.
  const key = frame.masked ? undefined : dataKey(pdfium, image, colorSpace);
  if (key !== undefined && frame.seen.has(key)) return { kind: 'seen', key };
  const picture = readStored(walk, image, colorSpace);
  if (!picture || key === undefined) return picture;
  frame.seen.add(key);
  return { ...picture, key };
}

function readStored(walk: Walk, image: PlacedImage, colorSpace: number): StoredPicture | undefined {
  const { pdfium, frame } = walk;
  const mask = frame.masked ? renderImage(walk, image) : undefined;
  // A light picture with transparency cannot be seen on the white page of a viewer, so it is drawn with what is behind it.
  if (mask?.channels === 4) return isLight(mask.pixels) ? undefined : mask;
  if (JPEG_COLOR_SPACES.has(colorSpace)) {
    const jpeg = storedJpeg(pdfium, image.object);
    if (jpeg) return { kind: 'jpeg', bytes: jpeg };
  }
  if (mask) return mask;
  const bitmap = pdfium.FPDFImageObj_GetBitmap(image.object);
  return bitmap === 0 ? undefined : takeBitmap(pdfium, bitmap, true);
}

function imageFormat({ pdfium, frame }: Walk, object: number): { colorSpace: number; bits: number } {
  // FPDF_IMAGEOBJ_METADATA: width, height, two floats of resolution, bits of a pixel, color space, marked content.
  const s = frame.scratch;
  if (!pdfium.FPDFImageObj_GetImageMetadata(object, frame.page, s)) return { colorSpace: 0, bits: 0 };
  const at = s >> 2;
  return { bits: pdfium.heap.i32[at + 4] ?? 0, colorSpace: pdfium.heap.i32[at + 5] ?? 0 };
}

/** The JPEG file of an image whose last filter is DCTDecode. */
function storedJpeg(pdfium: Pdfium, object: number): Uint8Array | undefined {
  const filters = pdfium.FPDFImageObj_GetImageFilterCount(object);
  const last = readSized(pdfium, (buffer, size) =>
    pdfium.FPDFImageObj_GetImageFilter(object, filters - 1, buffer, size),
  );
  if (filters < 1 || decodeUtf8(last) !== 'DCTDecode') return undefined;
  // With a single filter the raw data is the file. Otherwise the filters before it are decoded, but not the JPEG itself.
  const bytes = imageData(pdfium, object, filters === 1 ? 'raw' : 'decoded', DOCUMENT_LIMITS.pictureBytes);
  return bytes && JPEG_COMPONENTS.has(jpegComponents(bytes)) ? bytes : undefined;
}

/** Components of a JPEG file: 1 is grey, 3 is RGB, 4 is CMYK; 0 if its frame header is not found (ITU-T T.81, B.2.2). */
function jpegComponents(bytes: Uint8Array): number {
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return 0;
  for (let at = 2; at + 9 < bytes.length; ) {
    const marker = bytes[at + 1] ?? 0;
    if (bytes[at] !== 0xff) return 0;
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) return bytes[at + 9] ?? 0;
    at += marker === 0xff ? 1 : 2 + (((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0));
  }
  return 0;
}

/** Whether the visible pixels of an RGBA picture are nearly white. */
function isLight(pixels: Uint8Array): boolean {
  let light = 0;
  let visible = 0;
  for (let at = 0; at < pixels.length; at += 4) {
    const alpha = pixels[at + 3] ?? 0;
    visible += alpha;
    light += (alpha * ((pixels[at] ?? 0) + (pixels[at + 1] ?? 0) + (pixels[at + 2] ?? 0))) / 3;
  }
  return light > visible * LIGHT;
}

function dataKey(pdfium: Pdfium, image: PlacedImage, colorSpace: number): string | undefined {
  const data = imageData(pdfium, image.object, 'raw', DOCUMENT_LIMITS.pictureBytes * 4);
  if (!data) return undefined;
  const hash = createHash('sha256').update(data).digest('base64');
  return `${image.pixelWidth}x${image.pixelHeight} ${colorSpace} ${hash}`;
}

function imageData(pdfium: Pdfium, object: number, form: 'raw' | 'decoded', most: number): Uint8Array | undefined {
  const read = form === 'raw' ? pdfium.FPDFImageObj_GetImageDataRaw : pdfium.FPDFImageObj_GetImageDataDecoded;
  const size = read(object, 0, 0);
  if (size <= 0 || size > most) return undefined;
  const buffer = pdfium.malloc(size);
  if (buffer === 0) return undefined;
  try {
    read(object, buffer, size);
    return pdfium.heap.u8.slice(buffer, buffer + size);
  } finally {
    pdfium.free(buffer);
  }
}

/** The pixels of an image under its mask, one for each stored pixel. */
function renderImage({ pdfium, frame }: Walk, image: PlacedImage): PixelPicture | undefined {
  const { object, pixelWidth, pixelHeight } = image;
  const s = frame.scratch;
  if (!pdfium.FPDFPageObj_GetMatrix(object, s)) return undefined;
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = pdfium.heap.f32.slice(s >> 2, (s >> 2) + 6);
  // PDFium renders an image at a pixel for each unit of its matrix.
  pdfium.FPDFImageObj_SetMatrix(object, pixelWidth, 0, 0, pixelHeight, 0, 0);
  try {
    const bitmap = pdfium.FPDFImageObj_GetRenderedBitmap(frame.document, frame.page, object);
    return bitmap === 0 ? undefined : takeBitmap(pdfium, bitmap, false);
  } finally {
    pdfium.FPDFImageObj_SetMatrix(object, a, b, c, d, e, f);
  }
}

/** Draws what the page shows in the box. */
function drawRegion({ pdfium, frame, box, images }: Walk): PagePicture | undefined {
  const region = {
    x0: Math.max(0, box.x0),
    y0: Math.max(0, box.y0),
    x1: Math.min(frame.width, box.x1),
    y1: Math.min(frame.height, box.y1),
  };
  const own = images.map(
    (image) => Math.sqrt((image.pixelWidth * image.pixelHeight) / Math.max(1, area(image.box))) * 72,
  );
  const wanted = images.length === 0 ? DRAWING_DPI : Math.min(MAX_DPI, Math.max(72, ...own));
  const most = Math.sqrt(DOCUMENT_LIMITS.picturePixels / Math.max(1, area(region))) * 72;
  const scale = Math.min(wanted, most) / 72;
  const width = Math.round((region.x1 - region.x0) * scale);
  const height = Math.round((region.y1 - region.y0) * scale);
  if (width < 1 || height < 1) return undefined;
  const bitmap = pdfium.FPDFBitmap_CreateEx(width, height, BITMAP_BGRX, 0, 0);
  if (bitmap === 0) return undefined;
  pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, 0xffffffff);
  pdfium.FPDF_RenderPageBitmap(
    bitmap,
    frame.page,
    -Math.round(region.x0 * scale),
    -Math.round(region.y0 * scale),
    Math.round(frame.width * scale),
    Math.round(frame.height * scale),
    0,
    RENDER_ANNOTATIONS,
  );
  return takeBitmap(pdfium, bitmap, true);
}

/** Copies the pixels of a bitmap with as few channels as they need, and frees the bitmap. */
function takeBitmap(pdfium: Pdfium, bitmap: number, opaque: boolean): PixelPicture | undefined {
  try {
    const format = pdfium.FPDFBitmap_GetFormat(bitmap);
    const size = PIXEL_BYTES[format];
    const width = pdfium.FPDFBitmap_GetWidth(bitmap);
    const height = pdfium.FPDFBitmap_GetHeight(bitmap);
    if (!size || width < 1 || height < 1) return undefined;
    const stride = pdfium.FPDFBitmap_GetStride(bitmap);
    const start = pdfium.FPDFBitmap_GetBuffer(bitmap);
    const source = pdfium.heap.u8.subarray(start, start + stride * height);
    const { grey, transparent } = surveyPixels(source, { width, height, stride, size });
    const channels = !opaque && format === BITMAP_BGRA && transparent ? 4 : grey ? 1 : 3;
    const pixels = new Uint8Array(width * height * channels);
    for (let y = 0, to = 0; y < height; y++) {
      let from = y * stride;
      for (let x = 0; x < width; x++, from += size) {
        if (channels === 1) pixels[to++] = source[from] ?? 0;
        else {
          pixels[to++] = source[from + (size === 1 ? 0 : 2)] ?? 0;
          pixels[to++] = source[from + (size === 1 ? 0 : 1)] ?? 0;
          pixels[to++] = source[from] ?? 0;
          if (channels === 4) pixels[to++] = source[from + 3] ?? 0;
        }
      }
    }
    return { kind: 'pixels', width, height, channels, pixels };
  } finally {
    pdfium.FPDFBitmap_Destroy(bitmap);
  }
}

function surveyPixels(
  source: Uint8Array,
  { width, height, stride, size }: { width: number; height: number; stride: number; size: 1 | 3 | 4 },
): { grey: boolean; transparent: boolean } {
  if (size === 1) return { grey: true, transparent: false };
  let grey = true;
  let transparent = false;
  for (let y = 0; y < height; y++)
    for (let at = y * stride, end = at + width * size; at < end; at += size) {
      if (source[at] !== source[at + 1] || source[at] !== source[at + 2]) grey = false;
      if (size === 4 && source[at + 3] !== 255) transparent = true;
      if (!grey && transparent) return { grey, transparent };
    }
  return { grey, transparent };
}
