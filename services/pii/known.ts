// Remembers found fragments and finds them in other texts, with a trie of words, so that the cost does not grow with their number.
import type { PiiEntity } from '#shared/contract/options-schema.ts';
import type { Span } from './recognizer.ts';

interface Node {
  next: Map<string, Node>;
  entity?: PiiEntity;
}

const WORD = /[\p{L}\p{N}]+/gu;
/** A fragment of more words is not remembered. */
const WORDS_MAX = 24;
/** Largest number of fragments that are remembered for one document. */
const FRAGMENTS_MAX = 200_000;
/** Fewest letters and digits of a fragment. A shorter one occurs too often with another meaning. */
const FRAGMENT_LENGTH_MIN = 3;
/** Code units between two words of one fragment. */
const WORD_GAP_MAX = 4;

export class KnownFragments {
  readonly #root: Node = { next: new Map() };
  #size = 0;
  readonly #fold: boolean;

  /** @param fold ignores case, because URLs write names in lower case */
  constructor(fold = false) {
    this.#fold = fold;
  }

  #key(word: string): string {
    return this.#fold ? word.toLowerCase() : word;
  }

  /** Remembers a fragment, unless it is too short or too long. */
  add(fragment: string, entity: PiiEntity): void {
    const words = fragment.match(WORD);
    if (
      !words ||
      words.length > WORDS_MAX ||
      words.join('').length < FRAGMENT_LENGTH_MIN ||
      this.#size >= FRAGMENTS_MAX
    )
      return;
    let node = this.#root;
    for (const word of words) {
      const key = this.#key(word);
      let next = node.next.get(key);
      if (!next) node.next.set(key, (next = { next: new Map() }));
      node = next;
    }
    if (node.entity === undefined) this.#size += 1;
    node.entity = entity;
  }

  /** The longest remembered fragment at each offset, as entire words. Blanks and punctuation between the words may differ. */
  find(text: string): Span[] {
    const spans: Span[] = [];
    if (this.#size === 0) return spans;
    const words = [...text.matchAll(WORD)];
    for (let index = 0; index < words.length; index += 1) {
      let node: Node | undefined = this.#root;
      let best: { last: number; entity: PiiEntity } | undefined;
      for (let last = index; last < words.length && node; last += 1) {
        const word: RegExpExecArray = words[last]!;
        if (last > index && !areAdjacent(text, words[last - 1]!, word)) break;
        node = node.next.get(this.#key(word[0]));
        if (node?.entity !== undefined) best = { last, entity: node.entity };
      }
      if (!best) continue;
      const end = words[best.last]!;
      spans.push({ start: words[index]!.index, end: end.index + end[0].length, entity: best.entity, score: 0.9 });
      index = best.last;
    }
    return spans;
  }
}

/** Whether two words are close enough for one fragment, in the same cell and paragraph. */
function areAdjacent(text: string, left: RegExpExecArray, right: RegExpExecArray): boolean {
  const end = left.index + left[0].length;
  return right.index - end <= WORD_GAP_MAX && !/\||\n\s*\n/.test(text.slice(end, right.index));
}
