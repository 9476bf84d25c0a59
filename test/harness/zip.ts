// Writes the small ZIP containers that the office fixtures are made of.
import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipPart {
  name: string;
  content: Uint8Array | string;
  /** General purpose flags; bit 0 says that the entry is encrypted. */
  flags?: number;
  /** 0 stores, 8 deflates. */
  method?: number;
}

/** A ZIP file of the given parts, deflated unless `method` says otherwise. The clock is left out, so that builds repeat. */
export function zipOf(parts: readonly ZipPart[]): Buffer {
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const { name, content, flags = 0, method = 8 } of parts) {
    const raw = Buffer.from(content as Uint8Array);
    const stored = method === 0 ? raw : deflateRawSync(raw);
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(flags, 2);
    shared.writeUInt16LE(method, 4);
    shared.writeUInt16LE(0x21, 8);
    shared.writeUInt32LE(crc32(raw), 10);
    shared.writeUInt32LE(stored.length, 14);
    shared.writeUInt32LE(raw.length, 18);
    shared.writeUInt16LE(Buffer.byteLength(name), 22);
    const head = Buffer.concat([Buffer.from('PK\x03\x04'), shared, Buffer.from(name)]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    central.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), shared, tail, Buffer.from(name)]));
    local.push(head, stored);
    offset += head.length + stored.length;
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
