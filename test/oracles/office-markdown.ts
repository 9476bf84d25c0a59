// Converts an office file to Markdown without starting the product, so that tests can compare it with the output of other packages.
import { convertOffice } from '#services/office/convert.ts';
import { convertLegacy } from '#services/office/libreoffice/soffice.ts';
import type { JobContext, RenderOptions } from '#shared/contract/jobs.ts';
import { renderRecord } from '#shared/document/render.ts';

const OPTIONS: RenderOptions = {
  fields: ['markdown'],
  includeTags: [],
  excludeTags: [],
  onlyMainContent: false,
  blockAds: false,
  removeBase64Images: true,
  pdf: { mode: 'auto', pages: false, blocks: false, pageMarkers: false },
};

export const createJobContext = (): JobContext => ({
  requestId: 'request-1',
  signal: AbortSignal.timeout(600_000),
  deadline: Date.now() + 600_000,
  volatile: false,
  call: () => Promise.reject(new Error('an oracle test must not call another service')),
});

/** The Markdown of an office file, with headers and footers. */
export async function officeMarkdown(bytes: Uint8Array, fileName: string): Promise<string> {
  const extension = fileName.slice(fileName.lastIndexOf('.'));
  const document = await convertOffice({ bytes, fileName, extension }, OPTIONS, createJobContext(), convertLegacy);
  return renderRecord(document, OPTIONS).fields.markdown ?? '';
}
