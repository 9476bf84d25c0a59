// Cuts a document to what a model may be sent, at a border a reader would choose.
import { MODEL_LIMITS } from '#shared/contract/limits.ts';

export interface Excerpt {
  text: string;
  /** Set where the document was longer. */
  warning: string | undefined;
}

/** At most `MODEL_LIMITS.documentUnits` code units of the Markdown, cut at the last paragraph, line or word border. */
export function excerptOf(markdown: string): Excerpt {
  const most = MODEL_LIMITS.documentUnits;
  if (markdown.length <= most) return { text: markdown, warning: undefined };
  const head = markdown.slice(0, most);
  const border =
    [head.lastIndexOf('\n\n'), head.lastIndexOf('\n'), head.lastIndexOf(' ')].find((place) => place > most / 2) ??
    most - 1;
  return {
    text: head.slice(0, border).trimEnd(),
    warning: `The document is longer than the language model is given: it read the first ${border} of ${markdown.length} characters.`,
  };
}
