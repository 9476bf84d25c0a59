// Summarizes without a model: quotes the sentences that have most words in common with the others (TextRank; Mihalcea and Tarau, 2004).
import { MODEL_LIMITS } from '#shared/contract/limits.ts';
import { paragraphsOf } from './prose.ts';
import { sentencesOf } from './sentences.ts';

interface Candidate {
  text: string;
  position: number;
  /** The first sentence of a paragraph. */
  leads: boolean;
  words: Map<string, number>;
}

const SENTENCES_MAX = 6;
const SENTENCES_MIN = 3;
const DAMPING = 0.85;
/** UTF-16 code units of a document from which sentences are quoted. */
export const EXTRACTIVE_UNITS = MODEL_LIMITS.documentUnits * 4;
const ROUNDS = 20;
/** Sentences that are compared with each other. The comparison takes quadratic time. */
const CANDIDATES_MAX = 400;
const STOPWORDS = new Set(
  'the a an and or but if then of to in on at by for from with as is are was were be been being it its this that these those he she they them his her their we our you your i not no nor so than too very can will would should could may might must do does did has have had which who whom whose what when where how why all any each some such only own same other more most into over under about after before between through during there here also der die das und oder ist sind war ein eine einer den dem des im mit von zu auf für nicht sich le la les un une des et ou est sont de du en dans que qui pour par sur el los las una y o es son en por para con del al il lo gli e di da che per non'.split(
    ' ',
  ),
);

function wordsOf(sentence: string): Map<string, number> {
  const words = new Map<string, number>();
  for (const match of sentence.toLowerCase().matchAll(/[\p{L}\p{N}]{2,}/gu)) {
    if (STOPWORDS.has(match[0])) continue;
    const stem = match[0].length > 5 ? match[0].replace(/(?:ing|ed|es|s)$/, '') : match[0];
    words.set(stem, (words.get(stem) ?? 0) + 1);
  }
  return words;
}

const quotable = (text: string): boolean =>
  text.length >= 25 && text.length <= 600 && (text.match(/\p{L}/gu)?.length ?? 0) / text.length > 0.5;

/** The dot product of two sentences' words, weighted by the rarity of each word; the caller divides it by their norms. */
function similarity(
  a: ReadonlyMap<string, number>,
  b: ReadonlyMap<string, number>,
  rarity: ReadonlyMap<string, number>,
): number {
  const [small, large] = a.size < b.size ? [a, b] : [b, a];
  let shared = 0;
  for (const [word, count] of small) shared += count * (large.get(word) ?? 0) * (rarity.get(word) ?? 0) ** 2;
  return shared;
}

function rank(candidates: readonly Candidate[]): number[] {
  const documents = new Map<string, number>();
  for (const { words } of candidates)
    for (const word of words.keys()) documents.set(word, (documents.get(word) ?? 0) + 1);
  const rarity = new Map([...documents].map(([word, count]) => [word, Math.log(1 + candidates.length / count)]));
  const norms = candidates.map(({ words }) => Math.sqrt(similarity(words, words, rarity)) || 1);
  const edges = candidates.map((a, i) =>
    candidates.map((b, j) => (i === j ? 0 : similarity(a.words, b.words, rarity) / (norms[i]! * norms[j]!))),
  );
  const sums = edges.map((row) => row.reduce((sum, value) => sum + value, 0) || 1);
  let scores = candidates.map(() => 1);
  for (let round = 0; round < ROUNDS; round += 1)
    scores = scores.map(
      (_, i) => 1 - DAMPING + DAMPING * edges.reduce((sum, row, j) => sum + (row[i]! / sums[j]!) * scores[j]!, 0),
    );
  // The start of a document and the first sentence of a paragraph usually name the topic.
  return scores.map(
    (score, i) =>
      score *
      (1 + 0.6 * Math.exp(-i / 8)) *
      (candidates[i]!.leads ? 1.15 : 1) *
      lengthFactor(candidates[i]!.text.length),
  );
}

const lengthFactor = (length: number): number => (length < 50 ? 0.7 : length > 320 ? 0.75 : 1);

function candidatesOf(markdown: string, language: string): Candidate[] {
  const candidates: Candidate[] = [];
  for (const paragraph of paragraphsOf(markdown, EXTRACTIVE_UNITS)) {
    if (paragraph.kind === 'heading') continue;
    for (const [index, text] of sentencesOf(paragraph.text, language).entries()) {
      if (!quotable(text) || (paragraph.kind === 'item' && !/[.!?]$/.test(text))) continue;
      candidates.push({ text, position: candidates.length, leads: index === 0, words: wordsOf(text) });
      if (candidates.length >= CANDIDATES_MAX) return candidates;
    }
  }
  return candidates;
}

/** The text without Markdown marks, cut at `MODEL_LIMITS.summaryUnits`. */
function entireText(markdown: string): string {
  const text = paragraphsOf(markdown, MODEL_LIMITS.documentUnits)
    .map((paragraph) =>
      paragraph.kind === 'prose' || /[.!?:]$/.test(paragraph.text) ? paragraph.text : `${paragraph.text}.`,
    )
    .join(' ');
  if (text.length <= MODEL_LIMITS.summaryUnits) return text;
  const cut = text.slice(0, MODEL_LIMITS.summaryUnits);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), MODEL_LIMITS.summaryUnits / 2))}…`;
}

/**
 * Three to six sentences of the Markdown in reading order, about `MODEL_LIMITS.summaryUnits` code units at most. A text with fewer
 * sentences is returned without Markdown marks.
 * @param language BCP 47, to find the ends of sentences
 */
export function summarizeByExtraction(markdown: string, language = 'en'): string {
  const candidates = candidatesOf(markdown, language);
  if (candidates.length <= SENTENCES_MIN) return entireText(markdown);
  const scores = rank(candidates);
  const ranked = candidates
    .map((candidate, index) => ({ candidate, score: scores[index]! }))
    .sort((a, b) => b.score - a.score);
  const chosen: Candidate[] = [];
  let length = 0;
  const take = (most: number, fits: (candidate: Candidate) => boolean): void => {
    for (const { candidate } of ranked) {
      if (chosen.length >= most) return;
      if (chosen.includes(candidate) || !fits(candidate)) continue;
      if (length + candidate.text.length > MODEL_LIMITS.summaryUnits && chosen.length > 0) continue;
      chosen.push(candidate);
      length += candidate.text.length + 1;
    }
  };
  take(SENTENCES_MAX, (candidate) => !chosen.some((other) => alike(other.words, candidate.words)));
  // If all sentences are alike, quote some of them anyway.
  take(SENTENCES_MIN, () => true);
  return chosen
    .sort((a, b) => a.position - b.position)
    .map(({ text }) => text)
    .join(' ');
}

/** Whether two sentences share more than two thirds of their words. */
function alike(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): boolean {
  const shared = [...a.keys()].filter((word) => b.has(word)).length;
  return shared / Math.max(1, Math.min(a.size, b.size)) > 0.67;
}
