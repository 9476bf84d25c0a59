// Makes what form fields and annotations show part of their page, so that filled-in forms are read as a viewer shows them.
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import type { Note, Shown } from './annotation-words.ts';
import { type Box, type Matrix, mapBox } from './geometry.ts';
import { attachedName } from './pdfium-attachments.ts';
import { copyIn, decodeUtf16, type Pdfium, readSized } from './pdfium-module.ts';

/** FPDF_ANNOTATION_SUBTYPE (fpdf_annot.h). */
const FREE_TEXT = 3;
const HIGHLIGHT = 9;
const STRIKE_OUT = 12;
const STAMP = 13;
const FILE_ATTACHMENT = 17;
const WIDGET = 20;
const SHOWN = new Set([WIDGET, FREE_TEXT, STAMP, FILE_ATTACHMENT]);
/** FLAT_NORMALDISPLAY and FLATTEN_FAIL (fpdf_flatten.h). */
const NORMAL_DISPLAY = 0;
const FAILED = 0;
/** FPDF_FORMFIELD_CHECKBOX and FPDF_FORMFIELD_RADIOBUTTON (fpdf_formfill.h). */
const CHECK_BOX = 2;
const RADIO_BUTTON = 3;
/** FPDF_ANNOT_FLAG_HIDDEN and NOVIEW (fpdf_annot.h). */
const UNSEEN = 0x02 | 0x20;
/** FPDF_ANNOT_APPEARANCEMODE_NORMAL. */
const NORMAL = 0;
/** Type of a note that does not say its own, in points. */
const NOTE_SIZE = 12;
/** Type of the name of a file, in points: that of a label. */
const LABEL_SIZE = 8;

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

  /** Whether a widget is ticked; undefined for one that cannot be. */
  ticked(annotation: number): boolean | undefined {
    if (this.#handle === 0) return undefined;
    const type = this.#pdfium.FPDFAnnot_GetFormFieldType(this.#handle, annotation);
    if (type !== CHECK_BOX && type !== RADIO_BUTTON) return undefined;
    return this.#pdfium.FPDFAnnot_IsChecked(this.#handle, annotation) !== 0;
  }

  close(): void {
    if (this.#handle !== 0) this.#pdfium.PDFiumExt_ExitFormFillEnvironment(this.#handle);
    this.#pdfium.PDFiumExt_CloseFormFillInfo(this.#info);
  }
}

/** Whether a page has fields, free text, stamps or files. */
export function showsAnnotations(pdfium: Pdfium, page: number): boolean {
  const count = Math.min(pdfium.FPDFPage_GetAnnotCount(page), DOCUMENT_LIMITS.pdfPageAnnotations);
  for (let n = 0; n < count; n++) {
    const subtype = subtypeOf(pdfium, page, n);
    if (SHOWN.has(subtype)) return true;
  }
  return false;
}

/**
 * Paints a page's annotations onto it, hidden ones and pop-ups left out; the page must be loaded anew to see them.
 * @param scratch 16 bytes of module memory
 * @returns what a viewer shows besides what was painted, in the order of the annotations; undefined where nothing could be painted
 */
export function paintAnnotations(
  pdfium: Pdfium,
  page: number,
  form: FormFields | undefined,
  display: Matrix,
  scratch: number,
): Shown[] | undefined {
  const shown: Shown[] = [];
  let letters = 0;
  form?.pageLoaded(page);
  for (let n = Math.min(pdfium.FPDFPage_GetAnnotCount(page), DOCUMENT_LIMITS.pdfPageAnnotations) - 1; n >= 0; n--) {
    const annotation = pdfium.FPDFPage_GetAnnot(page, n);
    if (annotation === 0) continue;
    const subtype = pdfium.FPDFAnnot_GetSubtype(annotation);
    const seen = (pdfium.FPDFAnnot_GetFlags(annotation) & UNSEEN) === 0;
    if (seen && subtype === FILE_ATTACHMENT && letters < DOCUMENT_LIMITS.pdfPageCharacters) {
      const note = fileNote(pdfium, annotation, display, scratch);
      letters += note?.text.length ?? 0;
      if (note) shown.push(note);
    }
    if (seen && (subtype === WIDGET || subtype === FREE_TEXT)) {
      const checked = subtype === WIDGET ? form?.ticked(annotation) : undefined;
      const bare = subtype === FREE_TEXT && pdfium.EPDFAnnot_HasAppearanceStream(annotation, NORMAL) === 0;
      if ((checked !== undefined || bare) && pdfium.FPDFAnnot_GetRect(annotation, scratch)) {
        const box = rectOf(pdfium, display, scratch);
        if (checked !== undefined) shown.push({ box, checked });
        else if (letters < DOCUMENT_LIMITS.pdfPageCharacters) {
          const note = { box, text: readString(pdfium, annotation, 'Contents'), size: noteSize(pdfium, annotation) };
          letters += note.text.length;
          shown.push(note);
        }
      }
    }
    pdfium.FPDFPage_CloseAnnot(annotation);
    // Text that somebody marked is no shaded table row.
    if (subtype >= HIGHLIGHT && subtype <= STRIKE_OUT) pdfium.FPDFPage_RemoveAnnot(page, n);
  }
  const result = pdfium.FPDFPage_Flatten(page, NORMAL_DISPLAY);
  form?.pageLeft(page);
  return result === FAILED ? undefined : shown.reverse();
}

/** The name of a file, right of the sign that a viewer shows for it. @param scratch 16 bytes of module memory */
function fileNote(pdfium: Pdfium, annotation: number, display: Matrix, scratch: number): Note | undefined {
  const text = attachedName(pdfium, annotation);
  if (text === '' || !pdfium.FPDFAnnot_GetRect(annotation, scratch)) return undefined;
  const { x1, y0 } = rectOf(pdfium, display, scratch);
  return { box: { x0: x1, x1: x1 + text.length * LABEL_SIZE, y0, y1: y0 + LABEL_SIZE }, text, size: LABEL_SIZE };
}

/** An FS_RECTF (left, top, right, bottom) in the displayed frame. */
function rectOf(pdfium: Pdfium, display: Matrix, at: number): Box {
  const [left = 0, top = 0, right = 0, bottom = 0] = pdfium.heap.f32.subarray(at >> 2, (at >> 2) + 4);
  return mapBox(display, left, bottom, right, top);
}

/** Type of a note as its default appearance has it (ISO 32000-1, 12.7.3.3), in points. */
function noteSize(pdfium: Pdfium, annotation: number): number {
  const size = Number(/([\d.]+)\s+Tf/.exec(readString(pdfium, annotation, 'DA'))?.[1]);
  return size >= 1 && size <= 200 ? size : NOTE_SIZE;
}

function readString(pdfium: Pdfium, annotation: number, key: string): string {
  const name = copyIn(pdfium, new TextEncoder().encode(`${key}\u0000`));
  const text = decodeUtf16(
    readSized(pdfium, (buffer, size) => pdfium.FPDFAnnot_GetStringValue(annotation, name, buffer, size)),
  );
  pdfium.free(name);
  return text;
}

function subtypeOf(pdfium: Pdfium, page: number, index: number): number {
  const annotation = pdfium.FPDFPage_GetAnnot(page, index);
  if (annotation === 0) return 0;
  const subtype = pdfium.FPDFAnnot_GetSubtype(annotation);
  pdfium.FPDFPage_CloseAnnot(annotation);
  return subtype;
}
