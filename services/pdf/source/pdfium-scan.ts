// Takes the pixels of a page that is one picture, as scanners make them, out of the file as they are: to draw them costs as much again as to decode them.
import type { Box } from './geometry.ts';
import type { Pdfium } from './pdfium-module.ts';

const IMAGE = 3;
/** FPDFBitmap_GetFormat (fpdfview.h): bytes of a pixel by the formats that hold no transparency. */
const BYTES_A_PIXEL: Readonly<Record<number, 1 | 3 | 4>> = { 1: 1, 2: 3, 3: 4 };
/** Pixels by which the picture's edges may miss the page's. */
const MISS = 0.5;

/** Whether a picture of the file may have a mask or be one: image dictionaries, unlike others, always stand in plain sight (ISO 32000-2, 7.5.7). */
export function mayMask(bytes: Uint8Array): boolean {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return ['/SMask', '/Mask', '/ImageMask'].some((key) => file.includes(key, 0, 'latin1'));
}

/**
 * Grey pixels of a page, the same that drawing it would give, or undefined where it must be drawn: it shows more than one picture that fills it
 * upright and whole, or has another number of pixels.
 * Of a file without masks.
 * @param crop the visible page, in points of user space
 */
export function liftScan(
  pdfium: Pdfium,
  page: number,
  crop: Box,
  { width, height }: { width: number; height: number },
  scratch: number,
): Uint8Array | undefined {
  if (pdfium.FPDFPage_CountObjects(page) !== 1 || pdfium.FPDFPage_GetAnnotCount(page) > 0) return undefined;
  if (pdfium.FPDFPage_GetRotation(page) !== 0) return undefined;
  const object = pdfium.FPDFPage_GetObject(page, 0);
  if (pdfium.FPDFPageObj_GetType(object) !== IMAGE || pdfium.FPDFPageObj_HasTransparency(object)) return undefined;
  if (pdfium.FPDFClipPath_CountPaths(pdfium.FPDFPageObj_GetClipPath(object)) > 0) return undefined;
  if (!fills(pdfium, object, crop, width, scratch)) return undefined;
  if (!pdfium.FPDFImageObj_GetImagePixelSize(object, scratch, scratch + 4)) return undefined;
  const { i32 } = pdfium.heap;
  if (i32[scratch >> 2] !== width || i32[(scratch >> 2) + 1] !== height) return undefined;
  const bitmap = pdfium.FPDFImageObj_GetBitmap(object);
  if (bitmap === 0) return undefined;
  try {
    const size = BYTES_A_PIXEL[pdfium.FPDFBitmap_GetFormat(bitmap)];
    if (!size || pdfium.FPDFBitmap_GetWidth(bitmap) !== width || pdfium.FPDFBitmap_GetHeight(bitmap) !== height)
      return undefined;
    return readGreys(pdfium, bitmap, width, height, size);
  } finally {
    pdfium.FPDFBitmap_Destroy(bitmap);
  }
}

/** Whether the unit square of the picture becomes the visible page (ISO 32000-2, 8.9.5). */
function fills(pdfium: Pdfium, object: number, crop: Box, width: number, scratch: number): boolean {
  if (!pdfium.FPDFPageObj_GetMatrix(object, scratch)) return false;
  const [a, b, c, d, e, f] = pdfium.heap.f32.subarray(scratch >> 2, (scratch >> 2) + 6);
  const page = [crop.x1 - crop.x0, 0, 0, crop.y1 - crop.y0, crop.x0, crop.y0];
  const most = (MISS * (crop.x1 - crop.x0)) / width;
  return [a, b, c, d, e, f].every((value, n) => Math.abs((value ?? 0) - (page[n] ?? 0)) < most);
}

/** The greys of a bitmap; colours (blue, green, red) weigh as PDFium weighs them (FXRGB2GRAY in fx_dib.h). */
export function readGreys(pdfium: Pdfium, bitmap: number, width: number, height: number, size: 1 | 3 | 4): Uint8Array {
  const buffer = pdfium.FPDFBitmap_GetBuffer(bitmap);
  const stride = pdfium.FPDFBitmap_GetStride(bitmap);
  const heap = pdfium.heap.u8;
  const greys = new Uint8Array(width * height);
  for (let y = 0, target = 0; y < height; y++) {
    const row = buffer + y * stride;
    if (size === 1) greys.set(heap.subarray(row, row + width), y * width);
    else
      for (let at = row, end = row + width * size; at < end; at += size)
        greys[target++] = ((heap[at] ?? 0) * 11 + (heap[at + 1] ?? 0) * 59 + (heap[at + 2] ?? 0) * 30) / 100;
  }
  return greys;
}
