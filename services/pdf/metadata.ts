// Turns what a PDF says of itself into the answer's metadata.
import type { DocumentMetadata } from '#shared/contract/jobs.ts';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import type { DocumentInfo } from './source/page-model.ts';

/** @param heading the document's first title, used where the file names none */
export function readMetadata(
  info: DocumentInfo,
  heading: string | undefined,
  numPages: number,
  totalPages: number,
): DocumentMetadata {
  const metadata: DocumentMetadata = { numPages, totalPages };
  const set = (key: string, value: string | undefined) => {
    const text = value?.replace(/\s+/g, ' ').trim().slice(0, DOCUMENT_LIMITS.pdfMetadataLength);
    if (text) metadata[key] = text;
  };
  set('title', isRealTitle(info.title) ? info.title : (heading ?? info.title));
  set('author', info.author);
  set('description', info.subject);
  set('keywords', info.keywords);
  set('creator', info.creator);
  set('producer', info.producer);
  set('creationDate', isoDate(info.creationDate));
  set('modificationDate', isoDate(info.modificationDate));
  set('language', info.language);
  if (info.attachments) metadata.attachments = [...info.attachments];
  return metadata;
}

/** Programs put a file's name or `untitled` there. */
function isRealTitle(title: string | undefined): boolean {
  return (
    title !== undefined &&
    title.trim() !== '' &&
    !/^(?:untitled|microsoft word|document\d*$)|\.(?:docx?|pdf|tex|dvi|indd|qxd|html?|rtf|xlsx?|pptx?|odt)$/i.test(
      title.trim(),
    )
  );
}

/**
 * A PDF date as ISO 8601, or undefined where it is none.
 * @param date `D:YYYYMMDDHHmmSSOHH'mm'`, parts from the month on optional (ISO 32000-1, 7.9.4)
 */
function isoDate(date: string | undefined): string | undefined {
  const match = /^(?:D:)?(\d{4})(\d{2})?(\d{2})?(\d{2})?(\d{2})?(\d{2})?\s*(?:([+-])(\d{2})'?(\d{2})?|Z)?/.exec(
    date?.trim() ?? '',
  );
  if (!match) return undefined;
  const [
    ,
    year,
    month = '01',
    day = '01',
    hour = '00',
    minute = '00',
    second = '00',
    sign,
    offsetHour,
    offsetMinute = '00',
  ] = match;
  const zone = sign && offsetHour ? `${sign}${offsetHour}:${offsetMinute}` : 'Z';
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}${zone}`);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}
