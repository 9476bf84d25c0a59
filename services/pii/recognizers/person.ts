// People whom the words around them name: titles, introductions, verbs that only people do, columns of names.
import { COUNTRIES, PLACES } from '../lists/lexicon.ts';
import { ALL_MODES, type Recognizer, type Span } from '../recognizer.ts';
import {
  isAmbiguous,
  isCommon,
  isFirstName,
  isInitial,
  isLastName,
  type Name,
  nameStarts,
  readName,
} from './person-name.ts';

const span = (name: Name, score: number): Span => ({ start: name.start, end: name.end, entity: 'PERSON', score });

const TITLES =
  /(?<![\p{L}\p{N}])(?:Mr|Mrs|Ms|Mx|Miss|Dr|Prof|Professor|Sir|Dame|Lord|Lady|Capt|Captain|Col|Colonel|Lt|Lieutenant|Gen|Maj|Sgt|Sergeant|Cpl|Rev|Reverend|Fr|Judge|Justice|Sen|Senator|Rep|Gov|Governor|President|Chancellor|Prime Minister|Foreign Minister|Foreign Secretary|Defen[cs]e Secretary|Secretary of State|Ambassador|Congressman|Congresswoman|Sheikh|Imam|Rabbi|Herr|Frau|Monsieur|Madame|Mme|Señor|Señora|Sr|Sra|Don|Doña)\.?,?[ \u00a0](?:(?:Mr|Mrs|Dr|Gen|Col|Prof)\.[ \u00a0])?(?=\p{Lu})/gu;

/** `Dr. Jane Doe`: the title stays readable, it names nobody. */
export const titledPerson: Recognizer = {
  entity: 'PERSON',
  name: 'titled-person',
  modes: ALL_MODES,
  find: (text) =>
    [...text.matchAll(TITLES)].flatMap((match) => {
      const name = readName(text, match.index + match[0].length);
      return name && !/^(?:of|for|and)$/.test(name.words[1] ?? '') ? [span(name, 0.85)] : [];
    }),
};

const INTRODUCTIONS =
  /(?<![\p{L}\p{N}])(?:(?:[Mm]y|[Yy]our|[Hh]is|[Hh]er|[Ff]ull|[Ll]ast|[Ff]irst|[Uu]ser|[Pp]artner['’]s|[Cc]ustomer['’]s?|[Pp]atient['’]s?) name(?: is|['’]s|:)?\??|[Nn]ame:|[Nn]amed|[Ww]as called|[Nn]amed (?:him|her|them)|I am|I['’]m|[Tt]his is|[Hh]i|[Hh]ello|[Hh]ey|[Dd]ear|[Aa]ttention:|[Aa]ttn:?|ATTN:|[Cc]ontact:|[Aa]uthor:|[Ss]igned(?: by)?:?|[Ss]incerely,?|[Rr]egards,?|[Cc]heers,|[Tt]hanks,|\/ ?[sS] ?\/|[Bb]ill(?:ing address| to| To):|[Ss]hip(?:ping address| to| To):|[Mm]ailing address:|[Aa]ddress:|[Bb]eneficiary:?|[Cc]c:|[Ff]rom:|[Pp]repared (?:by|for):?|[Ww]ritten by|[Dd]irected by|[Ss]tarring|[Ss]ung by|[Pp]roduced by|[Cc]omposed by|[Pp]hoto by|[Rr]eported by|[Pp]ainted by|[Aa]rranged and sung by|[Tt]ribute to|[Aa]ssistant to|[Ss]peak (?:to|with)|[Mm]et with|[Mm]arried(?: to)?|[Ww]idow of|[Ss]on of|[Dd]aughter of|[Ww]ife,?|[Hh]usband,?|[Bb]rother,?|[Ss]ister,?|[Ff]ather,?|[Mm]other,?|[Cc]olleague,?|[Mm]anager,?|I want to add|[Aa]ccording to|[Tt]hough|[Ss]ucceeded by|[Ss]poke(?:s)?(?:man|woman|person)|[Dd]irector|[Cc]hairman|CEO|CFO|[Ff]ounder|[Aa]rtist|[Ss]inger|[Aa]ctor|[Aa]ctress|[Aa]uthor|[Cc]ommander|had given|[Hh]ave you been to a|to leave me|ex-\p{L}{2,20})[ \n\u00a0]{1,6}(?=\p{Lu})/gu;
/** Introductions after which one unknown word is a name, too. */
const STRONG =
  /(?:name|named|called|him|her|hi|hello|hey|dear|attention|attn|contact|author|signed|sincerely|regards|cheers|from|spokesman|spokeswoman|had given|leave me|ex-\p{L}+|starring|sung by|directed by|written by|\/ ?s ?\/)\??[:,]?\s*$/iu;

/** `My name is Jane Doe`, `Dear Jane`, `directed by Jane Doe`. */
export const introducedPerson: Recognizer = {
  entity: 'PERSON',
  name: 'introduced-person',
  modes: ALL_MODES,
  find: (text) =>
    [...text.matchAll(INTRODUCTIONS)].flatMap((match) => {
      const name = readName(text, match.index + match[0].length);
      if (!name) return [];
      const known = name.words.some((word) => isFirstName(word) || isLastName(word));
      if (name.words.length >= 2)
        return [
          span(
            name,
            known
              ? 0.8
              : /^(?:[Aa]ccording|[Tt]hough|[Aa]ddress|I am|I['’]m|[Tt]his is|[Mm]other|[Ff]ather)/.test(match[0])
                ? 0.5
                : 0.7,
          ),
        ];
      const word = name.words[0]!;
      if (word === word.toUpperCase() && word.length > 2 && !known) return [];
      return (STRONG.test(match[0]) && !isCommon(word)) || (known && !isAmbiguous(word)) ? [span(name, 0.62)] : [];
    }),
};

const DEEDS_OF_PEOPLE =
  /^(?:,? who\b| lives?\b| lived\b| was born\b| grew up\b| had given\b| spent a year\b| is an? \d+ year|, can I\b|, could you\b|, the \p{Lu}\p{L}+, said|: ?["“]|, \d{1,3},| \(born\b| \(b\. |['’]s (?:wife|husband|mother|father|son|daughter|sister|brother|address|boss|name|birthday))/u;
const DEEDS =
  /^(?: said\b| says\b| told\b| asked\b| wrote\b| replied\b| added\b| explained\b| joined\b| married\b| died\b| worked\b| works\b| studied\b| retired\b| resigned\b| was (?:appointed|elected|educated|influenced|killed|married|arrested)|,? (?:Title|VP|CEO|CFO|Chairman|Director|President|Manager)\b| from \p{Lu})/u;

/** `Jane Doe lives at`, `Jane said`: what follows a name. */
export const actingPerson: Recognizer = {
  entity: 'PERSON',
  name: 'acting-person',
  modes: ALL_MODES,
  find(text) {
    const spans: Span[] = [];
    let covered = 0;
    for (const start of nameStarts(text)) {
      if (start < covered) continue;
      const name = readName(text, start);
      if (!name || name.words.length > 4) continue;
      const after = text.slice(name.end, name.end + 40);
      const known = name.words.some((word) => isFirstName(word) || isLastName(word));
      const single = name.words.length === 1;
      if (name.words.some((word) => word.length > 3 && word === word.toUpperCase()) && !known) continue;
      const personal = DEEDS_OF_PEOPLE.test(after);
      if (!personal && !(DEEDS.test(after) && (known || !/^ (?:from|said|added|joined)/.test(after)))) continue;
      if (single && (isCommon(name.words[0]!) || (isAmbiguous(name.words[0]!) && !personal) || (!personal && !known)))
        continue;
      if (/ who\b|^, \d/.test(after.slice(0, 6)) && !known && single) continue;
      spans.push(span(name, known ? 0.8 : 0.65));
      covered = name.end;
    }
    return spans;
  },
};

/** `Ravil G Yefimov`: an initial between two words that mean nothing else. */
export const initialledPerson: Recognizer = {
  entity: 'PERSON',
  name: 'initialled-person',
  modes: ALL_MODES,
  find(text) {
    const spans: Span[] = [];
    for (const match of text.matchAll(
      /(?<![\p{L}\p{N}_'’./@-])\p{Lu}\p{Ll}[\p{L}'’-]{0,24} \p{Lu}\.? (?=\p{Lu}\p{Ll})/gu,
    )) {
      const name = readName(text, match.index);
      if (!name || name.words.length < 3 || !isInitial(name.words[1]!) || isInitial(name.words[2]!)) continue;
      spans.push(span(name, 0.72));
    }
    return spans;
  },
};

const NAME_LIST =
  /(?<![\p{L}\p{N}'’@./-])\p{L}\p{Ll}[\p{L}'’-]{0,20}(?:, \p{L}\p{Ll}[\p{L}'’-]{0,20}){1,20},? (?:and|or|&) \p{L}\p{Ll}[\p{L}'’-]{0,20}(?![\p{L}\p{N}]| \p{Lu})/gu;

/** `Hannah, Anthony, Derek and Anna`: a list of single names, of which half are known. */
export const listedPeople: Recognizer = {
  entity: 'PERSON',
  name: 'listed-people',
  modes: ALL_MODES,
  find: (text) =>
    [...text.matchAll(NAME_LIST)].flatMap((match) => {
      const items = [
        ...match[0]
          .replace(/(?<=,? )(?:and|or|&) (?=[^,]*$)/, (word) => ' '.repeat(word.length))
          .matchAll(/\p{L}[\p{L}'’-]+/gu),
      ];
      const known = items.filter((item) => isFirstName(item[0]) && !isAmbiguous(item[0])).length;
      const written = items.every((item) => /^\p{Lu}/u.test(item[0]));
      // Written small they are names only where nearly all of them are known.
      if (known < items.length * (written ? 0.5 : 0.65)) return [];
      return items.map((item) => ({
        start: match.index + item.index,
        end: match.index + item.index + item[0].length,
        entity: 'PERSON' as const,
        score: 0.65,
      }));
    }),
};

const NAME_LABEL =
  /^(?:(?:full|first|last|given|family|middle|employee|customer|client|patient|contact|student|member|user|account holder|card ?holder|beneficiary|applicant|manager|owner|author|sender|recipient|staff|guest|driver|tenant|doctor|teacher)[ _-]?(?:name|names)?|names?|surname|attendees?|participants?|person|people|assigned to|assignee|reported by|prepared by|signed by|vor?name|nachname|nom|prénom|nombre|apellidos?)$/;
const FIRM = /(?:inc|ltd|llc|gmbh|corp|co|plc|group|bank|company|s\.?a\.?|b\.?v\.?)\.?$/i;

/** Cells under "Name", "Customer", "Contact"... that hold nothing but a name. */
export const personCell: Recognizer = {
  entity: 'PERSON',
  name: 'person-cell',
  modes: ALL_MODES,
  find: (text, context) =>
    context.cells.flatMap((cell) => {
      if (!NAME_LABEL.test(cell.label.trim())) return [];
      const raw = text.slice(cell.start, cell.end);
      const value = raw.trim();
      const start = cell.start + raw.indexOf(value);
      if (value.length < 2 || value.length > 60 || FIRM.test(value) || !/^\p{Lu}[\p{L}\p{M}'’. ,-]*$/u.test(value))
        return [];
      const words = value.split(/[ ,]+/);
      const known = words.some((word) => isFirstName(word) || isLastName(word));
      // "Name" heads columns of things as well: words of the language there are no names.
      const plain = words.filter((word) => isCommon(word)).length;
      if (words.length > 5 || (plain > 0 && !known) || plain * 2 > words.length) return [];
      if (words.length === 1 && !known && /^names?$/.test(cell.label.trim())) return [];
      return [{ start, end: start + value.length, entity: 'PERSON' as const, score: known ? 0.85 : 0.7 }];
    }),
};

/** Surnames that stand first in Chinese, Korean and Vietnamese names, without those that are English words. */
const CHINESE_SURNAMES: ReadonlySet<string> = new Set(
  'Wang Li Zhang Liu Chen Yang Huang Zhao Zhou Xu Zhu Hu Guo Lin Gao Luo Zheng Liang Xie Tang Deng Feng Cao Zeng Peng Xiao Cai Tian Dong Yuan Ye Jiang Wei Cheng Lu Ding Shen Yao Zhong Cui Jin Dou Bing Nguyen Tran Pham Hoang Kim Park Choi Jeong Kang Cho Yoon Jang'.split(
    ' ',
  ),
);

/** Names by the lists: a known first name with what follows it, a known surname with what stands before. */
export const namedByList: Recognizer = {
  entity: 'PERSON',
  name: 'named-by-list',
  modes: ALL_MODES,
  find(text, context) {
    const spans: Span[] = [];
    let covered = 0;
    const loose = context.mode !== 'accurate';
    for (const start of nameStarts(text)) {
      if (start < covered) continue;
      const name = readName(text, start);
      if (!name) continue;
      const [first, ...rest] = name.words;
      const surname = rest[rest.length - 1];
      if (
        /^ (?:Inc|LLC|Ltd|Corp|Company|Group|Bank|Street|St|Road|Avenue|University|School|Foundation|Institute|Hospital|Park)\b/.test(
          text.slice(name.end, name.end + 14),
        )
      )
        continue;
      // "Dave Matthews Band" is a band.
      if (/^ \p{Lu}\p{Ll}/u.test(text.slice(name.end, name.end + 3))) continue;
      const opensSentence = start === 0 || /[.!?\n“"] ?$/.test(text.slice(Math.max(0, start - 2), start));
      const lower = first!.toLowerCase();
      const doubtful = isAmbiguous(first!) && (opensSentence || PLACES.has(lower) || COUNTRIES.has(lower));
      const byFirst = isFirstName(first!) && (!doubtful || isLastName(surname ?? ''));
      const bySurname = rest.length === 1 && CHINESE_SURNAMES.has(first!);
      if (surname && (byFirst || bySurname || (isLastName(surname) && isFirstName(rest[0] ?? '')))) {
        spans.push(span(name, 0.66));
        covered = name.end;
      } else if (
        loose &&
        ((surname && isLastName(surname) && !isAmbiguous(surname)) ||
          (!surname && isFirstName(first!) && !isAmbiguous(first!)))
      ) {
        spans.push(span(name, 0.55));
        covered = name.end;
      }
    }
    return spans;
  },
};

/** A line of its own with two or three unknown capitalised words, above an address or a number: the head of a letter or a card. */
export const signatureLine: Recognizer = {
  entity: 'PERSON',
  name: 'signature-line',
  modes: ALL_MODES,
  find: (text) =>
    [...text.matchAll(/(?<=^|\n)[ >]{0,6}(?=\p{Lu}\p{Ll})([^\n]{4,50})(?=\n)/gu)].flatMap((match) => {
      const start = match.index + match[0].length - match[1]!.length;
      const name = readName(text, start);
      const whole = name && name.end >= start + match[1]!.trimEnd().length;
      const below = text.slice(match.index + match[0].length, match.index + match[0].length + 160);
      return whole &&
        name.words.length >= 2 &&
        name.words.length <= 4 &&
        /\n[ >]*\d{1,6} |\n[^\n]*(?:\d{3}[ .-]\d{3}|@)/.test(below)
        ? [span(name, 0.58)]
        : [];
    }),
};
