// Makes relative addresses absolute, picks the largest of responsive images, and lists a document's links and images.
import type { ChildNode, Element } from 'domhandler';
import { isElement, walk } from './dom.ts';

/** Attributes that hold one address. */
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
/** Addresses that are content or code rather than a place. */
const NO_PLACE = /^(?:javascript|vbscript|data|blob|about|file):/i;
/** A scheme has two letters or more; one letter is a drive. */
const ABSOLUTE = /^[a-z][a-z0-9+.-]+:/i;
/** What browsers drop from an address before they read its scheme. */
const IGNORED_IN_ADDRESS = /[\u0000-\u0020]+/g;

/** What the document's relative addresses stand on: `<base href>`, else the canonical link; undefined without an absolute one. */
export function baseAddress(head: Element, html: Element): string | undefined {
  let base: string | undefined;
  let canonical: string | undefined;
  const look = (node: ChildNode): boolean => {
    if (!isElement(node)) return true;
    if (node.name === 'base' && node.attribs.href) base ??= node.attribs.href;
    if (node.name === 'link' && /(?:^|\s)canonical(?:\s|$)/i.test(node.attribs.rel ?? '') && node.attribs.href)
      canonical ??= node.attribs.href;
    return true;
  };
  walk(head.children, look);
  if (base === undefined && canonical === undefined) walk(html.children, look);
  const ground = canonical === undefined ? undefined : webAddress(canonical);
  if (base === undefined) return ground;
  return webAddress(base) ?? (ground === undefined ? undefined : webAddress(resolveAddress(base, ground)));
}

function webAddress(address: string): string | undefined {
  const url = URL.parse(address.trim());
  return url && (url.protocol === 'http:' || url.protocol === 'https:') ? url.href : undefined;
}

/** The address made absolute, or as it was where there is nothing to stand it on. */
export function resolveAddress(address: string, base: string | undefined): string {
  const trimmed = address.trim();
  if (trimmed === '' || base === undefined || ABSOLUTE.test(trimmed)) return trimmed;
  return URL.parse(trimmed, base)?.href ?? trimmed;
}

/** True for `javascript:` and its kin, also with the control characters that browsers overlook. */
export function isScriptAddress(address: string): boolean {
  return SCRIPT_SCHEME.test(address.replace(IGNORED_IN_ADDRESS, ''));
}

/** True for inline data. */
export function isDataAddress(address: string): boolean {
  return /^\s*data:/i.test(address);
}

interface Candidate {
  url: string;
  width: number;
  density: number;
}

/** Candidates of a `srcset` (HTML Standard, 4.8.4.2): addresses may hold commas, descriptors follow a space. */
function srcsetCandidates(srcset: string): Candidate[] {
  const candidates: Candidate[] = [];
  const pattern = /[\s,]*([^\s,]\S*)(?:\s+([^,]*))?(?:,|$)/gy;
  for (let match = pattern.exec(srcset); match !== null && candidates.length < 200; match = pattern.exec(srcset)) {
    let url = match[1] ?? '';
    let descriptor = match[2] ?? '';
    if (url.endsWith(',')) {
      // No descriptor: the comma ended the candidate, and what the pattern took for one is the next.
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

/** The largest of the candidates that the sources name, or undefined where none says more than the image itself. */
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

/** Gives every image its largest variant as `src`, also where a script would have loaded it later; `srcset`, `sizes` and `<source>` of pictures go. */
function settleImage(image: Element): Element[] {
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

/**
 * Settles all addresses of a cleaned tree in place: absolute where there is a base, images at their largest, no script
 * addresses, and inline data emptied where `removeData` asks for it.
 * @returns elements that have become empty of meaning, to be removed.
 */
export function settleAddresses(roots: readonly ChildNode[], base: string | undefined, removeData: boolean): Element[] {
  const spent: Element[] = [];
  walk(roots, (node) => {
    if (!isElement(node)) return true;
    const { attribs } = node;
    if (node.name === 'img') for (const source of settleImage(node)) spent.push(source);
    for (const key of ADDRESS_ATTRIBUTES) {
      const value = attribs[key];
      if (value === undefined) continue;
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
  return spent;
}

/** Absolute addresses of links, in document order, once each, without `javascript:` and `data:`. */
export function listLinks(roots: readonly ChildNode[]): string[] {
  return listAddresses(roots, (element) =>
    element.name === 'a' || element.name === 'area' ? [element.attribs.href] : [],
  );
}

/** Absolute addresses of images, in document order, once each. */
export function listImages(roots: readonly ChildNode[]): string[] {
  return listAddresses(roots, (element) => {
    if (element.name === 'img') return [element.attribs.src];
    if (element.name === 'video') return [element.attribs.poster];
    if (element.name === 'input' && element.attribs.type?.toLowerCase() === 'image') return [element.attribs.src];
    if (element.name === 'image') return [element.attribs['xlink:href'] ?? element.attribs.href];
    return [];
  });
}

function listAddresses(roots: readonly ChildNode[], addresses: (element: Element) => (string | undefined)[]): string[] {
  const found = new Set<string>();
  walk(roots, (node) => {
    if (!isElement(node)) return true;
    for (const address of addresses(node)) {
      if (address === undefined || address === '' || !ABSOLUTE.test(address) || NO_PLACE.test(address)) continue;
      if (URL.canParse(address)) found.add(address);
    }
    return true;
  });
  return [...found];
}
