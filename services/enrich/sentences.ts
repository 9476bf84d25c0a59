// Takes the prose out of Markdown and cuts it into sentences, in reading order.

const FENCE = /^\s{0,40}(?:`{3,}|~{3,})/;
const SKIPPED_LINE =
  /^\s*(?:\||<!--|\[\^?[^\]]{1,100}\]:|[-*_]{3,}\s*$|!\[|<\/?(?:table|tr|td|th|thead|tbody|img|figure)\b)/i;

/** One line without Markdown marks: links keep their words, images and footnote marks go. */
export function stripMarks(line: string): string {
  return line
    .replace(/^\s*(?:>\s*)*(?:#{1,6}\s+|[-*+]\s+(?:\[[ xX]\]\s+)?|\d{1,9}[.)]\s+)?/, '')
    .replace(/!\[[^\]]{0,1000}\]\([^)]{0,4000}\)/g, '')
    .replace(/\[\^[^\]]{1,100}\]/g, '')
    .replace(/\[([^\]]{0,1000})\]\([^)]{0,4000}\)/g, '$1')
    .replace(/<(?!(?:PERSON|EMAIL|PHONE|LOCATION|FINANCIAL|SECRET)>)\/?[a-zA-Z][^<>]{0,500}>/g, ' ')
    .replace(/(^|[\s(])[*_]{1,3}(?=\S)/g, '$1')
    .replace(/(?<=\S)[*_]{1,3}(?=[\s).,;:!?]|$)/g, '')
    .replace(/\*\*|~~|`/g, '')
    .replace(/\\([!-/:-@[-`{-~])/g, '$1')
    .replace(/&nbsp;/g, ' ')
    .replace(/&amp;/g, '&')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/\s+/g, ' ')
    .trim();
}

export interface Paragraph {
  text: string;
  /** A heading or a list item says what a paragraph is about, but is not a sentence to quote. */
  kind: 'heading' | 'item' | 'prose';
}

/** Paragraphs of prose, headings and list items; tables, code, images, rules and comments left out. Reads at most `most` code units. */
export function paragraphsOf(markdown: string, most: number): Paragraph[] {
  const paragraphs: Paragraph[] = [];
  let prose: string[] = [];
  let fenced = false;
  const settle = (): void => {
    const text = prose.join(' ').trim();
    if (text !== '') paragraphs.push({ text, kind: 'prose' });
    prose = [];
  };
  for (const line of markdown.slice(0, most).split('\n')) {
    if (FENCE.test(line)) {
      fenced = !fenced;
      settle();
    } else if (fenced) continue;
    else if (line.trim() === '' || SKIPPED_LINE.test(line)) settle();
    else if (/^\s*(?:>\s*)*#{1,6}\s/.test(line)) {
      settle();
      paragraphs.push({ text: stripMarks(line), kind: 'heading' });
    } else if (/^\s*(?:[-*+]|\d{1,9}[.)])\s/.test(line)) {
      settle();
      const text = stripMarks(line);
      if (text !== '') paragraphs.push({ text, kind: 'item' });
    } else prose.push(stripMarks(line));
  }
  settle();
  return paragraphs;
}

/** Sentences by the rules of Unicode (UAX 29), an abbreviation's dot put back where it broke one. */
export function sentencesOf(text: string, language: string): string[] {
  const sentences: string[] = [];
  for (const { segment } of new Intl.Segmenter(language, { granularity: 'sentence' }).segment(text)) {
    const sentence = segment.trim();
    if (sentence === '') continue;
    const previous = sentences[sentences.length - 1];
    if (
      previous !== undefined &&
      /(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|No|Nos|Inc|Ltd|Co|Corp|vs|etc|e\.g|i\.e|cf|Fig|Sec|Art|approx|U\.S|Jr|Sr)|(?:^|\s)\p{Lu})\.$/u.test(
        previous,
      )
    )
      sentences[sentences.length - 1] = `${previous} ${sentence}`;
    else sentences.push(sentence);
  }
  return sentences;
}
