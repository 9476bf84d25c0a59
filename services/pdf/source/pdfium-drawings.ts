// Reads the boxes of the lines and areas that a page draws, from which figures that are no images are found.
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { type Box, concatenate, type Matrix } from './geometry.ts';
import { objectBounds, objectMatrix } from './pdfium-geometry.ts';
import type { Pdfium } from './pdfium-module.ts';

const PATH = 2;
const SHADING = 4;
const FORM = 5;

/**
 * The boxes of all drawn paths and shadings, in the displayed frame.
 * @param display user space to the displayed frame
 * @returns undefined above DOCUMENT_LIMITS.pdfPageDrawings
 */
export function readDrawings(pdfium: Pdfium, page: number, display: Matrix, scratch: number): Box[] | undefined {
  const boxes: Box[] = [];
  let objects = 0;
  const visit = (object: number, toPage: Matrix, depth: number): void => {
    objects++;
    if (object === 0 || objects > DOCUMENT_LIMITS.pdfPageObjects) return;
    const type = pdfium.FPDFPageObj_GetType(object);
    if (type === FORM && depth < DOCUMENT_LIMITS.pdfFormDepth) {
      const inner = concatenate(objectMatrix(pdfium, object, scratch), toPage);
      const count = pdfium.FPDFFormObj_CountObjects(object);
      for (let n = 0; n < count && objects <= DOCUMENT_LIMITS.pdfPageObjects; n++)
        visit(pdfium.FPDFFormObj_GetObject(object, n), inner, depth + 1);
    } else if (type === SHADING || (type === PATH && isPainted(pdfium, object, scratch))) {
      const box = objectBounds(pdfium, object, toPage, scratch);
      if (box) boxes.push(box);
    }
  };
  const count = pdfium.FPDFPage_CountObjects(page);
  for (let n = 0; n < count && boxes.length <= DOCUMENT_LIMITS.pdfPageDrawings; n++)
    visit(pdfium.FPDFPage_GetObject(page, n), display, 0);
  return boxes.length > DOCUMENT_LIMITS.pdfPageDrawings || objects > DOCUMENT_LIMITS.pdfPageObjects ? undefined : boxes;
}

function isPainted(pdfium: Pdfium, object: number, scratch: number): boolean {
  if (!pdfium.FPDFPath_GetDrawMode(object, scratch, scratch + 4)) return false;
  const { i32 } = pdfium.heap;
  return i32[scratch >> 2] !== 0 || i32[(scratch >> 2) + 1] !== 0;
}
