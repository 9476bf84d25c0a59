// Writes ZIP files whose entries are stored unless they ask for compression, as OpenDocument and EPUB need it.
import { zipOf } from '../zip.ts';

export interface ZipEntry {
  name: string;
  content: string | Uint8Array;
  /** Compress the entry. The `mimetype` of OpenDocument and EPUB must not be compressed. */
  deflate?: boolean;
}

/** Language encoding flag: names are UTF-8 (APPNOTE 6.3.3, 4.4.4). */
const UTF8_NAMES = 0x0800;

/** The bytes of a ZIP file with these entries in this order. */
export const zip = (entries: readonly ZipEntry[]): Buffer =>
  zipOf(entries.map(({ name, content, deflate }) => ({ name, content, flags: UTF8_NAMES, method: deflate ? 8 : 0 })));
