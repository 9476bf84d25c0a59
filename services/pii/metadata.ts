// Redacts the metadata of a document by one rule for each key of the contract, and every other key and value as text.
import type { DocumentMetadata } from '#shared/contract/jobs.ts';
import type { MetadataKey } from '#shared/contract/response.ts';
import { projectPlain, projectUrlValue } from './projection/value.ts';
import type { JsonValue, ValueRedaction } from './value.ts';

const isNumber = (value: unknown): boolean => typeof value === 'number';
const isBoolean = (value: unknown): boolean => typeof value === 'boolean';
const isMimeType = (value: unknown): boolean =>
  typeof value === 'string' && /^[a-z]+\/[a-z0-9.+-]{1,100}$/i.test(value);
/** BCP 47 tags, also with the underscores of a locale. */
const isLanguage = (value: unknown): boolean =>
  (Array.isArray(value) ? value : [value]).every(
    (tag) => typeof tag === 'string' && /^[a-z]{2,3}(?:[-_][a-z0-9]{2,8}){0,4}$/i.test(tag),
  );

/**
 * How a value is redacted. `text`: as text of the document. `file`: a file name, which can look like text or like a URL.
 * `counts`: the counts of this redaction replace it. A function: it is copied if the function returns true, else redacted as text.
 */
type Rule = 'text' | 'file' | 'counts' | ((value: unknown) => boolean);

/** This file does not compile if a key of the contract has no rule. */
const RULES: Record<MetadataKey, Rule> = {
  title: 'text',
  description: 'text',
  keywords: 'text',
  language: isLanguage,
  sourceURL: 'file',
  url: 'file',
  statusCode: isNumber,
  contentType: isMimeType,
  error: 'text',
  ogLocaleAlternate: isLanguage,
  numPages: isNumber,
  totalPages: isNumber,
  concurrencyLimited: isBoolean,
  concurrencyQueueDurationMs: isNumber,
  creditsUsed: isNumber,
  requestId: 'text',
  piiRedactions: 'counts',
};

const isContractKey = (key: string): key is MetadataKey => Object.hasOwn(RULES, key);

/** The metadata without `piiRedactions`, which the caller adds when it has counted everything. */
export async function redactMetadata(metadata: DocumentMetadata, values: ValueRedaction): Promise<DocumentMetadata> {
  const entries: [string, JsonValue][] = [];
  for (const [key, value] of Object.entries(metadata)) {
    if (!isContractKey(key)) {
      entries.push([await values.text(key, projectPlain), await values.json(value)]);
      continue;
    }
    const rule = RULES[key];
    if (rule === 'counts') continue;
    if (typeof rule === 'function' && rule(value)) entries.push([key, value]);
    else if (rule === 'file' && typeof value === 'string')
      entries.push([key, await values.text(await values.text(value, projectPlain), projectUrlValue)]);
    else entries.push([key, await values.json(value)]);
  }
  // A redacted value keeps its type, except that a number can become a string. Metadata may hold both.
  return Object.fromEntries(entries) as DocumentMetadata;
}
