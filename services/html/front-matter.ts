// Reads the YAML front matter of a Markdown file as metadata, and separates it from the text.
import { parseDocument } from 'yaml';
import type { DocumentMetadata } from '#shared/contract/jobs.ts';
import { isDocumentedName } from '#shared/document/metadata.ts';

interface FrontMatter {
  metadata: DocumentMetadata;
  /** The text after the front matter. */
  body: string;
}

/** UTF-16 code units of front matter. A longer one is text. */
const LENGTH = 64 * 1024;
const KEYS = 100;
const VALUE_LENGTH = 4_096;
const BLOCK = /^---[ \t]*\n([\s\S]*?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)/;
/** Names that programs write (Jekyll, Hugo, Pandoc), with our names. */
const NAMES: Readonly<Record<string, string>> = {
  title: 'title',
  author: 'author',
  authors: 'author',
  description: 'description',
  summary: 'description',
  abstract: 'description',
  excerpt: 'description',
  keywords: 'keywords',
  tags: 'keywords',
  lang: 'language',
  language: 'language',
  date: 'publishedTime',
  published: 'publishedTime',
};

/** Front matter is a mapping between two lines `---` at the start of the text. Anything else is text. */
export function readFrontMatter(text: string): FrontMatter {
  const match = BLOCK.exec(text.slice(0, LENGTH));
  const values = match ? mapping(match[1] ?? '') : undefined;
  if (!match || !values) return { metadata: {}, body: text };
  const metadata: DocumentMetadata = {};
  for (const [key, raw] of Object.entries(values).slice(0, KEYS)) {
    const value = metadataValue(raw);
    const known = Object.hasOwn(NAMES, key.toLowerCase()) ? NAMES[key.toLowerCase()] : undefined;
    if (value === undefined || (known === undefined && (!/^[\w.:-]{1,64}$/.test(key) || isDocumentedName(key))))
      continue;
    const name = known ?? key;
    if (metadata[name] === undefined)
      metadata[name] = name === 'title' && Array.isArray(value) ? value.join(' ') : value;
  }
  return { metadata, body: text.slice(match[0].length) };
}

function mapping(yaml: string): Record<string, unknown> | undefined {
  try {
    // Dates and numbers stay as they are written. Aliases could multiply the content, so none is read.
    const document = parseDocument(yaml, { schema: 'failsafe', logLevel: 'silent', prettyErrors: false });
    if (document.errors.length > 0) return undefined;
    const value: unknown = document.toJS({ maxAliasCount: 0 });
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** A text, or a list of texts. `name` is taken from the objects of a list of authors. Undefined for anything else. */
function metadataValue(raw: unknown): string | string[] | undefined {
  if (Array.isArray(raw)) {
    const list = raw
      .map((item: unknown) => (isNamed(item) ? item.name : item))
      .filter((item) => typeof item === 'string');
    return list.length === 0 ? undefined : list.slice(0, KEYS).map((item) => item.trim().slice(0, VALUE_LENGTH));
  }
  const text = isNamed(raw) ? raw.name : raw;
  return typeof text === 'string' && text.trim() !== '' ? text.trim().slice(0, VALUE_LENGTH) : undefined;
}

const isNamed = (value: unknown): value is { name: unknown } =>
  typeof value === 'object' && value !== null && 'name' in value;
