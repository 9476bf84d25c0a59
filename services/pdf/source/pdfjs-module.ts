// Loads pdf.js on the first file that needs it, and names its types for the files that read through it.

export type Pdfjs = typeof import('pdfjs-dist/legacy/build/pdf.mjs');
export type LoadedDocument = Awaited<ReturnType<Pdfjs['getDocument']>['promise']>;
export type LoadedPage = Awaited<ReturnType<LoadedDocument['getPage']>>;

let loading: Promise<Pdfjs> | undefined;

/** The library, loaded once a process and only where a file needs it. */
export function loadPdfjs(): Promise<Pdfjs> {
  loading ??= import('pdfjs-dist/legacy/build/pdf.mjs');
  return loading;
}
