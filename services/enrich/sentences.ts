// Splits a paragraph into the sentences that an extractive summary can quote.

/** A dot after one of these, or after a single capital letter, does not end a sentence. */
const ABBREVIATION =
  /(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|No|Nos|Inc|Ltd|Co|Corp|vs|etc|e\.g|i\.e|cf|Fig|Sec|Art|approx|U\.S|Jr|Sr)|(?:^|\s)\p{Lu})\.$/u;

/**
 * Sentences by the rules of Unicode (UAX 29). A break after an abbreviation is undone.
 * @param language BCP 47
 */
export function sentencesOf(text: string, language: string): string[] {
  const sentences: string[] = [];
  for (const { segment } of new Intl.Segmenter(language, { granularity: 'sentence' }).segment(text)) {
    const sentence = segment.trim();
    if (sentence === '') continue;
    const previous = sentences[sentences.length - 1];
    if (previous !== undefined && ABBREVIATION.test(previous))
      sentences[sentences.length - 1] = `${previous} ${sentence}`;
    else sentences.push(sentence);
  }
  return sentences;
}
