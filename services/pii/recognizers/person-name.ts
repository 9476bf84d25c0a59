// How the name of a person is written: capitalised words with initials and particles between, none of them a word of the language.
import { COMMON_WORDS, FIRST_NAMES, LAST_NAMES } from '../lists/lexicon.ts';

const WORD = "(?:\\p{Lu}[\\p{L}\\p{M}'’-]{0,30}\\p{L}|\\p{Lu})";
const PARTICLE =
  '(?:de|de la|van|van der|van den|von|der|den|del|della|di|da|dos|bin|ibn|al|el|le|du|ter|af|zu|y|bint)';
/** Sticky: a name of up to five words on one line. */
const NAME = new RegExp(`${WORD}\\.?(?:[ \\u00a0](?:${PARTICLE}[ \\u00a0])?${WORD}\\.?){0,4}`, 'uy');
const SUFFIX = /^(?:Jr|Sr|II|III|IV)\.?$/;
const TITLE =
  /^(?:Mr|Mrs|Ms|Miss|Dr|Prof|Professor|Sir|Dame|Lord|Lady|Capt|Captain|Col|Colonel|Lt|Gen|General|Maj|Major|Sgt|Rev|Judge|Justice|President|Senator|Minister)\.?$/;

export interface Name {
  start: number;
  end: number;
  words: string[];
}

export const isInitial = (word: string): boolean => /^\p{Lu}\.?$/u.test(word);

const bare = (word: string): string => word.replace(/(?:['’]s|\.)$/u, '').toLowerCase();

/** Whether a word is a word of the language and not also a name. */
export function isCommon(word: string): boolean {
  const lower = bare(word);
  return COMMON_WORDS.has(lower) && !FIRST_NAMES.has(lower) && !LAST_NAMES.has(lower);
}

export const isFirstName = (word: string): boolean => FIRST_NAMES.has(bare(word));
export const isLastName = (word: string): boolean => LAST_NAMES.has(bare(word));
/** A name that is also a word: Will, Mark, Grant, May. */
export const isAmbiguous = (word: string): boolean => COMMON_WORDS.has(bare(word)) || AMBIGUOUS.has(bare(word));

const AMBIGUOUS = new Set(
  'will mark bill grant may june april august art rich chase drew frank grace hope faith joy rose dawn iris jack jean pat rob sandy sue summer autumn penny christian dean earl duke king prince major chip buck cash sterling victor guy miles max lance ray angel chance hunter mason carter parker taylor cook baker bishop page wade reed pierce violet ruby amber olive jade pearl crystal destiny trinity nova mercy honor royal lord eve don long white black brown young green china paris london jordan chelsea victoria georgia virginia carolina florence charlotte sydney austin madison lincoln jackson israel kenya chad mali asia india america dallas houston boston denver washington phoenix brooklyn eden genesis'.split(
    ' ',
  ),
);

/** The name that begins at `start`, cut before the first word that belongs to no name; undefined where nothing is left. */
export function readName(text: string, start: number): Name | undefined {
  NAME.lastIndex = start;
  const match = NAME.exec(text);
  if (!match) return undefined;
  const words: string[] = [];
  let end = start;
  let position = start;
  for (const piece of match[0].split(/([ \u00a0])/)) {
    if (!/[ \u00a0]/.test(piece)) {
      const lower = piece === piece.toLowerCase();
      if (words.length === 0 && TITLE.test(piece)) return undefined;
      if (!lower && (isCommon(piece) || /['’]s$/.test(piece)) && !SUFFIX.test(piece) && !isInitial(piece)) {
        // A possessive ends a name; a common word ends it before itself.
        if (/['’]s$/.test(piece) && !isCommon(piece.slice(0, -2))) {
          words.push(piece.slice(0, -2));
          end = position + piece.length - 2;
        }
        break;
      }
      words.push(piece);
      if (
        !lower &&
        !(
          isInitial(piece) &&
          words.length > 1 &&
          piece.length === 1 &&
          !/^[ \u00a0]\p{Lu}/u.test(text.slice(position + 1, position + 3)) &&
          words.length < 2
        )
      ) {
        const dotted = piece.endsWith('.') && !isInitial(piece) && !SUFFIX.test(piece);
        end = position + piece.length - (dotted ? 1 : 0);
        if (dotted) break;
      }
    }
    position += piece.length;
  }
  const kept = text
    .slice(start, end)
    .split(/[ \u00a0]/)
    .filter(Boolean);
  if (kept.length === 0 || (kept.length === 1 && isInitial(kept[0]!))) return undefined;
  return { start, end, words: kept };
}

/** Places where a capitalised word begins. */
export function* nameStarts(text: string): Generator<number> {
  for (const match of text.matchAll(/(?<![\p{L}\p{N}_'’./@-])\p{Lu}/gu)) yield match.index;
}
