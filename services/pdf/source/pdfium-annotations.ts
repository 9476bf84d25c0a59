// Makes what form fields and annotations show part of their page, so that filled-in forms are read as a viewer shows them.
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import type { Pdfium } from './pdfium-module.ts';

/** FPDF_ANNOTATION_SUBTYPE (fpdf_annot.h). */
const FREE_TEXT = 3;
const HIGHLIGHT = 9;
const STRIKE_OUT = 12;
const STAMP = 13;
const WIDGET = 20;
/** FLAT_NORMALDISPLAY and FLATTEN_FAIL (fpdf_flatten.h). */
const NORMAL_DISPLAY = 0;
const FAILED = 0;

/** The form of an open document: PDFium draws the fields that carry no picture of their own. Scripts are not run: the module has no engine for them. */
export class FormFields {
  readonly #pdfium: Pdfium;
  readonly #info: number;
  readonly #handle: number;

  /** @param document with a form (FPDF_GetFormType over 0) */
  constructor(pdfium: Pdfium, document: number) {
    this.#pdfium = pdfium;
    this.#info = pdfium.PDFiumExt_OpenFormFillInfo();
    this.#handle = pdfium.PDFiumExt_InitFormFillEnvironment(document, this.#info);
  }

  pageLoaded(page: number): void {
    if (this.#handle !== 0) this.#pdfium.FORM_OnAfterLoadPage(page, this.#handle);
  }

  pageLeft(page: number): void {
    if (this.#handle !== 0) this.#pdfium.FORM_OnBeforeClosePage(page, this.#handle);
  }

  close(): void {
    if (this.#handle !== 0) this.#pdfium.PDFiumExt_ExitFormFillEnvironment(this.#handle);
    this.#pdfium.PDFiumExt_CloseFormFillInfo(this.#info);
  }
}

/** Whether a page has fields, free text or stamps. */
export function showsAnnotations(pdfium: Pdfium, page: number): boolean {
  const count = Math.min(pdfium.FPDFPage_GetAnnotCount(page), DOCUMENT_LIMITS.pdfPageAnnotations);
  for (let n = 0; n < count; n++) {
    const subtype = subtypeOf(pdfium, page, n);
    if (subtype === WIDGET || subtype === FREE_TEXT || subtype === STAMP) return true;
  }
  return false;
}

/**
 * Paints a page's annotations onto it, hidden ones and pop-ups left out; the page must be loaded anew to see them.
 * @returns whether the page changed
 */
export function paintAnnotations(pdfium: Pdfium, page: number, form: FormFields | undefined): boolean {
  // Text that somebody marked is no shaded table row.
  for (let n = Math.min(pdfium.FPDFPage_GetAnnotCount(page), DOCUMENT_LIMITS.pdfPageAnnotations) - 1; n >= 0; n--) {
    const subtype = subtypeOf(pdfium, page, n);
    if (subtype >= HIGHLIGHT && subtype <= STRIKE_OUT) pdfium.FPDFPage_RemoveAnnot(page, n);
  }
  form?.pageLoaded(page);
  const result = pdfium.FPDFPage_Flatten(page, NORMAL_DISPLAY);
  form?.pageLeft(page);
  return result !== FAILED;
}

function subtypeOf(pdfium: Pdfium, page: number, index: number): number {
  const annotation = pdfium.FPDFPage_GetAnnot(page, index);
  if (annotation === 0) return 0;
  const subtype = pdfium.FPDFAnnot_GetSubtype(annotation);
  pdfium.FPDFPage_CloseAnnot(annotation);
  return subtype;
}
