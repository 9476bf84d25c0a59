// Handles the jobs of the html service: converts HTML, XHTML, EPUB, Markdown, plain text and mail files.
import { conversionHandler } from '#shared/document/convert.ts';
import { renderRecord } from '#shared/document/render.ts';
import { convertEpub } from './epub.ts';
import { convertHtml } from './html.ts';
import { convertMail } from './mail/mail.ts';
import { convertMarkdown } from './markdown-file.ts';
import { convertPlainText } from './plain-text.ts';

export const handle = conversionHandler(async (file, options) => {
  switch (file.extension) {
    case '.epub':
      return convertEpub(file, options);
    case '.md':
    case '.markdown':
      return convertMarkdown(file);
    case '.eml':
    case '.msg':
      return convertMail(file, options);
    case '.txt':
      return convertPlainText(file, options);
    default:
      return convertHtml(file);
  }
});

const SAMPLE =
  '<html lang="en"><head><title>t</title><meta name="a" content="b"></head><body><nav><a href="/">n</a></nav><main><h1>t</h1><p>a <b>b</b> <a href="https://x.example/">c</a></p><ul><li>d</li></ul><table><tr><th>e</th></tr><tr><td>f</td></tr></table></main></body></html>';

/** Runs the pipeline once, so that the first job does not wait for loading and compiling it. */
export async function warm(): Promise<void> {
  renderRecord(convertHtml({ bytes: Buffer.from(SAMPLE.repeat(20)), fileName: 'sample.html', extension: '.html' }), {
    fields: ['markdown', 'html', 'links', 'images'],
    includeTags: [],
    excludeTags: ['nav'],
    onlyMainContent: true,
    blockAds: true,
    removeBase64Images: true,
    pdf: { mode: 'auto', pages: false, blocks: false, pageMarkers: false },
  });
}
