// Reads the structure tree of a tagged page: what each piece of the page is, descriptions of pictures, and the text that glyphs stand for (ISO 32000-1, 14.7 to 14.9).
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { copyIn, decodeUtf16, type Pdfium, readSized } from './pdfium-module.ts';
import type { StructureElement } from './structure.ts';

/** One text of the file; the same object for all marked content that it is said of. */
export interface Told {
  text: string;
}

/** By marked-content id; undefined where a page has none. */
export interface PageTags {
  descriptions: ReadonlyMap<number, Told> | undefined;
  actualTexts: ReadonlyMap<number, Told> | undefined;
  elements: ReadonlyMap<number, StructureElement> | undefined;
}

const NO_TAGS: PageTags = { descriptions: undefined, actualTexts: undefined, elements: undefined };

/** Whether the tags of a file may have texts: most files name neither key, and need no search for them in each element. */
export function mayTell(bytes: Uint8Array): boolean {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return ['/Alt', '/ActualText', '/ObjStm'].some((key) => file.includes(key, 0, 'latin1'));
}

/** An element whose children are not read yet. */
interface OpenElement {
  handle: number;
  element: StructureElement;
  description: Told | undefined;
  actual: Told | undefined;
}

/**
 * Reads the structure tree of a page: elements, and the /Alt of figures and /ActualText (fixtures/pdf/tagged-described.pdf).
 * @param texts whether the file may have /Alt or /ActualText
 * @param scratch NAME_BYTES bytes of module memory
 */
export function readTags(pdfium: Pdfium, page: number, texts: boolean, scratch: number): PageTags {
  const tree = pdfium.FPDF_StructTree_GetForPage(page);
  if (tree === 0) return NO_TAGS;
  const descriptions = new Map<number, Told>();
  const actualTexts = new Map<number, Told>();
  const elements = new Map<number, StructureElement>();
  const open: OpenElement[] = [];
  let seen = 0;
  const enter = (handle: number, parent?: OpenElement): StructureElement => {
    const element = readElement(pdfium, handle, parent?.element, scratch);
    const alt =
      texts && element.type === 'Figure'
        ? textOf((buffer, size) => pdfium.FPDF_StructElement_GetAltText(handle, buffer, size), pdfium)
        : undefined;
    const actual = texts
      ? textOf((buffer, size) => pdfium.FPDF_StructElement_GetActualText(handle, buffer, size), pdfium)
      : undefined;
    open.push({ handle, element, description: alt ?? parent?.description, actual: actual ?? parent?.actual });
    seen++;
    return element;
  };
  try {
    for (let n = 0; n < pdfium.FPDF_StructTree_CountChildren(tree) && seen < DOCUMENT_LIMITS.pdfPageTags; n++) {
      const handle = pdfium.FPDF_StructTree_GetChildAtIndex(tree, n);
      if (handle !== 0) enter(handle);
    }
    for (let one = open.pop(); one; one = open.pop()) {
      const { handle, element, description, actual } = one;
      const count = Math.min(pdfium.FPDF_StructElement_CountChildren(handle), DOCUMENT_LIMITS.pdfPageTags);
      for (let n = 0; n < count && seen < DOCUMENT_LIMITS.pdfPageTags; n++) {
        const child = pdfium.FPDF_StructElement_GetChildAtIndex(handle, n);
        if (child !== 0) {
          element.children.push(enter(child, one));
          continue;
        }
        const id = pdfium.FPDF_StructElement_GetChildMarkedContentID(handle, n);
        if (id < 0) {
          element.children.push(undefined);
          continue;
        }
        elements.set(id, element);
        if (description) descriptions.set(id, description);
        if (actual) actualTexts.set(id, actual);
      }
    }
  } finally {
    pdfium.FPDF_StructTree_Close(tree);
  }
  return {
    descriptions: descriptions.size > 0 ? descriptions : undefined,
    actualTexts: actualTexts.size > 0 ? actualTexts : undefined,
    elements,
  };
}

/** Attribute objects of an element that are looked at: one for each owner, and few owners exist. */
const MAX_ATTRIBUTES = 16;

function readElement(
  pdfium: Pdfium,
  handle: number,
  parent: StructureElement | undefined,
  scratch: number,
): StructureElement {
  const type = typeName(pdfium, handle, scratch);
  const isCell = type === 'TD' || type === 'TH';
  return {
    type,
    parent,
    children: [],
    rowspan: isCell ? readSpan(pdfium, handle, 'RowSpan', scratch) : 1,
    colspan: isCell ? readSpan(pdfium, handle, 'ColSpan', scratch) : 1,
  };
}

/** Room for the longest name of a standard structure type in UTF-16; others are mapped to them. */
const NAME_BYTES = 64;

/** @param scratch NAME_BYTES bytes of module memory */
function typeName(pdfium: Pdfium, handle: number, scratch: number): string {
  const size = pdfium.FPDF_StructElement_GetType(handle, scratch, NAME_BYTES);
  if (size <= 0 || size > NAME_BYTES) return '';
  return decodeUtf16(pdfium.heap.u8.slice(scratch, scratch + size));
}

/** Greatest span of a cell: as in HTML. */
const MAX_SPAN = 1_000;

function readSpan(pdfium: Pdfium, handle: number, name: 'RowSpan' | 'ColSpan', scratch: number): number {
  const count = Math.min(pdfium.FPDF_StructElement_GetAttributeCount(handle), MAX_ATTRIBUTES);
  if (count <= 0) return 1;
  const key = copyIn(pdfium, new TextEncoder().encode(`${name}\u0000`));
  try {
    for (let n = 0; n < count; n++) {
      const attributes = pdfium.FPDF_StructElement_GetAttributeAtIndex(handle, n);
      const value = attributes === 0 ? 0 : pdfium.FPDF_StructElement_Attr_GetValue(attributes, key);
      if (value === 0 || !pdfium.FPDF_StructElement_Attr_GetNumberValue(value, scratch)) continue;
      const span = pdfium.heap.f32[scratch >> 2] ?? 1;
      if (span >= 1 && span <= MAX_SPAN) return Math.round(span);
    }
    return 1;
  } finally {
    pdfium.free(key);
  }
}

function textOf(fill: (buffer: number, size: number) => number, pdfium: Pdfium): Told | undefined {
  const text = tidy(decodeUtf16(readSized(pdfium, fill)));
  return text === '' ? undefined : { text };
}

const tidy = (text: string) =>
  text
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, DOCUMENT_LIMITS.pdfMetadataLength);

/** What the glyphs of a page's text objects stand for, where the file says so beside them. */
export class ActualTexts {
  readonly #pdfium: Pdfium;
  readonly #byId: PageTags['actualTexts'];
  readonly #scratch: number;
  /** By mark, which all objects of one marked content share. */
  readonly #marks = new Map<number, Told | undefined>();

  /** @param scratch 4 bytes of module memory */
  constructor(pdfium: Pdfium, byId: PageTags['actualTexts'], scratch: number) {
    this.#pdfium = pdfium;
    this.#byId = byId;
    this.#scratch = scratch;
  }

  /**
   * The text of an object whose glyphs have names: of one word only, since a paragraph that is said anew is better read where it stands.
   * PDFium itself reads what is said beside the glyphs in the content.
   */
  ofNamed(object: number): Told | undefined {
    if (!this.#byId || object === 0) return undefined;
    const told = this.#byId.get(this.#pdfium.FPDFPageObj_GetMarkedContentID(object));
    return told && !told.text.includes(' ') ? told : undefined;
  }

  /** The text of an object whose glyphs have none. */
  ofUnnamed(object: number): Told | undefined {
    if (object === 0) return undefined;
    const pdfium = this.#pdfium;
    const told = this.#byId?.get(pdfium.FPDFPageObj_GetMarkedContentID(object));
    if (told) return told;
    for (let n = pdfium.FPDFPageObj_CountMarks(object) - 1; n >= 0; n--) {
      const mark = pdfium.FPDFPageObj_GetMark(object, n);
      if (!this.#marks.has(mark)) this.#marks.set(mark, this.#readMark(mark));
      const own = this.#marks.get(mark);
      if (own) return own;
    }
    return undefined;
  }

  #readMark(mark: number): Told | undefined {
    const pdfium = this.#pdfium;
    const key = copyIn(pdfium, new TextEncoder().encode('ActualText\u0000'));
    try {
      return textOf((buffer, size) => {
        if (!pdfium.FPDFPageObjMark_GetParamStringValue(mark, key, buffer, size, this.#scratch)) return 0;
        return pdfium.heap.i32[this.#scratch >> 2] ?? 0;
      }, pdfium);
    } finally {
      pdfium.free(key);
    }
  }
}

/** What the tags say of the text objects of a page. */
export class TaggedObjects {
  readonly #pdfium: Pdfium;
  readonly #elements: NonNullable<PageTags['elements']>;
  readonly #scratch: number;
  /** Objects of form XObjects, whose marked-content ids are their own, with what the tags say of the form. */
  readonly #inForms = new Map<number, StructureElement | 'artifact' | undefined>();

  /** @param scratch NAME_BYTES bytes of module memory */
  constructor(pdfium: Pdfium, page: number, elements: NonNullable<PageTags['elements']>, scratch: number) {
    this.#pdfium = pdfium;
    this.#elements = elements;
    this.#scratch = scratch;
    const count = Math.min(pdfium.FPDFPage_CountObjects(page), DOCUMENT_LIMITS.pdfPageObjects);
    for (let n = 0; n < count; n++) {
      const object = pdfium.FPDFPage_GetObject(page, n);
      if (object !== 0 && pdfium.FPDFPageObj_GetType(object) === FORM_OBJECT)
        this.#enterForm(object, this.of(object), 0);
    }
  }

  #enterForm(form: number, said: StructureElement | 'artifact' | undefined, depth: number): void {
    const pdfium = this.#pdfium;
    const count = pdfium.FPDFFormObj_CountObjects(form);
    for (let n = 0; n < count && this.#inForms.size < DOCUMENT_LIMITS.pdfPageObjects; n++) {
      const object = pdfium.FPDFFormObj_GetObject(form, n);
      if (object === 0) continue;
      this.#inForms.set(object, said);
      if (depth < DOCUMENT_LIMITS.pdfFormDepth && pdfium.FPDFPageObj_GetType(object) === FORM_OBJECT)
        this.#enterForm(object, said, depth + 1);
    }
  }

  /** The element that has an object, or that the object is an artifact. */
  of(object: number): StructureElement | 'artifact' | undefined {
    if (object === 0) return undefined;
    if (this.#inForms.has(object)) return this.#inForms.get(object);
    const id = this.#pdfium.FPDFPageObj_GetMarkedContentID(object);
    if (id >= 0) return this.#elements.get(id);
    for (let n = this.#pdfium.FPDFPageObj_CountMarks(object) - 1; n >= 0; n--)
      if (this.#isArtifact(this.#pdfium.FPDFPageObj_GetMark(object, n))) return 'artifact';
    return undefined;
  }

  #isArtifact(mark: number): boolean {
    const { heap, FPDFPageObjMark_GetName } = this.#pdfium;
    const buffer = this.#scratch + 4;
    if (mark === 0 || !FPDFPageObjMark_GetName(mark, buffer, NAME_BYTES - 4, this.#scratch)) return false;
    const size = heap.i32[this.#scratch >> 2] ?? 0;
    return decodeUtf16(heap.u8.slice(buffer, buffer + size)) === 'Artifact';
  }
}

/** FPDF_PAGEOBJ_FORM (fpdf_edit.h). */
const FORM_OBJECT = 5;
