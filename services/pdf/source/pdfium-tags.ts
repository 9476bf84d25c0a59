// Reads out of a tagged page what the file says in words of what has none, or wrong ones: descriptions of pictures, and the text that glyphs stand for (ISO 32000-1, 14.9).
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { copyIn, decodeUtf16, type Pdfium, readSized } from './pdfium-module.ts';

/** One text of the file; the same object for all marked content that it is said of. */
export interface Told {
  text: string;
}

/** By marked-content id; undefined where a page has none. */
export interface PageTags {
  descriptions: ReadonlyMap<number, Told> | undefined;
  actualTexts: ReadonlyMap<number, Told> | undefined;
}

const NO_TAGS: PageTags = { descriptions: undefined, actualTexts: undefined };

/** Whether a file may say anything that is looked for in its tags: most name neither key, in plain sight, and need no walk over their trees. */
export function mayTell(bytes: Uint8Array): boolean {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return ['/Alt', '/ActualText', '/ObjStm'].some((key) => file.includes(key, 0, 'latin1'));
}

/** /Alt of figures and /ActualText in a page's structure tree; order and nesting of the tree are not asked (fixtures/pdf/tagged-described.pdf). */
export function readTags(pdfium: Pdfium, page: number): PageTags {
  const tree = pdfium.FPDF_StructTree_GetForPage(page);
  if (tree === 0) return NO_TAGS;
  const descriptions = new Map<number, Told>();
  const actualTexts = new Map<number, Told>();
  const open: { element: number; description: Told | undefined; actual: Told | undefined }[] = [];
  try {
    for (let n = pdfium.FPDF_StructTree_CountChildren(tree) - 1; n >= 0; n--)
      open.push({
        element: pdfium.FPDF_StructTree_GetChildAtIndex(tree, n),
        description: undefined,
        actual: undefined,
      });
    let seen = 0;
    for (let one = open.pop(); one && seen < DOCUMENT_LIMITS.pdfPageTags; one = open.pop()) {
      const { element } = one;
      if (element === 0) continue;
      seen++;
      const alt = textOf((buffer, size) => pdfium.FPDF_StructElement_GetAltText(element, buffer, size), pdfium);
      const actual =
        textOf((buffer, size) => pdfium.FPDF_StructElement_GetActualText(element, buffer, size), pdfium) ?? one.actual;
      const description = alt && isFigure(pdfium, element) ? alt : one.description;
      const count = Math.min(pdfium.FPDF_StructElement_CountChildren(element), DOCUMENT_LIMITS.pdfPageTags);
      for (let n = 0; n < count && open.length < DOCUMENT_LIMITS.pdfPageTags; n++) {
        const child = pdfium.FPDF_StructElement_GetChildAtIndex(element, n);
        if (child !== 0) open.push({ element: child, description, actual });
        else if (description || actual) {
          const id = pdfium.FPDF_StructElement_GetChildMarkedContentID(element, n);
          if (id >= 0 && description) descriptions.set(id, description);
          if (id >= 0 && actual) actualTexts.set(id, actual);
        }
      }
    }
  } finally {
    pdfium.FPDF_StructTree_Close(tree);
  }
  return {
    descriptions: descriptions.size > 0 ? descriptions : undefined,
    actualTexts: actualTexts.size > 0 ? actualTexts : undefined,
  };
}

function isFigure(pdfium: Pdfium, element: number): boolean {
  const type = readSized(pdfium, (buffer, size) => pdfium.FPDF_StructElement_GetType(element, buffer, size));
  return decodeUtf16(type) === 'Figure';
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
