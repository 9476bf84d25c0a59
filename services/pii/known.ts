// What was found once is redacted wherever it stands again: a trie of words, so that a thousand names cost no more than one.
import type { PiiEntity } from '#shared/contract/options.ts';
import type { Span } from './recognizer.ts';

interface Node {
  next: Map<string, Node>;
  entity?: PiiEntity;
}

const WORD = /[\p{L}\p{N}]+/gu;
/** Words of one fragment, and fragments of one document, that are remembered. */
const WORDS_MAX = 24;
const FRAGMENTS_MAX = 200_000;
const FRAGMENT_LENGTH_MIN = 3;

export class KnownFragments {
  readonly #root: Node = { next: new Map() };
  #size = 0;
  readonly #fold: boolean;

  /** @param fold take upper and lower case for the same, as addresses on the web write names */
  constructor(fold = false) {
    this.#fold = fold;
  }

  #key(word: string): string {
    return this.#fold ? word.toLowerCase() : word;
  }

  /** Remembers a fragment of at least three letters or digits. */
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

  get size(): number {
    return this.#size;
  }

  /** Whole-word occurrences, the longest at each place; between its words a fragment may have other blanks and marks than when it was found. */
  find(text: string): Span[] {
    const spans: Span[] = [];
    if (this.#size === 0) return spans;
    const words = [...text.matchAll(WORD)];
    for (let index = 0; index < words.length; index += 1) {
      let node: Node | undefined = this.#root;
      let best: { last: number; entity: PiiEntity } | undefined;
      for (let last = index; last < words.length && node; last += 1) {
        const word: RegExpExecArray = words[last]!;
        if (last > index && !joins(text, words[last - 1]!, word)) break;
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

/** Words of one fragment stand close, and no border of a cell or paragraph lies between. */
function joins(text: string, left: RegExpExecArray, right: RegExpExecArray): boolean {
  const end = left.index + left[0].length;
  return right.index - end <= 4 && !/\||\n\s*\n/.test(text.slice(end, right.index));
}
