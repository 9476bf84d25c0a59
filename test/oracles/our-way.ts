// Asks our own converters for Markdown the way a job does, for suites that hold it against what other packages read.
import { convertOffice } from '#services/office/convert.ts';
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

export const context = (): JobContext => ({
  requestId: 'request-1',
  signal: AbortSignal.timeout(60_000),
  deadline: Date.now() + 60_000,
  volatile: false,
  call: () => Promise.reject(new Error('an oracle calls no other service')),
});

/** The whole Markdown of an office file, page furniture included. */
export async function officeMarkdown(bytes: Uint8Array, fileName: string): Promise<string> {
  const extension = fileName.slice(fileName.lastIndexOf('.'));
  const document = await convertOffice({ bytes, fileName, extension }, OPTIONS, context());
  return renderRecord(document, OPTIONS).fields.markdown ?? '';
}
