// The three ways to write a redaction, in each of the three syntaxes it can stand in.
import type { PII_STYLES, PiiEntity } from '#shared/contract/options.ts';

export type ReplaceStyle = (typeof PII_STYLES)[number];

/** Where a fragment stands: Markdown or plain text, HTML source, or a URL. */
export type Encoding = 'raw' | 'html' | 'percent';

/**
 * What stands in place of `original` (SPEC 2.5). `tag`: `<EMAIL>`, escaped as the place asks for.
 * `mask`: as many `*` as the source has UTF-16 code units, line breaks kept. `remove`: nothing.
 */
export function replacementFor(entity: PiiEntity, original: string, style: ReplaceStyle, encoding: Encoding): string {
  if (style === 'remove') return '';
  if (style === 'mask') return original.replace(/[^\r\n]/g, '*');
  if (encoding === 'html') return `&lt;${entity}&gt;`;
  return encoding === 'percent' ? `%3C${entity}%3E` : `<${entity}>`;
}
