// Writes small ZIP files, so that tests build their office documents in code instead of reading binary fixtures.
import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipPart {
  name: string;
  content: Uint8Array | string;
  /** General purpose flags; bit 0 means that the entry is encrypted. */
  flags?: number;
  /** 0 stores, 8 deflates. */
  method?: number;
}

/**
 * A ZIP file with these entries in this order (APPNOTE 6.3.3, sections 4.3.7, 4.3.12 and 4.3.16), deflated by default.
 * All dates are the same, so that the same parts give the same bytes.
 */
export function zipOf(parts: readonly ZipPart[]): Buffer {
  // Tests of size limits use the same large content for many entries.
  const deflated = new Map<Uint8Array | string, Buffer>();
  const deflate = (content: Uint8Array | string, raw: Buffer): Buffer => {
    const data = deflated.get(content) ?? deflateRawSync(raw);
    deflated.set(content, data);
    return data;
  };
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const { name, content, flags = 0, method = 8 } of parts) {
    const raw =
      typeof content === 'string'
        ? Buffer.from(content)
        : Buffer.from(content.buffer, content.byteOffset, content.byteLength);
    const data = method === 0 ? raw : deflate(content, raw);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(flags, 2);
    fields.writeUInt16LE(method, 4);
    fields.writeUInt16LE(0x21, 8);
    fields.writeUInt32LE(crc32(raw), 10);
    fields.writeUInt32LE(data.length, 14);
    fields.writeUInt32LE(raw.length, 18);
    fields.writeUInt16LE(Buffer.byteLength(name), 22);
    const header = Buffer.concat([Buffer.from('PK\x03\x04'), fields, Buffer.from(name)]);
    const trailer = Buffer.alloc(14);
    trailer.writeUInt32LE(offset, 10);
    central.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), fields, trailer, Buffer.from(name)]));
    local.push(header, data);
    offset += header.length + data.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(parts.length, 8);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...local, directory, end]);
}
