// Detects the format and the encryption of a binary Office document in a compound file (MS-CFB).
import { CompoundFile } from '#shared/readers/compound-file.ts';

type BinaryKind = '.doc' | '.xls' | '.ppt' | 'encrypted';

/** Bit 8 of the flags at offset 10 is set in an encrypted Word document (MS-DOC, 2.5.2, FibBase). */
const FIB_FLAGS_OFFSET = 10;
const FIB_ENCRYPTED = 0x0100;
const RECORD_BOF = [0x0009, 0x0209, 0x0409, 0x0809];
const RECORD_FILEPASS = 0x002f;
const RECORD_EOF = 0x000a;
/** The FILEPASS record is searched only in this many bytes at the start of a workbook. */
const WORKBOOK_HEAD_BYTES = 16 * 1024;
const PPT_ENCRYPTED_TOKEN = 0xf3d1c4df;

/** Whether FILEPASS is among the first records of a workbook, as in an encrypted one (MS-XLS, 2.4.117). */
function workbookEncrypted(head: Buffer): boolean {
  if (!RECORD_BOF.includes(head.length >= 2 ? head.readUInt16LE(0) : 0)) return false;
  for (let at = 0; at + 4 <= head.length; ) {
    const type = head.readUInt16LE(at);
    if (type === RECORD_FILEPASS) return true;
    at += 4 + head.readUInt16LE(at + 2);
    // The global records end before the first sheet.
    if (type === RECORD_EOF) return false;
  }
  return false;
}

/**
 * The format of a binary container; undefined if it has no Word, Excel or PowerPoint document.
 * @throws ParseError DOCUMENT_CORRUPT if the container cannot be read
 */
export function binaryKind(bytes: Uint8Array): BinaryKind | undefined {
  const file = new CompoundFile(bytes);
  if (file.has('EncryptedPackage') || file.has('EncryptionInfo')) return 'encrypted';
  if (file.has('WordDocument')) {
    const fib = file.read('WordDocument', 32);
    const encrypted = fib.length > FIB_FLAGS_OFFSET + 1 && (fib.readUInt16LE(FIB_FLAGS_OFFSET) & FIB_ENCRYPTED) !== 0;
    return encrypted ? 'encrypted' : '.doc';
  }
  for (const name of ['Workbook', 'Book', 'WORKBOOK', 'BOOK'])
    if (file.has(name)) return workbookEncrypted(file.read(name, WORKBOOK_HEAD_BYTES)) ? 'encrypted' : '.xls';
  if (file.has('PowerPoint Document')) {
    const user = file.read('Current User', 32);
    const token = user.length >= 16 ? user.readUInt32LE(12) : 0;
    return token === PPT_ENCRYPTED_TOKEN || file.has('EncryptedSummary') ? 'encrypted' : '.ppt';
  }
  return undefined;
}
