// PageSource over image files: each picture is a page without a text layer, like a page of a scan.
import { ParseError } from '#shared/contract/errors.ts';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import type { Bookmark, DocumentInfo, GreyImage, PageContent } from '../page-model.ts';
import { type PageSource, PageUnreadableError } from '../page-source.ts';
import { decodeBmp, readBmpHeader } from './bmp.ts';
import { type DecodedImage, decodeImage, orientGreys, readImageHeader, scaleGreys } from './decoder.ts';
import { describeImage, describeTiff } from './descriptions.ts';
import { loadSharp } from './libvips.ts';
import { type Resolution, resolutionOf } from './resolution.ts';
import { TAG, type TiffDirectory, TiffFile } from './tiff.ts';

/** One picture as it is stored, before its Exif orientation is applied. */
interface Picture {
  width: number;
  height: number;
  /** 1 to 8 (Exif 3.0, 4.6.5.1); from 5 on, width and height change places. */
  orientation: number;
  stated: Resolution | undefined;
  /** Bytes that the decoder needs for all pixels. */
  decodedBytes: number;
  /** Grey pixels at this size. @throws Error if nothing can be decoded */
  decode(width: number, height: number): Promise<DecodedImage>;
}

/** A picture lower or narrower than this shows no letter, and is not sent to OCR. */
const LETTER_PIXELS = 8;
const CENTIMETRES = 3;
const CENTIMETRES_PER_INCH = 2.54;
/** `NewSubfileType` bits (TIFF 6.0, section 8): a smaller copy, and a transparency mask. `SubfileType` 2 is the smaller copy of old files. */
const REDUCED_OR_MASK = 0b101;
const OLD_REDUCED = 2;
const TRANSPARENCY_MASK = 4;
const GREY_SPACES: ReadonlySet<string> = new Set(['b-w', 'grey16']);

/**
 * Opens an image file.
 * @throws ParseError DOCUMENT_CORRUPT (no picture can be read), DOCUMENT_TOO_COMPLEX (too many directories)
 */
export async function openImageSource(bytes: Uint8Array): Promise<PageSource> {
  // If libvips is not installed, that is a fault of the server: the image must not be called corrupt.
  await loadSharp();
  const tiff = TiffFile.open(bytes);
  if (tiff) return openTiff(tiff);
  const bmp = openBmp(bytes);
  if (bmp) return new ImageSource([bmp], {}, []);
  return openSingle(bytes);
}

function openTiff(file: TiffFile): ImageSource {
  const { list, end } = file.directories();
  if (end === 'long')
    throw new ParseError(
      'DOCUMENT_TOO_COMPLEX',
      `The TIFF file has more than ${DOCUMENT_LIMITS.tiffDirectories} images; split it into several files`,
    );
  const [first] = list;
  if (!first) throw corrupt();
  const pages = list.filter((directory) => isPage(file, directory));
  const pictures = (pages.length > 0 ? pages : [first]).map((directory) => tiffPicture(file, directory));
  const warnings = end === 'cut' ? [`the file is damaged after image ${list.length}: later pages are missing`] : [];
  return new ImageSource(pictures, describeTiff(file, first), warnings);
}

/** Whether a directory holds a page, and not a smaller copy or a mask of one. */
function isPage(file: TiffFile, directory: TiffDirectory): boolean {
  return (
    ((file.number(directory, TAG.newSubfileType) ?? 0) & REDUCED_OR_MASK) === 0 &&
    file.number(directory, TAG.subfileType) !== OLD_REDUCED &&
    file.number(directory, TAG.photometric) !== TRANSPARENCY_MASK
  );
}

function tiffPicture(file: TiffFile, directory: TiffDirectory): Picture {
  const number = (tag: number, usual: number) => file.number(directory, tag) ?? usual;
  const width = number(TAG.width, 0);
  const height = number(TAG.height, 0);
  const samples = number(TAG.samplesPerPixel, 1);
  const perInch = number(TAG.resolutionUnit, 2) === CENTIMETRES ? CENTIMETRES_PER_INCH : 1;
  const x = file.rational(directory, TAG.xResolution);
  const y = file.rational(directory, TAG.yResolution) ?? x;
  return {
    width,
    height,
    orientation: number(TAG.orientation, 1),
    stated: x && y ? { x: x * perInch, y: y * perInch } : undefined,
    decodedBytes: width * height * samples * Math.ceil(number(TAG.bitsPerSample, 1) / 8),
    decode: (toWidth, toHeight) =>
      file.withOnly(directory, async (bytes) => {
        const { space } = await readImageHeader(bytes);
        return decodeImage(bytes, toWidth, toHeight, GREY_SPACES.has(space ?? ''));
      }),
  };
}

function openBmp(bytes: Uint8Array): Picture | undefined {
  const header = readBmpHeader(bytes);
  if (!header) return undefined;
  return {
    width: header.width,
    height: header.height,
    orientation: 1,
    stated: { x: header.xDpi, y: header.yDpi },
    decodedBytes: header.width * header.height,
    decode: async (width, height) => {
      const { pixels, damaged } = decodeBmp(bytes, header);
      return { pixels: await scaleGreys(pixels, header, width, height), damaged };
    },
  };
}

/** PNG, JPEG, WebP and GIF. Of an animation, the first image. */
async function openSingle(bytes: Uint8Array): Promise<ImageSource> {
  const header = await readImageHeader(bytes).catch((cause: unknown) => {
    throw corrupt(cause);
  });
  const { width, height, channels, density = 0, isProgressive, pages = 1 } = header;
  const sampleBytes = header.depth === 'ushort' ? 2 : 1;
  const picture: Picture = {
    width,
    height: header.pageHeight ?? height,
    orientation: header.orientation ?? 1,
    stated: { x: density, y: density },
    // The decoder keeps a progressive JPEG as 16-bit coefficients, and an interlaced PNG whole; and the images of an animation with alpha.
    decodedBytes: width * height * (isProgressive ? channels * 2 : pages > 1 ? 4 : channels) * sampleBytes,
    decode: (toWidth, toHeight) => decodeImage(bytes, toWidth, toHeight, GREY_SPACES.has(header.space ?? '')),
  };
  const warnings = pages > 1 ? [`the image is an animation of ${pages} images: only the first was read`] : [];
  return new ImageSource([picture], describeImage(header), warnings);
}

const corrupt = (cause?: unknown): ParseError =>
  new ParseError(
    'DOCUMENT_CORRUPT',
    'The image is damaged or is of a kind that cannot be read: open it in a viewer, save it as PNG and send that',
    { cause },
  );

class ImageSource implements PageSource {
  readonly engine = 'image';
  readonly pageCount: number;
  readonly info: DocumentInfo;
  readonly warnings: readonly string[];
  readonly #pictures: readonly Picture[];
  /** The last decoding: one page is in memory at a time. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(pictures: readonly Picture[], info: DocumentInfo, warnings: readonly string[]) {
    this.#pictures = pictures;
    this.pageCount = pictures.length;
    this.info = info;
    this.warnings = warnings;
  }

  async outline(): Promise<Bookmark[]> {
    return [];
  }

  /** The picture as it is displayed, with its resolution. @throws PageUnreadableError, ParseError DOCUMENT_TOO_COMPLEX */
  #displayed(index: number) {
    const picture = this.#pictures[index];
    if (!picture || picture.width < 1 || picture.height < 1)
      throw new PageUnreadableError(`image ${index + 1} has no pixels`);
    const { width, height, decodedBytes } = picture;
    if (decodedBytes > DOCUMENT_LIMITS.imageBytes)
      throw new ParseError(
        'DOCUMENT_TOO_COMPLEX',
        `Page ${index + 1} is an image of ${width} x ${height} pixels, which takes more than ${DOCUMENT_LIMITS.imageBytes} bytes of memory; make it smaller and send it again`,
      );
    const resolution = resolutionOf(width, height, picture.stated);
    const points = { width: (width / resolution.x) * 72, height: (height / resolution.y) * 72 };
    return { picture, points, swapped: picture.orientation >= 5 && picture.orientation <= 8 };
  }

  async readPage(index: number): Promise<PageContent> {
    const { picture, points, swapped } = this.#displayed(index);
    const [width, height] = swapped ? [points.height, points.width] : [points.width, points.height];
    const [pixelWidth, pixelHeight] = swapped ? [picture.height, picture.width] : [picture.width, picture.height];
    return {
      index,
      width,
      height,
      words: [],
      rulings: [],
      regions: [],
      images: [{ box: { x0: 0, y0: 0, x1: width, y1: height }, pixelWidth, pixelHeight }],
      pixels: { width: pixelWidth, height: pixelHeight },
      objects: Math.min(pixelWidth, pixelHeight) < LETTER_PIXELS ? 0 : 1,
      glyphs: 0,
      unmappedGlyphs: 0,
    };
  }

  async renderGrey(index: number, dpi: number): Promise<GreyImage> {
    const run = this.#last.then(() => this.#render(index, dpi));
    this.#last = run.catch(() => undefined);
    return run;
  }

  async #render(index: number, dpi: number): Promise<GreyImage> {
    const { picture, points, swapped } = this.#displayed(index);
    const wanted = ((points.width * dpi) / 72) * ((points.height * dpi) / 72);
    const scale = (dpi / 72) * Math.min(1, Math.sqrt(DOCUMENT_LIMITS.pagePixels / wanted));
    const width = Math.max(1, Math.round(points.width * scale));
    const height = Math.max(1, Math.round(points.height * scale));
    const { pixels, damaged } = await picture.decode(width, height).catch((cause: unknown) => {
      throw new PageUnreadableError(`image ${index + 1} cannot be decoded`, { cause });
    });
    const upright =
      picture.orientation > 1 && picture.orientation <= 8
        ? await orientGreys(pixels, width, height, picture.orientation)
        : pixels;
    return {
      ...(swapped ? { width: height, height: width } : { width, height }),
      dpi: scale * 72,
      pixels: upright,
      ...(damaged ? { damaged } : {}),
    };
  }

  async close(): Promise<void> {
    await this.#last;
  }
}
