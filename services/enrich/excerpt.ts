// Cuts a document to the size that is sent to a model, at the end of a paragraph, line or word.
import { MODEL_LIMITS } from '#shared/contract/limits.ts';
import type { TextStart } from './record-text.ts';

interface Excerpt {
  text: string;
  /** Set if the document was longer. */
  warning: string | undefined;
}

/** At most `MODEL_LIMITS.documentUnits` code units of the Markdown, cut at the last end of a paragraph, a line or a word. */
export function excerptOf({ text: markdown, length }: TextStart): Excerpt {
  const most = MODEL_LIMITS.documentUnits;
  if (length <= most) return { text: markdown, warning: undefined };
  const head = markdown.slice(0, most);
  const end =
    [head.lastIndexOf('\n\n'), head.lastIndexOf('\n'), head.lastIndexOf(' ')].find((index) => index > most / 2) ??
    most - 1;
  return {
    text: head.slice(0, end).trimEnd(),
    warning: `The document is too long for the language model: the model read the first ${end} of ${length} characters.`,
  };
}
