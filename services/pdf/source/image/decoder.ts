// Decodes image files with libvips (sharp) to grey pixels, with no more of libvips than the readers of the supported formats.
import type { Metadata, Sharp } from 'sharp';
import { loadSharp } from './libvips.ts';

const WHITE = 255;
/** What decoders leave where data is missing: PNG and TIFF zeros, JPEG the middle grey. */
const UNREAD_GREYS: ReadonlySet<number> = new Set([0, 127, 128]);

/** What the header of an image says. @throws Error if libvips cannot read it */
export async function readImageHeader(bytes: Uint8Array): Promise<Metadata> {
  const sharp = await loadSharp();
  return sharp(bytes, { limitInputPixels: false, failOn: 'none' }).metadata();
}

export interface DecodedImage {
  /** Grey, row by row, `width * height` bytes. */
  pixels: Uint8Array;
  /** Not all of the image could be decoded. The rest is white. */
  damaged: boolean;
}

/**
 * Decodes an image and scales it. The caller checks the size first.
 * @param grey whether the image has no colours
 * @throws Error if nothing can be decoded
 */
export async function decodeImage(
  bytes: Uint8Array,
  width: number,
  height: number,
  grey: boolean,
): Promise<DecodedImage> {
  const sharp = await loadSharp();
  const decode = (failOn: 'none' | 'error') =>
    toGrey(sharp(bytes, { limitInputPixels: false, sequentialRead: true, failOn }), width, height, grey);
  try {
    return { pixels: await decode('error'), damaged: false };
  } catch {
    const pixels = await decode('none');
    whitenUnread(pixels, width);
    return { pixels, damaged: true };
  }
}

/** Scales grey pixels. */
export async function scaleGreys(
  pixels: Uint8Array,
  from: { width: number; height: number },
  width: number,
  height: number,
): Promise<Uint8Array> {
  if (from.width === width && from.height === height) return pixels;
  const sharp = await loadSharp();
  const raw = { width: from.width, height: from.height, channels: 1 } as const;
  return toGrey(sharp(pixels, { raw, limitInputPixels: false }), width, height, true);
}

/** Turns and mirrors grey pixels as the Exif orientation says (1 to 8; Exif 3.0, 4.6.5.1). */
export async function orientGreys(
  pixels: Uint8Array,
  width: number,
  height: number,
  orientation: number,
): Promise<Uint8Array> {
  const sharp = await loadSharp();
  const degrees = [0, 0, 180, 180, 90, 90, 270, 270][orientation - 1] ?? 0;
  const raw = { width, height, channels: 1 } as const;
  let image = sharp(pixels, { raw, limitInputPixels: false });
  if ([2, 4, 5, 7].includes(orientation)) {
    // Mirrored first, then turned.
    const mirrored = await image.flop().toColourspace('b-w').raw().toBuffer();
    image = sharp(mirrored, { raw, limitInputPixels: false });
  }
  return image.rotate(degrees).toColourspace('b-w').raw().toBuffer();
}

/** Transparent pixels show white, as on paper. */
async function toGrey(image: Sharp, width: number, height: number, grey: boolean): Promise<Uint8Array> {
  const { data, info } = await image
    .flatten({ background: '#ffffff' })
    .resize({ width, height, fit: 'fill', kernel: 'mitchell' })
    .toColourspace(grey ? 'b-w' : 'srgb')
    .raw()
    .toBuffer({ resolveWithObject: true });
  if (info.width !== width || info.height !== height) throw new Error('the decoder returned another size');
  return info.channels === 1 ? data : mixColours(data, width * height, info.channels);
}

/** Greys as PDFium weighs them (FXRGB2GRAY in fx_dib.h), so that an image reads as it reads in a PDF. In place. */
function mixColours(data: Uint8Array, count: number, channels: number): Uint8Array {
  for (let n = 0, at = 0; n < count; n++, at += channels)
    data[n] = ((data[at] ?? 0) * 30 + (data[at + 1] ?? 0) * 59 + (data[at + 2] ?? 0) * 11) / 100;
  return data.slice(0, count);
}

/** Paints the rows that the decoder did not reach: they are all of one grey. */
function whitenUnread(pixels: Uint8Array, width: number): void {
  const unread = pixels.at(-1) ?? WHITE;
  if (!UNREAD_GREYS.has(unread)) return;
  let end = pixels.length;
  while (end > 0 && pixels[end - 1] === unread) end--;
  if (end === 0) throw new Error('no row can be decoded');
  pixels.fill(WHITE, Math.ceil(end / width) * width);
}
