// Reads the matrix and the bounds of one painted object out of PDFium.
import { type Box, type Matrix, mapBox } from './geometry.ts';
import type { Pdfium } from './pdfium-module.ts';

/** @param scratch 24 bytes of module memory */
export function objectMatrix(pdfium: Pdfium, object: number, scratch: number): Matrix {
  if (!pdfium.FPDFPageObj_GetMatrix(object, scratch)) return { a: 1, b: 0, c: 0, d: 1, e: 0, f: 0 };
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = pdfium.heap.f32.subarray(scratch >> 2, (scratch >> 2) + 6);
  return { a, b, c, d, e, f };
}

/** The bounds of an object in the displayed frame. @param scratch 16 bytes of module memory */
export function objectBounds(pdfium: Pdfium, object: number, toPage: Matrix, scratch: number): Box | undefined {
  if (!pdfium.FPDFPageObj_GetBounds(object, scratch, scratch + 4, scratch + 8, scratch + 12)) return undefined;
  const [x0 = 0, y0 = 0, x1 = 0, y1 = 0] = pdfium.heap.f32.subarray(scratch >> 2, (scratch >> 2) + 4);
  return mapBox(toPage, x0, y0, x1, y1);
}
