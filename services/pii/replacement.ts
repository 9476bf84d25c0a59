// Writes the replacement of a fragment in three styles and three syntaxes.
import type { PII_STYLES, PiiEntity } from '#shared/contract/options-schema.ts';

export type ReplaceStyle = (typeof PII_STYLES)[number];

/** The syntax around a fragment: `raw` for Markdown and plain text, `html` for HTML source, `percent` for a URL. */
export type Encoding = 'raw' | 'html' | 'percent';

/**
 * The replacement of `original` (docs/api.md, "Redaction"). `tag`: `<EMAIL>`, escaped for the syntax.
 * `mask`: one `*` for each UTF-16 code unit of the source; line breaks stay. `remove`: an empty string.
 */
export function replacementFor(entity: PiiEntity, original: string, style: ReplaceStyle, encoding: Encoding): string {
  if (style === 'remove') return '';
  if (style === 'mask') return original.replace(/[^\r\n]/g, '*');
  if (encoding === 'html') return `&lt;${entity}&gt;`;
  return encoding === 'percent' ? `%3C${entity}%3E` : `<${entity}>`;
}
