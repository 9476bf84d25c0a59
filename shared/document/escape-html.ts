// Escapes text for HTML in one way for all converters and for the tables that Markdown holds as HTML.

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text for element content or an attribute value in double quotes. Control characters that HTML cannot hold are dropped. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"\u0000-\u0008\u000e-\u001f\ufffe\uffff]/g, (character) => ESCAPES[character] ?? '');
}
