// Collects the pictures inside a document, and gives each one that the output shows a file name.
import { createHash } from 'node:crypto';
import type { ChildNode, Element } from 'domhandler';
import { ParseError } from '../contract/errors.ts';
import { DOCUMENT_LIMITS } from '../contract/limits.ts';
import type { EmbeddedPicture, LinkedImage } from '../contract/response.ts';
import { type PictureType, pictureType } from '../readers/picture-type.ts';
import { absoluteImages, type Placement, percentDecoded } from './addresses.ts';
import { isElement, isInside, walk } from './dom.ts';

/** The scheme of the addresses by which the HTML of a converter refers to a picture of its collection. */
const SCHEME = 'picture:';
/** A picture that is this narrow or low is a spacer or a tracking pixel. */
const DECORATION_PIXELS = 2;

/** The pictures that a converter found. Their bytes are read only if the output shows them. */
export class PictureCollection {
  readonly #loaders: (() => Uint8Array)[] = [];
  readonly #addresses = new Map<string, string>();
  /** Pictures that the converter could not add because of a limit. */
  omitted = 0;

  /**
   * Adds a picture, or finds the one with the same key.
   * @param load is called at most once. A ParseError in it omits the picture, with a warning.
   * @returns the address for `<img src>`
   */
  add(key: string, load: () => Uint8Array): string {
    const known = this.#addresses.get(key);
    if (known !== undefined) return known;
    const address = `${SCHEME}${this.#loaders.push(load) - 1}`;
    this.#addresses.set(key, address);
    return address;
  }

  /** The loader of an address; undefined if the collection did not give the address. */
  loader(address: string): (() => Uint8Array) | undefined {
    return address.startsWith(SCHEME) ? this.#loaders[Number(address.slice(SCHEME.length))] : undefined;
  }
}

/** Where a picture stands: the page and the block of a paged document. */
interface PicturePosition {
  page: number;
  bbox: [number, number, number, number] | null;
}

type Named = EmbeddedPicture | 'omitted' | 'decoration';

/** Replaces the addresses of pictures by file names, in document order, and lists the pictures. */
export class PictureNames {
  readonly #collection: PictureCollection | undefined;
  readonly #taken: ReadonlySet<string>;
  readonly #byAddress = new Map<string, Named>();
  readonly #byHash = new Map<string, EmbeddedPicture>();
  readonly #placed = new Map<Element, EmbeddedPicture>();
  #number = 0;
  #bytes = 0;
  #omitted = 0;

  /** @param taken addresses that the document uses for other files */
  constructor(collection: PictureCollection | undefined, taken: ReadonlySet<string> = new Set()) {
    this.#collection = collection;
    this.#taken = taken;
  }

  /**
   * Gives an `img` the file name of its picture. The `src` of any other image stays unchanged. The `src` of a picture that
   * is omitted becomes empty.
   */
  place(image: Element, position?: PicturePosition): Placement {
    const { src, alt } = image.attribs;
    if (src === undefined) return 'other';
    const load = this.#collection?.loader(src);
    if (!load && !/^\s*data:image\//i.test(src)) return 'other';
    const picture = this.#named(src, load ?? (() => decodeDataUrl(src)));
    if (typeof picture === 'string') {
      if (!load) return 'other';
      image.attribs.src = '';
      return alt === undefined || alt.trim() === '' ? 'empty' : 'other';
    }
    image.attribs.src = picture.id;
    this.#placed.set(image, picture);
    const words = alt?.replace(/\s+/g, ' ').trim();
    if (words) picture.alt ??= words;
    const page = position?.page ?? slideOf(image);
    if (picture.page === undefined && page !== undefined) {
      picture.page = page;
      if (position?.bbox) picture.bbox = position.bbox;
    }
    return 'placed';
  }

  /**
   * Replaces the addresses in text that the converter wrote. `before` and `after` are the text around an address.
   * @param only leaves out pictures that no tree and no other text shows
   */
  inText(text: string, before: string, after: string, only: 'known' | 'all' = 'all'): string {
    if (!text.includes(`${before}${SCHEME}`)) return text;
    return text
      .split(`${before}${SCHEME}`)
      .map((part, index) => {
        if (index === 0) return part;
        const number = /^\d+/.exec(part)?.[0] ?? '';
        const load = this.#collection?.loader(`${SCHEME}${number}`);
        if (!load || !part.startsWith(after, number.length)) return `${before}${SCHEME}${part}`;
        const address = `${SCHEME}${number}`;
        const picture = only === 'all' ? this.#named(address, load) : (this.#byAddress.get(address) ?? 'omitted');
        return `${before}${typeof picture === 'string' ? '' : picture.id}${part.slice(number.length)}`;
      })
      .join('');
  }

  /** The pictures, and the images that the nodes link to, in document order and once each. */
  list(nodes: readonly ChildNode[]): (EmbeddedPicture | LinkedImage)[] {
    const found = new Set<EmbeddedPicture>();
    const urls = new Map<string, LinkedImage>();
    const list: (EmbeddedPicture | LinkedImage)[] = [];
    walk(nodes, (node) => {
      if (!isElement(node)) return true;
      const picture = this.#placed.get(node);
      if (picture) {
        if (!found.has(picture)) list.push(picture);
        found.add(picture);
        return true;
      }
      for (const url of absoluteImages(node)) {
        if (urls.has(url)) continue;
        const link: LinkedImage = { url };
        urls.set(url, link);
        list.push(link);
      }
      return true;
    });
    return list;
  }

  /** All pictures with a name, in the order of their names. */
  named(): EmbeddedPicture[] {
    return [...this.#byHash.values()];
  }

  warnings(): string[] {
    const omitted = this.#omitted + (this.#collection?.omitted ?? 0);
    if (omitted === 0) return [];
    const [count, were] = omitted === 1 ? ['1 picture', 'was'] : [`${omitted} pictures`, 'were'];
    return [
      `${count} inside the document ${were} left out: damaged, of an unknown type, or above a limit (docs/limits.md)`,
    ];
  }

  #named(address: string, load: () => Uint8Array): Named {
    const known = this.#byAddress.get(address);
    if (known !== undefined) return known;
    const picture = this.#read(load);
    if (picture === 'omitted') this.#omitted++;
    this.#byAddress.set(address, picture);
    return picture;
  }

  #read(load: () => Uint8Array): Named {
    // The document may have very many pictures, so do not read them when the limit is reached.
    if (this.#byHash.size >= DOCUMENT_LIMITS.pictures || this.#bytes >= DOCUMENT_LIMITS.picturesBytes) return 'omitted';
    let bytes: Uint8Array;
    try {
      bytes = load();
    } catch (error) {
      if (error instanceof ParseError) return 'omitted';
      throw error;
    }
    if (bytes.length > DOCUMENT_LIMITS.pictureBytes) return 'omitted';
    const type = pictureType(bytes);
    if (!type) return 'omitted';
    if (Math.min(type.width ?? Infinity, type.height ?? Infinity) <= DECORATION_PIXELS) return 'decoration';
    const hash = createHash('sha256').update(bytes).digest('base64');
    const same = this.#byHash.get(hash);
    if (same) return same;
    if (this.#bytes + bytes.length > DOCUMENT_LIMITS.picturesBytes) return 'omitted';
    this.#bytes += bytes.length;
    const picture = this.#name(bytes, type);
    this.#byHash.set(hash, picture);
    return picture;
  }

  #name(bytes: Uint8Array, { mimeType, extension, width, height }: PictureType): EmbeddedPicture {
    let id: string;
    do id = `image-${++this.#number}.${extension}`;
    while (this.#taken.has(id));
    return {
      id,
      mimeType,
      base64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64'),
      ...(width === undefined || height === undefined ? {} : { width, height }),
    };
  }
}

/** The number of the slide around an element. */
function slideOf(element: Element): number | undefined {
  let slide: string | undefined;
  isInside(element, (up) => (slide = up.attribs['data-slide']) !== undefined);
  return slide !== undefined && /^[1-9]\d{0,5}$/.test(slide) ? Number(slide) : undefined;
}

/** The bytes of a data URL (RFC 2397). @throws ParseError if it is longer than the limit of a picture */
function decodeDataUrl(address: string): Uint8Array {
  const comma = address.indexOf(',');
  if (comma < 0 || address.length - comma > DOCUMENT_LIMITS.pictureBytes * 2)
    throw new ParseError('DOCUMENT_TOO_COMPLEX');
  const data = address.slice(comma + 1);
  return /;\s*base64\s*$/i.test(address.slice(0, comma))
    ? Buffer.from(percentDecoded(data), 'base64')
    : Buffer.from(percentDecoded(data), 'utf8');
}
