// The html service: HTML, XHTML and EPUB files into the interchange.
import { conversionHandler } from '#shared/document/convert.ts';
import { convertEpub } from './epub.ts';
import { convertHtml } from './html.ts';

export const handle = conversionHandler(async (file, options) =>
  file.extension === '.epub' ? convertEpub(file, options) : convertHtml(file),
);
