// Reads what the server says about itself, because the page must not repeat limits and formats that the server decides.

export interface PageSettings {
  /** Path of the files of pdf.js. */
  pdfjs: string;
  /** Largest file of a request, in bytes. */
  fileBytes: number;
  timeoutDefaultMs: number;
  timeoutMaxMs: number;
  /** Largest value of `maxPages`. */
  maxPages: number;
  piiEntities: readonly string[];
  formats: readonly PageFormat[];
}

interface PageFormat {
  /** Lower case, with the dot. */
  extension: string;
  label: string;
  /** Whether the API returns pages and blocks for this format. */
  hasPages: boolean;
}

export async function loadSettings(): Promise<PageSettings> {
  const response = await fetch('/page/settings.json');
  if (!response.ok) throw new Error(`the settings of the page could not be loaded (status ${response.status})`);
  return (await response.json()) as PageSettings;
}

/** The format of a file name, or undefined if the server does not list its extension. */
export function formatOf(fileName: string, settings: PageSettings): PageFormat | undefined {
  const name = fileName.toLowerCase();
  return settings.formats.find(({ extension }) => name.endsWith(extension));
}
