// Detects the type and the size of a picture by its first bytes, because the names of pictures inside documents are often wrong.
import { imageSize } from 'image-size';

export interface PictureType {
  mimeType: string;
  /** Without the dot. */
  extension: string;
  /** In pixels; absent if the header does not state them. */
  width?: number;
  height?: number;
}

interface KnownType {
  mimeType: string;
  extension: string;
  /** The first bytes. A dot in the text matches any byte. */
  magic: readonly string[];
  /** `image-size` reads the size from the header. It is not used for TIFF, where it reads past the directory. */
  sized?: true;
}

/** Each magic is Latin-1 text. */
const KNOWN: readonly KnownType[] = [
  { mimeType: 'image/png', extension: 'png', magic: ['\x89PNG\r\n\x1a\n'], sized: true },
  { mimeType: 'image/jpeg', extension: 'jpg', magic: ['\xff\xd8\xff'], sized: true },
  { mimeType: 'image/gif', extension: 'gif', magic: ['GIF87a', 'GIF89a'], sized: true },
  { mimeType: 'image/webp', extension: 'webp', magic: ['RIFF....WEBP'], sized: true },
  { mimeType: 'image/tiff', extension: 'tif', magic: ['II*\0', 'MM\0*', 'II+\0', 'MM\0+'] },
  { mimeType: 'image/jp2', extension: 'jp2', magic: ['\0\0\0\x0cjP  \r\n\x87\n'] },
  { mimeType: 'image/jxl', extension: 'jxl', magic: ['\0\0\0\x0cJXL \r\n\x87\n', '\xff\x0a'] },
  { mimeType: 'image/avif', extension: 'avif', magic: ['....ftypavif', '....ftypavis'] },
  { mimeType: 'image/heic', extension: 'heic', magic: ['....ftyphei', '....ftypmif1'] },
  { mimeType: 'image/x-icon', extension: 'ico', magic: ['\0\0\x01\0'] },
  { mimeType: 'image/emf', extension: 'emf', magic: [`\x01\0\0\0${'.'.repeat(36)} EMF`] },
  { mimeType: 'image/wmf', extension: 'wmf', magic: ['\xd7\xcd\xc6\x9a', '\x01\0\x09\0\0', '\x02\0\x09\0\0'] },
  {
    mimeType: 'image/bmp',
    extension: 'bmp',
    magic: ['BM............(\0\0\0', 'BM............l\0\0\0', 'BM............|\0\0\0', 'BM............\x0c\0\0\0'],
    sized: true,
  },
];
/** UTF-16 code units in which the root element of an SVG is searched. */
const SVG_HEAD = 4096;

/** The type of a picture; undefined if it is not known. */
export function pictureType(bytes: Uint8Array): PictureType | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, SVG_HEAD)).toString('latin1');
  const known = KNOWN.find(({ magic }) => magic.some((signature) => matches(head, signature)));
  if (known) {
    const { mimeType, extension, sized } = known;
    return { mimeType, extension, ...(sized ? sizeOf(bytes) : {}) };
  }
  return /^(?:\xef\xbb\xbf)?\s*</.test(head) && /<(?:\w+:)?svg[\s>]/.test(head)
    ? { mimeType: 'image/svg+xml', extension: 'svg' }
    : undefined;
}

function matches(head: string, signature: string): boolean {
  for (let at = 0; at < signature.length; at++)
    if (signature.charAt(at) !== '.' && signature.charAt(at) !== head.charAt(at)) return false;
  return true;
}

function sizeOf(bytes: Uint8Array): { width: number; height: number } | undefined {
  try {
    const { width, height } = imageSize(bytes);
    return width > 0 && height > 0 ? { width, height } : undefined;
  } catch {
    // The header is damaged. The picture is passed on as it is.
    return undefined;
  }
}
