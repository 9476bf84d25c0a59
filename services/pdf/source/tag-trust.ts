// Checks the headings that a tagged file names against its pages: many writers tag every line as text, or headings by mistake.
import type { Box } from './geometry.ts';
import { overlap, unionBox } from './geometry.ts';
import type { PageContent, Word } from './page-model.ts';
import { headingAround, isCell, nearest, type StructureElement, taggedLevel } from './structure.ts';

/** Longest heading, in letters without spaces. */
const MAX_LETTERS = 240;
/** Words this near on one line, in type sizes, are of one line of text. */
const SAME_LINE_GAP = 1.5;
/** Share of the letters of tagged pages that must be tagged: what is tagged in part was tagged by hand, or is damaged. */
const LEAST_COVERAGE = 0.6;
/** Share of the tagged letters that headings may have. */
const MOST_HEADING_LETTERS = 0.5;
/** Share of the tagged headings that must look like headings. */
const LEAST_SOUND = 0.7;
/** Share of the tagged headings that must differ from the text in style. */
const LEAST_DISTINCT = 0.25;

/** One tagged heading on a page. */
interface TaggedHeading {
  element: StructureElement;
  words: Word[];
  /** It is no longer than a heading, has its lines to itself, and stands in no table. */
  sound: boolean;
  style: string;
}

/** What the pages read so far tell about the tags of a document. */
export class TagTrust {
  #letters = 0;
  #tagged = 0;
  #headingLetters = 0;
  #sound = 0;
  readonly #headingStyles: string[] = [];
  readonly #textStyles = new Map<string, number>();

  /** Looks at pages, then writes `tag` to their words if the tags of the headings of the document agree with its pages. */
  mark(pages: readonly PageContent[]): void {
    const headings = pages.flatMap((page) => (page.words.some((word) => word.element) ? this.#weighPage(page) : []));
    if (!this.#isTrusted()) return;
    for (const page of pages) for (const word of page.words) if (word.element) word.tag = 'text';
    for (const { element, words, sound } of headings) {
      if (!sound) continue;
      const tag = { level: taggedLevel(element) };
      for (const word of words) word.tag = tag;
    }
  }

  #weighPage(page: PageContent): TaggedHeading[] {
    const byElement = new Map<StructureElement, Word[]>();
    for (const word of page.words) {
      const { length } = word.text;
      this.#letters += length;
      if (word.element || word.artifact) this.#tagged += length;
      const heading = headingAround(word.element);
      if (!heading) {
        const style = styleOf(word);
        this.#textStyles.set(style, (this.#textStyles.get(style) ?? 0) + length);
        continue;
      }
      this.#headingLetters += length;
      const words = byElement.get(heading);
      if (words) words.push(word);
      else byElement.set(heading, [word]);
    }
    return [...byElement].map(([element, words]) => {
      const letters = words.reduce((sum, word) => sum + word.text.length, 0);
      const sound =
        !nearest(element, isCell) &&
        letters <= MAX_LETTERS &&
        !isSentence(words, letters) &&
        standsAlone(words, page.words);
      if (sound) this.#sound++;
      const style = styleOf(words.reduce((a, b) => (b.text.length > a.text.length ? b : a)));
      this.#headingStyles.push(style);
      return { element, words, sound, style };
    });
  }

  #isTrusted(): boolean {
    const count = this.#headingStyles.length;
    if (count === 0 || this.#tagged < this.#letters * LEAST_COVERAGE) return false;
    if (this.#headingLetters > this.#tagged * MOST_HEADING_LETTERS || this.#sound < count * LEAST_SOUND) return false;
    const [usual] = [...this.#textStyles].reduce((a, b) => (b[1] > a[1] ? b : a), ['', 0]);
    return this.#headingStyles.filter((style) => style !== usual).length >= count * LEAST_DISTINCT;
  }
}

function styleOf({ style, text }: Word): string {
  const capitals = /\p{Lu}/u.test(text) && !/\p{Ll}/u.test(text) && text.length > 1;
  return `${style.size.toFixed(1)}|${style.font}|${style.bold}|${style.italic}|${style.color}|${capitals}`;
}

/** Letters of the shortest text with a full stop at its end that is a sentence and no heading. */
const SENTENCE_LETTERS = 80;

function isSentence(words: readonly Word[], letters: number): boolean {
  return letters > SENTENCE_LETTERS && /[.,;]$/.test(words.at(-1)?.text ?? '');
}

/** Whether no other text stands on the lines of these words. */
function standsAlone(words: readonly Word[], all: readonly Word[]): boolean {
  const own = new Set(words);
  const box = words.reduce<Box>((sum, word) => unionBox(sum, word.box), (words[0] as Word).box);
  const near = all.filter(
    (word) => !own.has(word) && !word.artifact && overlap(word.box.y0, word.box.y1, box.y0, box.y1) > 0,
  );
  return near.every((word) =>
    words.every((one) => {
      const height = Math.min(word.box.y1 - word.box.y0, one.box.y1 - one.box.y0);
      if (overlap(word.box.y0, word.box.y1, one.box.y0, one.box.y1) < height * 0.5) return true;
      const gap = Math.max(word.box.x0 - one.box.x1, one.box.x0 - word.box.x1);
      return gap > Math.max(word.style.size, one.style.size) * SAME_LINE_GAP;
    }),
  );
}
