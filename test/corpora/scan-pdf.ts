// Wraps a page image into an image-only PDF, like the output of a scanner, because the API does not read image files.
import { PDFDocument, PDFName, PDFRawStream } from 'pdf-lib';

/** Resolution of images without one, as in the client of the OCR corpus. */
const DEFAULT_DPI = 300;

/**
 * Creates a PDF with one page, one picture and no text.
 * @param bytes a PNG, or a TIFF with one strip of CCITT group 4 (bilevel fax, as document scanners write it)
 * @throws Error for other images
 */
export async function wrapScan(bytes: Uint8Array, extension: string): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  if (extension === '.png') {
    const image = await document.embedPng(bytes);
    const scale = 72 / pngDpi(bytes);
    const [width, height] = [image.width * scale, image.height * scale];
    document.addPage([width, height]).drawImage(image, { x: 0, y: 0, width, height });
    return document.save();
  }
  const fax = readGroup4(bytes);
  const [width, height] = [(fax.width * 72) / fax.dpi, (fax.height * 72) / fax.dpi];
  const page = document.addPage([width, height]);
  const { context } = document;
  const dictionary = context.obj({
    Type: 'XObject',
    Subtype: 'Image',
    Width: fax.width,
    Height: fax.height,
    ColorSpace: 'DeviceGray',
    BitsPerComponent: 1,
    Filter: 'CCITTFaxDecode',
    DecodeParms: { K: -1, Columns: fax.width, Rows: fax.height, BlackIs1: fax.blackIsOne },
  });
  page.node.setXObject(PDFName.of('Scan'), context.register(PDFRawStream.of(dictionary, fax.data)));
  const content = Buffer.from(`q ${width} 0 0 ${height} 0 0 cm /Scan Do Q`);
  page.node.set(
    PDFName.of('Contents'),
    context.register(PDFRawStream.of(context.obj({ Length: content.length }), content)),
  );
  return document.save();
}

/** Resolution of the pHYs chunk (PNG 1.2, 11.3.5.3). */
function pngDpi(bytes: Uint8Array): number {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 8; at + 12 <= file.length; at += 12 + file.readUInt32BE(at)) {
    const type = file.toString('latin1', at + 4, at + 8);
    if (type === 'pHYs' && file[at + 16] === 1) return Math.round(file.readUInt32BE(at + 8) * 0.0254) || DEFAULT_DPI;
    if (type === 'IDAT') break;
  }
  return DEFAULT_DPI;
}

interface FaxImage {
  width: number;
  height: number;
  dpi: number;
  blackIsOne: boolean;
  data: Uint8Array;
}

/** Reads the strip of a group 4 TIFF (TIFF 6.0, sections 3 and 11). */
function readGroup4(bytes: Uint8Array): FaxImage {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const little = file.toString('latin1', 0, 2) === 'II';
  const u16 = (at: number) => (little ? file.readUInt16LE(at) : file.readUInt16BE(at));
  const u32 = (at: number) => (little ? file.readUInt32LE(at) : file.readUInt32BE(at));
  const directory = u32(4);
  const tags = new Map<number, { count: number; value: number }>();
  for (let index = 0; index < u16(directory); index++) {
    const at = directory + 2 + index * 12;
    const short = u16(at + 2) === 3;
    tags.set(u16(at), { count: u32(at + 4), value: short ? u16(at + 8) : u32(at + 8) });
  }
  const value = (tag: number) => tags.get(tag)?.value ?? 0;
  if (value(259) !== 4 || tags.get(273)?.count !== 1)
    throw new Error('only a TIFF with one strip of CCITT group 4 can be wrapped');
  const resolution = tags.get(282);
  const dpi = resolution ? Math.round(u32(resolution.value) / (u32(resolution.value + 4) || 1)) : 0;
  return {
    width: value(256),
    height: value(257),
    dpi: dpi > 0 ? dpi : DEFAULT_DPI,
    blackIsOne: value(262) === 1,
    data: file.subarray(value(273), value(273) + value(279)),
  };
}
