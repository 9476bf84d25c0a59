// Makes addresses absolute, gives images their largest variant, and lists the links and images of a document.
import type { ChildNode, Element } from 'domhandler';
import { isElement, walk } from './dom.ts';

/** Attributes that contain one address. */
const ADDRESS_ATTRIBUTES = [
  'href',
  'src',
  'poster',
  'cite',
  'action',
  'formaction',
  'data',
  'longdesc',
  'background',
  'xlink:href',
] as const;
const SCRIPT_SCHEME = /^(?:javascript|vbscript|livescript|mocha):/i;
/** Addresses that contain content or code, or name a local file. They are not listed. */
const UNLISTED = /^(?:javascript|vbscript|data|blob|about|file):/i;
/** A scheme has at least two letters: one letter is a drive (`C:`). */
const ABSOLUTE = /^[a-z][a-z0-9+.-]+:/i;
/** Characters that browsers remove from an address before they read its scheme. */
const IGNORED_IN_ADDRESS = /[\u0000-\u0020]+/g;

/** The base for relative addresses: `<base href>`, else the canonical link. Undefined if neither is absolute. */
export function baseAddress(head: Element, html: Element): string | undefined {
  let base: string | undefined;
  let canonical: string | undefined;
  const read = (node: ChildNode): boolean => {
    if (!isElement(node)) return true;
    if (node.name === 'base' && node.attribs.href) base ??= node.attribs.href;
    if (node.name === 'link' && /(?:^|\s)canonical(?:\s|$)/i.test(node.attribs.rel ?? '') && node.attribs.href)
      canonical ??= node.attribs.href;
    return true;
  };
  walk(head.children, read);
  if (base === undefined && canonical === undefined) walk(html.children, read);
  const fallback = canonical === undefined ? undefined : webAddress(canonical);
  if (base === undefined) return fallback;
  return webAddress(base) ?? (fallback === undefined ? undefined : webAddress(resolveAddress(base, fallback)));
}

function webAddress(address: string): string | undefined {
  const url = URL.parse(address.trim());
  return url && (url.protocol === 'http:' || url.protocol === 'https:') ? url.href : undefined;
}

/** The absolute address, or the address unchanged if there is no base or it is not valid. */
export function resolveAddress(address: string, base: string | undefined): string {
  const trimmed = address.trim();
  if (trimmed === '' || base === undefined || ABSOLUTE.test(trimmed)) return trimmed;
  return URL.parse(trimmed, base)?.href ?? trimmed;
}

/** True for script schemes, also with control characters inside, which browsers ignore. */
function isScriptAddress(address: string): boolean {
  return SCRIPT_SCHEME.test(address.replace(IGNORED_IN_ADDRESS, ''));
}

function isDataAddress(address: string): boolean {
  return /^\s*data:/i.test(address);
}

/** The text with its percent-encoding decoded, or unchanged if it is not valid. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

interface Candidate {
  url: string;
  width: number;
  density: number;
}

/** Candidates of a `srcset` (HTML Standard, 4.8.4.2). Addresses may contain commas, descriptors follow a space. */
function srcsetCandidates(srcset: string): Candidate[] {
  const candidates: Candidate[] = [];
  const pattern = /[\s,]*([^\s,]\S*)(?:\s+([^,]*))?(?:,|$)/gy;
  for (let match = pattern.exec(srcset); match !== null && candidates.length < 200; match = pattern.exec(srcset)) {
    let url = match[1] ?? '';
    let descriptor = match[2] ?? '';
    if (url.endsWith(',')) {
      // The comma ends a candidate that has no descriptor. The pattern matched the next candidate as its descriptor.
      pattern.lastIndex = match.index + match[0].indexOf(url) + url.length;
      url = url.replace(/,+$/, '');
      descriptor = '';
    }
    if (url === '') continue;
    candidates.push({
      url,
      width: Number(/(\d+)w/.exec(descriptor)?.[1] ?? 0),
      density: Number(/(\d+(?:\.\d+)?)x/.exec(descriptor)?.[1] ?? 1),
    });
  }
  return candidates;
}

/** The largest candidate of the sources, or undefined if there is none. Inline data does not count. */
function largest(srcsets: string[]): string | undefined {
  let best: Candidate | undefined;
  for (const candidate of srcsets.flatMap(srcsetCandidates)) {
    if (isDataAddress(candidate.url)) continue;
    if (
      best === undefined ||
      candidate.width > best.width ||
      (candidate.width === best.width && candidate.density > best.density)
    )
      best = candidate;
  }
  return best?.url;
}

/**
 * Gives an image its largest variant as `src`, also if a script would load it later. Removes `srcset` and `sizes`.
 * @returns the `source` elements of its `picture`, to be removed.
 */
function useLargestVariant(image: Element): Element[] {
  const { attribs } = image;
  const sources =
    isElement(image.parent) && image.parent.name === 'picture'
      ? image.parent.children.filter((child): child is Element => isElement(child) && child.name === 'source')
      : [];
  const own = [attribs.srcset, attribs['data-srcset'], attribs['data-lazy-srcset']].filter(
    (value) => value !== undefined,
  );
  const srcsets = [...own, ...sources.map((source) => source.attribs.srcset ?? source.attribs['data-srcset'] ?? '')];
  const lazy = attribs['data-src'] ?? attribs['data-original'] ?? attribs['data-lazy-src'];
  if (lazy && (attribs.src === undefined || attribs.src === '' || isDataAddress(attribs.src))) attribs.src = lazy;
  const variant = srcsets.length > 0 ? largest(srcsets) : undefined;
  if (variant !== undefined) attribs.src = variant;
  for (const key of [
    'srcset',
    'sizes',
    'data-srcset',
    'data-lazy-srcset',
    'data-src',
    'data-original',
    'data-lazy-src',
  ])
    delete attribs[key];
  return sources;
}

/** `placed`: the `src` is the file name of a picture. `empty`: the image shows nothing. `other`: not a picture inside the document. */
export type Placement = 'placed' | 'empty' | 'other';

/**
 * Changes all addresses of a cleaned tree in place: makes them absolute if there is a base, gives images their largest
 * variant, and empties script addresses. `removeData` empties inline data too.
 * @param place is called for each image before its inline data is removed
 * @returns elements that are no longer needed. The caller removes them.
 */
export function normalizeAddresses(
  roots: readonly ChildNode[],
  base: string | undefined,
  removeData: boolean,
  place?: (image: Element) => Placement,
): Element[] {
  const obsolete: Element[] = [];
  walk(roots, (node) => {
    if (!isElement(node)) return true;
    const { attribs } = node;
    let placement: Placement | undefined;
    if (node.name === 'img') {
      for (const source of useLargestVariant(node)) obsolete.push(source);
      placement = place?.(node);
      if (placement === 'empty') obsolete.push(node);
    }
    for (const key of ADDRESS_ATTRIBUTES) {
      const value = attribs[key];
      if (value === undefined || (key === 'src' && placement === 'placed')) continue;
      if (isScriptAddress(value)) delete attribs[key];
      else if (removeData && isDataAddress(value)) attribs[key] = '';
      else attribs[key] = resolveAddress(value, base);
    }
    if (attribs.srcset !== undefined)
      attribs.srcset = srcsetCandidates(attribs.srcset)
        .filter((one) => !(removeData && isDataAddress(one.url)))
        .map((one) => `${resolveAddress(one.url, base)}${one.width > 0 ? ` ${one.width}w` : ` ${one.density}x`}`)
        .join(', ');
    if (removeData && attribs.style !== undefined && /url\(\s*["']?\s*data:/i.test(attribs.style)) delete attribs.style;
    return true;
  });
  return obsolete;
}

/** Absolute addresses of links, in document order, without duplicates and without inline data and scripts. */
export function listLinks(roots: readonly ChildNode[]): string[] {
  return listAddresses(roots, (element) =>
    element.name === 'a' || element.name === 'area' ? [element.attribs.href] : [],
  );
}

/** Absolute addresses of images, in document order, without duplicates and without inline data. */
export function listImages(roots: readonly ChildNode[]): string[] {
  return listAddresses(roots, imageAddresses);
}

/** The absolute addresses of the images that one element shows, without inline data. */
export function absoluteImages(element: Element): string[] {
  return imageAddresses(element).filter((address): address is string => address !== undefined && isListed(address));
}

function imageAddresses(element: Element): (string | undefined)[] {
  if (element.name === 'img') return [element.attribs.src];
  if (element.name === 'video') return [element.attribs.poster];
  if (element.name === 'input' && element.attribs.type?.toLowerCase() === 'image') return [element.attribs.src];
  if (element.name === 'image') return [element.attribs['xlink:href'] ?? element.attribs.href];
  return [];
}

function isListed(address: string): boolean {
  return ABSOLUTE.test(address) && !UNLISTED.test(address) && URL.canParse(address);
}

function listAddresses(roots: readonly ChildNode[], addresses: (element: Element) => (string | undefined)[]): string[] {
  const found = new Set<string>();
  walk(roots, (node) => {
    if (!isElement(node)) return true;
    for (const address of addresses(node)) {
      if (address !== undefined && isListed(address)) found.add(address);
    }
    return true;
  });
  return [...found];
}
