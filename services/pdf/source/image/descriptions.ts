// Reads what an image file says about its content: title, description, author and keywords. Place, device and dates are not read.
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { decodeText } from '#shared/readers/charset.ts';
import { readXml } from '#shared/readers/xml.ts';
import type { DocumentInfo } from '../page-model.ts';
import { TAG, type TiffDirectory, TiffFile } from './tiff.ts';

/** Properties of an XMP packet (XMP part 1, 8.3) by the field that they fill. */
const XMP_FIELDS = {
  'dc:title': 'title',
  'dc:description': 'description',
  'dc:creator': 'author',
  'dc:subject': 'keywords',
} as const;
/** Keywords of text chunks (PNG, third edition, 11.3.3.1). */
const PNG_FIELDS = { Title: 'title', Description: 'description', Author: 'author' } as const;

type Descriptions = Partial<Record<'title' | 'description' | 'author' | 'keywords', string>>;

interface DescribedMetadata {
  exif?: Uint8Array | undefined;
  xmp?: Uint8Array | undefined;
  comments?: readonly { keyword: string; text: string }[] | undefined;
}

/** The descriptions of an image that is no TIFF file. XMP counts before Exif, and Exif before text chunks. */
export function describeImage({ exif, xmp, comments }: DescribedMetadata): DocumentInfo {
  return toInfo({
    ...readComments(comments ?? []),
    ...readExif(exif),
    ...readXmp(xmp),
  });
}

/** The descriptions in the first directory of a TIFF file. */
export function describeTiff(file: TiffFile, directory: TiffDirectory): DocumentInfo {
  const xmp = file.bytes(directory, TAG.xmp, DOCUMENT_LIMITS.imageXmpBytes);
  return toInfo({ ...readFields(file, directory), ...readXmp(xmp) });
}

function toInfo({ description, ...others }: Descriptions): DocumentInfo {
  return { ...others, ...(description === undefined ? {} : { subject: description }) };
}

function readExif(exif: Uint8Array | undefined): Descriptions {
  if (!exif) return {};
  // In JPEG the data starts with an identifier (Exif 3.0, 4.7.2.1).
  const named = Buffer.from(exif.buffer, exif.byteOffset, exif.byteLength).toString('latin1', 0, 4) === 'Exif';
  const file = TiffFile.open(named ? exif.subarray(6) : exif);
  const [first] = file?.directories().list ?? [];
  return file && first ? readFields(file, first) : {};
}

function readFields(file: TiffFile, directory: TiffDirectory): Descriptions {
  const text = (tag: number): string | undefined => {
    const bytes = file.bytes(directory, tag, DOCUMENT_LIMITS.pdfMetadataLength * 2);
    if (!bytes) return undefined;
    return (tag === TAG.windowsTitle ? Buffer.from(bytes).toString('utf16le') : decodeText(bytes).text)
      .split('\0', 1)[0]
      ?.trim();
  };
  const found: Descriptions = {};
  const title = text(TAG.windowsTitle) || text(TAG.documentName);
  const description = text(TAG.imageDescription);
  const author = text(TAG.artist);
  if (title) found.title = title;
  if (description) found.description = description;
  if (author) found.author = author;
  return found;
}

function readComments(comments: readonly { keyword: string; text: string }[]): Descriptions {
  const found: Descriptions = {};
  for (const { keyword, text } of comments) {
    const field = PNG_FIELDS[keyword as keyof typeof PNG_FIELDS];
    if (field && text.trim() !== '') found[field] ??= text.slice(0, DOCUMENT_LIMITS.pdfMetadataLength).trim();
  }
  return found;
}

/** Reads the first text of each property; all of them for a list of keywords. A packet that cannot be read says nothing. */
function readXmp(xmp: Uint8Array | undefined): Descriptions {
  if (!xmp || xmp.length > DOCUMENT_LIMITS.imageXmpBytes) return {};
  const found: Descriptions = {};
  let field: keyof Descriptions | undefined;
  let property = '';
  try {
    readXml(decodeText(xmp, { markup: true }).text, {
      open(name) {
        const next = XMP_FIELDS[name as keyof typeof XMP_FIELDS];
        if (next) [field, property] = [next, name];
      },
      text(text) {
        const value = text.trim();
        if (!field || value === '') return;
        const before = found[field];
        if (before === undefined) found[field] = value;
        else if (field === 'keywords' && before.length < DOCUMENT_LIMITS.pdfMetadataLength)
          found[field] = `${before}, ${value}`;
      },
      close(name) {
        if (name === property) field = undefined;
      },
    });
  } catch {
    return {};
  }
  return found;
}
