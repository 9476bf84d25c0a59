// Escapes text for HTML, so that all converters and the HTML tables in Markdown use the same rules.

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text for element content or an attribute value in double quotes. Control characters that HTML does not allow are dropped. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"\u0000-\u0008\u000e-\u001f\ufffe\uffff]/g, (character) => ESCAPES[character] ?? '');
}
