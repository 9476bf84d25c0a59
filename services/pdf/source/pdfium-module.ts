// Loads PDFium's WebAssembly module, gives its C functions their types, and makes a new one after an abort.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { init } from '@embedpdf/pdfium';
import { EngineCrashError } from './page-source.ts';

type Call = (...args: number[]) => number;

const FUNCTIONS = [
  'malloc',
  'free',
  'PDFiumExt_Init',
  'FPDF_LoadMemDocument',
  'FPDF_CloseDocument',
  'FPDF_GetLastError',
  'FPDF_GetPageCount',
  'FPDF_LoadPage',
  'FPDF_ClosePage',
  'FPDF_GetPageBoundingBox',
  'FPDFPage_GetRotation',
  'FPDF_GetPageWidthF',
  'FPDF_GetPageHeightF',
  'FPDF_GetMetaText',
  'FPDFCatalog_GetLanguage',
  'FPDFCatalog_IsTagged',
  'FPDF_StructTree_GetForPage',
  'FPDF_StructTree_Close',
  'FPDF_StructTree_CountChildren',
  'FPDF_StructTree_GetChildAtIndex',
  'FPDF_StructElement_GetType',
  'FPDF_StructElement_GetAltText',
  'FPDF_StructElement_GetActualText',
  'FPDF_StructElement_CountChildren',
  'FPDF_StructElement_GetChildAtIndex',
  'FPDF_StructElement_GetChildMarkedContentID',
  'FPDF_StructElement_GetAttributeCount',
  'FPDF_StructElement_GetAttributeAtIndex',
  'FPDF_StructElement_Attr_GetValue',
  'FPDF_StructElement_Attr_GetNumberValue',
  'FPDFPageObj_GetMarkedContentID',
  'FPDFPageObj_CountMarks',
  'FPDFPageObj_GetMark',
  'FPDFPageObjMark_GetName',
  'FPDFPageObjMark_GetParamStringValue',
  'FPDFBookmark_GetFirstChild',
  'FPDFBookmark_GetNextSibling',
  'FPDFBookmark_GetTitle',
  'FPDFBookmark_GetDest',
  'FPDFBookmark_GetAction',
  'FPDFAction_GetDest',
  'FPDFDest_GetDestPageIndex',
  'FPDFText_LoadPage',
  'FPDFText_ClosePage',
  'FPDFText_CountChars',
  'FPDFText_GetUnicode',
  'FPDFText_GetTextObject',
  'FPDFText_GetLooseCharBox',
  'FPDFText_GetCharBox',
  'FPDFText_GetCharOrigin',
  'FPDFText_GetMatrix',
  'FPDFText_GetFontSize',
  'FPDFText_HasUnicodeMapError',
  'FPDFTextObj_GetFont',
  'FPDFTextObj_GetTextRenderMode',
  'FPDFFont_GetBaseFontName',
  'FPDFFont_GetFlags',
  'FPDFFont_GetGlyphWidth',
  'FPDFFont_GetWeight',
  'FPDFPage_CountObjects',
  'FPDFPage_GetObject',
  'FPDFPageObj_GetType',
  'FPDFPageObj_GetBounds',
  'FPDFPageObj_GetMatrix',
  'FPDFPageObj_GetFillColor',
  'FPDFPageObj_GetStrokeColor',
  'FPDFPageObj_GetStrokeWidth',
  'FPDFFormObj_CountObjects',
  'FPDFFormObj_GetObject',
  'FPDFPath_GetDrawMode',
  'FPDFPath_CountSegments',
  'FPDFPath_GetPathSegment',
  'FPDFPathSegment_GetPoint',
  'FPDFPathSegment_GetType',
  'FPDFPathSegment_GetClose',
  'FPDFPageObj_HasTransparency',
  'FPDFPageObj_GetClipPath',
  'FPDFClipPath_CountPaths',
  'FPDFClipPath_CountPathSegments',
  'FPDFClipPath_GetPathSegment',
  'FPDFImageObj_GetImagePixelSize',
  'FPDFImageObj_GetBitmap',
  'FPDFImageObj_GetRenderedBitmap',
  'FPDFImageObj_GetImageDataRaw',
  'FPDFImageObj_GetImageDataDecoded',
  'FPDFImageObj_GetImageFilterCount',
  'FPDFImageObj_GetImageFilter',
  'FPDFImageObj_GetImageMetadata',
  'FPDFImageObj_SetMatrix',
  'FPDFPage_GetAnnotCount',
  'FPDFPage_GetAnnot',
  'FPDFPage_CloseAnnot',
  'FPDFPage_RemoveAnnot',
  'FPDFAnnot_GetSubtype',
  'FPDFAnnot_GetFlags',
  'FPDFAnnot_GetRect',
  'FPDFAnnot_GetFormFieldType',
  'FPDFAnnot_IsChecked',
  'EPDFAnnot_HasAppearanceStream',
  'FPDFAnnot_GetStringValue',
  'FPDFPage_Flatten',
  'FPDFAnnot_GetFileAttachment',
  'FPDFDoc_GetAttachmentCount',
  'FPDFDoc_GetAttachment',
  'FPDFAttachment_GetName',
  'FPDF_GetFormType',
  'PDFiumExt_OpenFormFillInfo',
  'PDFiumExt_CloseFormFillInfo',
  'PDFiumExt_InitFormFillEnvironment',
  'PDFiumExt_ExitFormFillEnvironment',
  'FORM_OnAfterLoadPage',
  'FORM_OnBeforeClosePage',
  'FPDFLink_Enumerate',
  'FPDFLink_GetAnnotRect',
  'FPDFLink_GetAction',
  'FPDFAction_GetType',
  'FPDFAction_GetURIPath',
  'FPDFBitmap_CreateEx',
  'FPDFBitmap_FillRect',
  'FPDFBitmap_GetFormat',
  'FPDFBitmap_GetWidth',
  'FPDFBitmap_GetHeight',
  'FPDFBitmap_GetBuffer',
  'FPDFBitmap_GetStride',
  'FPDFBitmap_Destroy',
  'FPDF_RenderPageBitmap',
] as const;

/** The exported C functions (fpdfview.h, fpdf_text.h, fpdf_edit.h, fpdf_doc.h, fpdf_structtree.h, fpdf_annot.h, fpdf_flatten.h, fpdf_formfill.h) and the memory they share with us. */
export type Pdfium = Record<(typeof FUNCTIONS)[number], Call> & { readonly heap: Heap };

/** The module's memory. Views change when it grows: read them anew after every call that may take memory. */
class Heap {
  readonly #module: RawModule;
  #i32: Int32Array;
  #f32: Float32Array;
  #f64: Float64Array;

  constructor(module: RawModule) {
    this.#module = module;
    this.#i32 = module.HEAP32;
    this.#f32 = module.HEAPF32;
    this.#f64 = module.HEAPF64;
  }

  // A view whose memory has moved has no length; the module's own properties are slow to look up for every character.
  get i32(): Int32Array {
    if (this.#i32.length === 0) this.#i32 = this.#module.HEAP32;
    return this.#i32;
  }

  get f32(): Float32Array {
    if (this.#f32.length === 0) this.#f32 = this.#module.HEAPF32;
    return this.#f32;
  }

  get f64(): Float64Array {
    if (this.#f64.length === 0) this.#f64 = this.#module.HEAPF64;
    return this.#f64;
  }

  get u8(): Uint8Array {
    return this.#module.HEAPU8;
  }
}

let loading: Promise<Pdfium> | undefined;

/** The module, loaded on first use and shared by all documents of this process. */
export function loadPdfium(): Promise<Pdfium> {
  loading ??= instantiate().catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

/** Forgets a module that aborted: its memory is in no known state. */
function discardPdfium(): void {
  loading = undefined;
}

/**
 * Runs calls into the module.
 * @throws EngineCrashError where WebAssembly aborted; the next `loadPdfium` makes a new module.
 */
export function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (isCrash(error)) {
      discardPdfium();
      throw new EngineCrashError('PDFium aborted', { cause: error });
    }
    throw error;
  }
}

function isCrash(error: unknown): boolean {
  return (
    (error instanceof Error && error.name === 'RuntimeError') ||
    (error instanceof RangeError && /call stack|memory/i.test(error.message)) ||
    (error instanceof Error &&
      (error.name === 'ExitStatus' || /abort|out of memory|OOM|longjmp|exception/i.test(error.message)))
  );
}

interface RawModule {
  HEAPU8: Uint8Array;
  HEAP32: Int32Array;
  HEAPF32: Float32Array;
  HEAPF64: Float64Array;
  /** The functions themselves. The module's own `_` names check and spread the arguments of every call, several for each character. */
  wasmExports: Readonly<Record<string, Call | undefined>>;
}

async function instantiate(): Promise<Pdfium> {
  const wasm = await readFile(fileURLToPath(import.meta.resolve('@embedpdf/pdfium/pdfium.wasm')));
  const silent = () => undefined;
  const wrapped = await init({
    wasmBinary: wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength) as ArrayBuffer,
    print: silent,
    printErr: silent,
  });
  const raw = wrapped.pdfium as unknown as RawModule;
  const calls = Object.fromEntries(
    FUNCTIONS.map((name) => {
      const call = raw.wasmExports[name];
      if (!call) throw new Error(`PDFium's module lacks ${name}`);
      return [name, call];
    }),
  ) as Record<(typeof FUNCTIONS)[number], Call>;
  calls.PDFiumExt_Init();
  return { ...calls, heap: new Heap(raw) };
}

/** Copies bytes into the module; the caller frees the pointer. @throws EngineCrashError where memory does not suffice. */
export function copyIn(pdfium: Pdfium, bytes: Uint8Array): number {
  const pointer = pdfium.malloc(Math.max(1, bytes.length));
  if (pointer === 0) throw new EngineCrashError('PDFium has no memory for the file');
  pdfium.heap.u8.set(bytes, pointer);
  return pointer;
}

/** Runs a call that fills a buffer and returns the bytes it needs, as most text getters do. At most 64 KiB. */
export function readSized(pdfium: Pdfium, fill: (buffer: number, size: number) => number): Uint8Array {
  const size = Math.min(fill(0, 0), 65_536);
  if (size <= 0) return new Uint8Array(0);
  const buffer = pdfium.malloc(size);
  try {
    const written = Math.min(fill(buffer, size), size);
    return pdfium.heap.u8.slice(buffer, buffer + written);
  } finally {
    pdfium.free(buffer);
  }
}

const utf16 = new TextDecoder('utf-16le');
const utf8 = new TextDecoder('utf-8');

/** Text of a UTF-16LE buffer with its terminating zero. */
export function decodeUtf16(bytes: Uint8Array): string {
  return utf16.decode(bytes).replace(/\u0000[\s\S]*$/, '');
}

export function decodeUtf8(bytes: Uint8Array): string {
  // Names of fonts, several a page: a decoder costs more than their few letters.
  if (bytes.length <= 64) {
    let text = '';
    for (const byte of bytes) {
      if (byte === 0) return text;
      if (byte > 0x7f) break;
      text += String.fromCharCode(byte);
    }
  }
  return utf8.decode(bytes).replace(/\u0000[\s\S]*$/, '');
}
