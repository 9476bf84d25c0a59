// Reads the metadata of a web page: title, description, language, Open Graph and all other meta names.
import type { Element } from 'domhandler';
import type { DocumentMetadata } from '../contract/jobs.ts';
import { resolveAddress } from './addresses.ts';
import { isElement, textOf, walk } from './dom.ts';
import type { HtmlTree } from './tree.ts';

/** Names with a fixed meaning in the response, which no meta element may set (docs/api.md, "Metadata"). */
const DOCUMENTED = new Set([
  'title',
  'description',
  'keywords',
  'language',
  'sourceURL',
  'url',
  'statusCode',
  'contentType',
  'error',
  'ogLocaleAlternate',
  'numPages',
  'totalPages',
  'concurrencyLimited',
  'concurrencyQueueDurationMs',
  'creditsUsed',
  'requestId',
  'piiRedactions',
  'favicon',
  'publishedTime',
  '__proto__',
  'constructor',
  'prototype',
]);

/** Whether a name has a fixed meaning in the response, so that a document must not set it as it likes. */
export function isDocumentedName(name: string): boolean {
  return DOCUMENTED.has(name);
}

/** Names in the response for Open Graph and article properties. */
const PROPERTIES: ReadonlyMap<string, string> = new Map([
  ['og:title', 'ogTitle'],
  ['og:description', 'ogDescription'],
  ['og:url', 'ogUrl'],
  ['og:image', 'ogImage'],
  ['og:audio', 'ogAudio'],
  ['og:video', 'ogVideo'],
  ['og:determiner', 'ogDeterminer'],
  ['og:locale', 'ogLocale'],
  ['og:locale:alternate', 'ogLocaleAlternate'],
  ['og:site_name', 'ogSiteName'],
  ['og:type', 'ogType'],
  ['article:published_time', 'publishedTime'],
  ['article:modified_time', 'modifiedTime'],
  ['article:section', 'articleSection'],
  ['article:tag', 'articleTag'],
]);
/** The names in PROPERTIES whose values are addresses. */
const ADDRESSES = new Set(['ogUrl', 'ogImage', 'ogAudio', 'ogVideo']);
/** Maximum number of meta names, and of values of one name. Further ones are ignored. */
const MOST_NAMES = 500;
/** Maximum length of one value, in UTF-16 code units. */
const VALUE_LENGTH = 20_000;

/** Metadata of an HTML page. `base`: the base of its relative addresses. */
export function htmlMetadata(tree: HtmlTree, base: string | undefined): DocumentMetadata {
  const named = new Map<string, string[]>();
  const add = (name: string, value: string | undefined): void => {
    const text = value?.trim().slice(0, VALUE_LENGTH);
    if (!text) return;
    const list = named.get(name);
    if (list) {
      if (!list.includes(text) && list.length < MOST_NAMES) list.push(text);
    } else if (named.size < MOST_NAMES) named.set(name, [text]);
  };

  let title: string | undefined;
  let favicon: string | undefined;
  const language = tree.html.attribs.lang ?? tree.html.attribs['xml:lang'] ?? tree.body.attribs.lang;
  const head = (element: Element): void => {
    const { attribs, name } = element;
    if (name === 'title') title ??= textOf(element.children).replace(/\s+/g, ' ').trim();
    else if (name === 'link' && /(?:^|\s)icon(?:\s|$)/i.test(attribs.rel ?? '')) favicon ??= attribs.href;
    else if (name === 'meta') readMeta(element, add);
  };
  walk([tree.html], (node) => {
    if (!isElement(node)) return true;
    if (node.name === 'svg' || node.name === 'noscript') return false;
    if (node.name === 'title' || node.name === 'link' || node.name === 'meta') head(node);
    return true;
  });

  const metadata: DocumentMetadata = {};
  const take = (name: string): string | string[] | undefined => {
    const list = named.get(name);
    named.delete(name);
    return list === undefined ? undefined : list.length === 1 ? list[0] : list;
  };
  if (title) metadata.title = title;
  const declared = language?.trim() || take('\u0000language');
  if (declared) metadata.language = declared;
  for (const name of ['description', 'keywords', 'publishedTime'] as const) {
    const value = take(name);
    if (value !== undefined) metadata[name] = value;
  }
  const alternates = named.get('ogLocaleAlternate');
  if (alternates) metadata.ogLocaleAlternate = alternates;
  named.delete('ogLocaleAlternate');
  if (favicon?.trim()) metadata.favicon = resolveAddress(favicon, base);
  for (const [name, values] of named) {
    if (name.startsWith('\u0000') || DOCUMENTED.has(name)) continue;
    const resolved = ADDRESSES.has(name) ? values.map((value) => resolveAddress(value, base)) : values;
    metadata[name] = resolved.length === 1 ? (resolved[0] ?? '') : resolved;
  }
  return metadata;
}

function readMeta(element: Element, add: (name: string, value: string | undefined) => void): void {
  const { attribs } = element;
  const { content } = attribs;
  const property = attribs.property?.trim() ?? '';
  const name = attribs.name?.trim() ?? '';
  const known = PROPERTIES.get((property || name).toLowerCase());
  if (known !== undefined) {
    add(known, content);
    // The response also has the property under its own name.
    if (known !== 'publishedTime' && known !== 'ogLocaleAlternate') add(property || name, content);
    return;
  }
  const lower = name.toLowerCase();
  if (lower === 'description' || lower === 'keywords') add(lower, content);
  else if (attribs['http-equiv']?.toLowerCase() === 'content-language') add('\u0000language', content);
  else if (lower === 'language') add('\u0000language', content);
  else if (name !== '' || property !== '') add(name || property, content);
}
