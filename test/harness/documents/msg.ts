// Generates Outlook messages (MS-OXMSG) in compound files (MS-CFB) for tests.

type Value = string | number | Buffer | Date | MsgContent;

/** Properties by id and type (`0037001F`). A number or date is stored in the property stream, all others in a stream. */
export interface MsgContent {
  properties: Record<string, Value>;
  recipients?: MsgContent[];
  attachments?: MsgContent[];
}

interface Node {
  name: string;
  bytes?: Buffer;
  children?: Node[];
}

const SECTOR = 512;
const MINI = 64;
const CUTOFF = 4096;
const FREE = 0xffffffff;
const END = 0xfffffffe;
const FAT = 0xfffffffd;
const EPOCH = 116_444_736_000_000_000n;

/** The streams and storages of one message, recipient or attachment. */
function nodesOf(content: MsgContent, headerBytes: number): Node[] {
  const nodes: Node[] = [];
  const entries: Buffer[] = [Buffer.alloc(headerBytes)];
  for (const [tag, value] of Object.entries(content.properties)) {
    const entry = Buffer.alloc(16);
    entry.writeUInt32LE(Number.parseInt(tag, 16), 0);
    entry.writeUInt32LE(6, 4);
    if (typeof value === 'number') entry.writeInt32LE(value, 8);
    else if (value instanceof Date) entry.writeBigUInt64LE(BigInt(value.getTime()) * 10_000n + EPOCH, 8);
    else {
      const name = `__substg1.0_${tag}`;
      if (typeof value === 'string')
        nodes.push({ name, bytes: Buffer.from(value, tag.endsWith('001F') ? 'utf16le' : 'latin1') });
      else if (Buffer.isBuffer(value)) nodes.push({ name, bytes: value });
      else nodes.push({ name, children: nodesOf(value, 24) });
    }
    entries.push(entry);
  }
  nodes.push({ name: '__properties_version1.0', bytes: Buffer.concat(entries) });
  const number = (index: number) => index.toString(16).toUpperCase().padStart(8, '0');
  (content.recipients ?? []).forEach((recipient, index) => {
    nodes.push({ name: `__recip_version1.0_#${number(index)}`, children: nodesOf(recipient, 8) });
  });
  (content.attachments ?? []).forEach((attachment, index) => {
    nodes.push({ name: `__attach_version1.0_#${number(index)}`, children: nodesOf(attachment, 8) });
  });
  return nodes;
}

/** An Outlook message. */
export const msg = (content: MsgContent): Buffer => compoundFile(nodesOf(content, 32));

/** A compound file of version 3 whose directory is a list: each entry has only a right sibling. */
function compoundFile(children: Node[]): Buffer {
  const fat: number[] = [];
  const sectors: Buffer[] = [];
  const mini: Buffer[] = [];
  const miniFat: number[] = [];
  const store = (bytes: Buffer, size: number, table: number[], target: Buffer[]): number => {
    if (bytes.length === 0) return END;
    const start = table.length;
    for (let at = 0; at < bytes.length; at += size) {
      const piece = Buffer.alloc(size);
      bytes.copy(piece, 0, at, at + size);
      target.push(piece);
      table.push(at + size < bytes.length ? table.length + 1 : END);
    }
    return start;
  };
  const directory: Buffer[] = [];
  const add = (node: Node, type: number): number => {
    const entry = Buffer.alloc(128);
    const index = directory.push(entry) - 1;
    entry.write(node.name, 'utf16le');
    entry.writeUInt16LE(node.name.length * 2 + 2, 64);
    entry[66] = type;
    entry[67] = 1;
    for (const at of [68, 72, 76]) entry.writeUInt32LE(FREE, at);
    if (node.bytes) {
      const small = node.bytes.length < CUTOFF;
      entry.writeUInt32LE(
        small ? store(node.bytes, MINI, miniFat, mini) : store(node.bytes, SECTOR, fat, sectors),
        116,
      );
      entry.writeUInt32LE(node.bytes.length, 120);
    }
    let before: Buffer | undefined;
    for (const child of node.children ?? []) {
      const at = add(child, child.children ? 1 : 2);
      if (before) before.writeUInt32LE(at, 72);
      else entry.writeUInt32LE(at, 76);
      before = directory[at];
    }
    return index;
  };
  add({ name: 'Root Entry', children }, 5);
  const miniStream = Buffer.concat(mini);
  directory[0]?.writeUInt32LE(store(miniStream, SECTOR, fat, sectors), 116);
  directory[0]?.writeUInt32LE(miniStream.length, 120);
  const words = (table: readonly number[]) => {
    const bytes = Buffer.alloc(Math.ceil(table.length / 128) * SECTOR, 0xff);
    table.forEach((value, i) => {
      bytes.writeUInt32LE(value, i * 4);
    });
    return bytes;
  };
  const miniFatStart = store(words(miniFat), SECTOR, fat, sectors);
  const directoryStart = store(Buffer.concat(directory), SECTOR, fat, sectors);
  let fatSectors = 1;
  while (Math.ceil((fat.length + fatSectors) / 128) > fatSectors) fatSectors++;
  const fatStart = sectors.length;
  for (let i = 0; i < fatSectors; i++) fat.push(FAT);
  sectors.push(words(fat));
  const header = Buffer.alloc(SECTOR, 0);
  Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(header);
  header.writeUInt16LE(0x3e, 24);
  header.writeUInt16LE(3, 26);
  header.writeUInt16LE(0xfffe, 28);
  header.writeUInt16LE(9, 30);
  header.writeUInt16LE(6, 32);
  header.writeUInt32LE(fatSectors, 44);
  header.writeUInt32LE(directoryStart, 48);
  header.writeUInt32LE(CUTOFF, 56);
  header.writeUInt32LE(miniFatStart, 60);
  header.writeUInt32LE(Math.ceil(miniFat.length / 128), 64);
  header.writeUInt32LE(END, 68);
  for (let i = 0; i < 109; i++) header.writeUInt32LE(i < fatSectors ? fatStart + i : FREE, 76 + i * 4);
  return Buffer.concat([header, ...sectors]);
}

/** Compressed RTF (MS-OXRTFCP) that has no references to its dictionary. */
export function compressedRtf(rtf: string): Buffer {
  const raw = Buffer.from(rtf, 'latin1');
  const pieces: Buffer[] = [];
  for (let at = 0; at < raw.length; at += 8) pieces.push(Buffer.from([0]), raw.subarray(at, at + 8));
  const header = Buffer.alloc(16);
  const body = Buffer.concat(pieces);
  header.writeUInt32LE(body.length + 12, 0);
  header.writeUInt32LE(raw.length, 4);
  header.writeUInt32LE(0x75465a4c, 8);
  return Buffer.concat([header, body]);
}
