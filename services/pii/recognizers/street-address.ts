// Street addresses: a number and a name of a street in either order, and the lines of unit, town, region, postcode and country behind it.
import { COUNTRIES, PLACES } from '../lists/lexicon.ts';
import { ALL_MODES, type Recognizer, type RecognizerContext, type Span } from '../recognizer.ts';

const WORD = "[\\p{Lu}][\\p{L}\\p{M}'’.-]{0,30}";
const SMALL =
  '(?:gate|vej|gade|gatan|gata|väg|vägen|utca|út|útja|tér|terrasse|strasse|straße|street|road|nad|u|v|z|dei|degli|de|da|do|dos|das|del|della|di|la|le|les|du|des|van|von|der|den|of|the|el|al|y|zu|am|an|im|na|pod|sur|sous|aux?)';
const TYPE =
  '(?:Street|St|Avenue|Ave|Av|Road|Rd|Boulevard|Blvd|Drive|Dr|Lane|Ln|Court|Ct|Place|Pl|Plaza|Square|Sq|Terrace|Ter|Way|Parkway|Pkwy|Highway|Hwy|Circle|Cir|Crescent|Cres|Close|Trail|Trl|Alley|Row|Walk|Mews|Gardens|Grove|Hill|Loop|Pike|Turnpike|Expressway|Freeway|Bypass|Quay|Wharf|Esplanade|Promenade|Parade|Path|Run|Ridge|Bend|Crossing|Green|Heights|Landing|Meadows?|Mill|Point|Ranch|Rapids|Shoals?|Spring|Trace|View|Village|Vista|Walks?|Gate|Broadway|Prairie|Radial|Flat|Manor|Forges?|Corners?|Unions?|Burgs?)';
const SUFFIXED =
  '(?:stra(?:ß|ss)e|str\\.|gasse|weg|platz|allee|ufer|ring|damm|vej|vejen|gade|gaden|gata|gatan|gate|vägen|veien|vei|torg|torget|katu|tie|kuja|polku|straat|laan|plein|dijk|kade|gracht|singel|vænget|krogen|braut|stræti|straeti|gata|vegur|ösvény|utca|körút|brekka|terrasse|toften|parken|bakken|haven|ager)';
const LEADING =
  '(?:Via|Viale|Piazza|Corso|Largo|Rua|Avenida|Av\\.?|Travessa|Praça|Calle|C/|Carrera|Paseo|Plaza|Camino|Rue|Avenue|Boulevard|Chemin|Place|Allée|Quai|Impasse|ul\\.|ulica|al\\.|Str\\.|Strada|Bulevardul|Ulitsa|Jalan|Jl\\.|Λεωφόρος|Οδός)';
const UNIT =
  '(?:(?:Suite|Ste|Apt|Apartment|Unit|Flat|Floor|Fl|Room|Rm|Building|Bldg|Level|PMB|Lot)\\.? ?#?[A-Z0-9][A-Z0-9-]{0,6}|#\\d{1,6}|P\\.? ?O\\.? ?Box \\d{1,6})';
const NUMBER = '\\d{1,6}[A-Za-z]?(?:[-/]\\d{1,5}[A-Za-z]?)?';
const WORDS = `(?:${WORD}|${SMALL}|\\d{1,3}(?:st|nd|rd|th))(?: (?:${WORD}|${SMALL}|\\d{1,3}(?:st|nd|rd|th))){0,4}`;

interface Core {
  pattern: RegExp;
  /** 0 to 1; below 0.6 something else has to speak for it. */
  score: number;
}

const CORES: readonly Core[] = [
  // 18 Harbour Street; 1987 74 Diakou Street; N. 5th Ave
  {
    pattern: new RegExp(
      `(?<![\\p{L}\\p{N}$€£.,#-])(?:${NUMBER} ){1,2}(?:[NSEW]\\.? )?(?:${WORDS} )?${TYPE}(?![\\p{L}])\\.?(?: (?:[NSEW]|NE|NW|SE|SW)\\b)?`,
      'gu',
    ),
    score: 0.8,
  },
  // 6688 Kopfhölzistrasse 45; Hauptstraße 12
  {
    pattern: new RegExp(
      `(?<![\\p{L}\\p{N}$€£.,#-])(?:${NUMBER} )?[\\p{Lu}][\\p{L}-]{2,30}${SUFFIXED} \\d{1,4}[A-Za-z]?(?!\\p{L}|\\d)`,
      'gu',
    ),
    score: 0.75,
  },
  // Rua do Arenque 1634; 3482 Via Franscini 71; 12 rue de Rivoli
  {
    pattern: new RegExp(
      `(?<![\\p{L}\\p{N}$€£.,#-])(?:${NUMBER},? )?(?:${LEADING}|rue|avenue|boulevard|ul\\.) ${WORDS},? \\d{1,5}[A-Za-z]?(?!\\p{L}|\\d)`,
      'gu',
    ),
    score: 0.75,
  },
  {
    pattern: new RegExp(
      `(?<![\\p{L}\\p{N}$€£.,#-])${NUMBER},? (?:${LEADING}|rue|avenue|boulevard|quai|place) ${WORDS}`,
      'gu',
    ),
    score: 0.7,
  },
  // 5049 Harjukuja 54: a number, a name and a number
  {
    pattern: new RegExp(
      `(?<![\\p{L}\\p{N}$€£.,#-])\\d{1,6} (?!(?:January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec)\\b)${WORDS}(?: (?:u|utca|tér|krt|rkp|út|str|Str)\\.?)? \\d{1,5}[A-Za-z]?\\.?(?![\\p{L}\\d]|[.,]\\d)`,
      'gu',
    ),
    score: 0.5,
  },
  // lives on Grössgstötten 50: only behind words that lead to an address
  {
    pattern: new RegExp(
      `(?<=(?:lives? (?:on|at|in)|is on|enter on|address is|located (?:at|on)|reside[sd]? (?:at|on)|address:|refers to|[Ii]t['’]s in|lived in|live in|one to) )${WORDS} \\d{1,5}[A-Za-z]?(?![\\p{L}\\d]|[.,]\\d)`,
      'gu',
    ),
    score: 0.5,
  },
  // PSC 6293, Box 8158 / APO AP 04336; USNS Bergman / FPO AP 93757
  {
    pattern:
      /(?<![\p{L}\p{N}])(?:(?:PSC|CMR|Unit) \d{1,5},? Box \d{1,5}|US(?:NS|S|NV|CGC) [\p{L}'-]{2,30})[ ,]{0,2}\n?\s{0,6}(?:APO|FPO|DPO) A[AEP] \d{5}/giu,
    score: 0.95,
  },
  { pattern: /(?<![\p{L}\p{N}])(?:\d{1,6} )?P\.? ?O\.? ?Box \d{1,6}(?!\d)/giu, score: 0.7 },
  {
    pattern: new RegExp(
      `(?<![\\p{L}])(?:the )?corner of (?:${NUMBER} )?${WORDS}(?: \\d{1,4}| str\\.?| street)? and ${WORDS}`,
      'giu',
    ),
    score: 0.65,
  },
];

const STANDS_FOR_ADDRESS =
  /\b(?:lives? (?:at|on|in)|lived (?:at|on|in)|living (?:at|in|on)|located (?:at|in|on)|address(?:es)?(?: is| to| at|:)?|moved|move to|resides? (?:at|in)|home|deliver(?:ed)? to|ship(?:ped)? to|bill to|send (?:a new one|it) to|enter on|station is on|it['’]s in|refers to|headquartered|offices?(?: are| is)?|based (?:at|in)|given \p{L}+ his address)[\s:]{0,4}(?:located at |at |in |on |to )?[\s>]{0,8}$/u;

/** One part of the tail: where it ends, and whether it settles that the tail is one. */
interface TailPart {
  length: number;
  anchors: boolean;
}

const SEPARATOR = /[ \t]*(?:,[ \t]*)?(?:\n[ \t>]{0,8}(?:,[ \t]*)?)?/uy;
const UNIT_PART = new RegExp(UNIT, 'uy');
const POSTCODE_PART =
  /(?:[A-Z]{1,2}-)?(?:\d{5}(?:-\d{3,4})?|\d{4}(?:-\d{3})?|\d{3}(?: \d{2,3})?|\d{2}-\d{3})(?![\p{L}\d]|[ .-]\d)|[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}(?![\p{L}\d])|[A-Z]\d[A-Z] \d[A-Z]\d(?![\p{L}\d])|\d{4} ?[A-Z]{2}(?![\p{L}\d])/uy;
const REGION_PART = /[A-Z]{2,3}(?![\p{L}])(?:,? (?:\d{5}(?:-\d{4})?|\d{4})(?!\d))?|nan(?=\n)/uy;
const TOWN_PART = new RegExp(
  `[\\p{Lu}][\\p{L}\\p{M}'’.-]{1,30}(?: (?:\\(?[\\p{Lu}][\\p{L}\\p{M}'’.-]{0,30}\\)?|${SMALL}|\\d{1,2}(?=[\\n,]))){0,4}(?![\\p{L}\\p{N}])`,
  'uy',
);

function tailPart(text: string, at: number): TailPart | undefined {
  for (const [pattern, anchors] of [
    [UNIT_PART, true],
    [POSTCODE_PART, true],
    [REGION_PART, true],
  ] as const) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) return { length: match[0].length, anchors };
  }
  TOWN_PART.lastIndex = at;
  const town = TOWN_PART.exec(text);
  if (!town) return undefined;
  const name = town[0].replace(/[.]$/, '');
  const lower = name.toLowerCase();
  return {
    length: name.length,
    anchors:
      COUNTRIES.has(lower) ||
      PLACES.has(lower) ||
      COUNTRIES.has(lower.replace(/ \(.*$/, '')) ||
      lower === 'greenlander',
  };
}

/** Follows unit, town, region, postcode and country from `end` on; gives the end of the last part that something settles. */
function extendTail(text: string, end: number): number {
  let settled = end;
  let position = end;
  for (let count = 0; count < 7; count += 1) {
    SEPARATOR.lastIndex = position;
    const separator = SEPARATOR.exec(text)?.[0] ?? '';
    if (separator === '') break;
    const start = position + separator.length;
    const part = tailPart(text, start);
    if (!part) break;
    const parted = /[,\n]/.test(separator);
    const next = text.slice(start + part.length, start + part.length + 2);
    const closed = /^(?:$|[\n,?!;)]|\. ?$|\.\n| \d| [A-Z])/u.test(next) || /^[.]/.test(next);
    if (!part.anchors && !closed) break;
    position = start + part.length;
    // A town right behind a comma needs no witness; on a line of its own it does.
    if (part.anchors || (parted && separator.includes(',') && closed && !/^ /.test(next))) settled = position;
  }
  return settled;
}

function judge(text: string, core: Core, start: number, end: number, context: RecognizerContext): Span[] {
  const full = extendTail(text, end);
  const named =
    STANDS_FOR_ADDRESS.test(context.before(start, 60)) || /\b(?:address|street|adresse)\b/.test(context.label(start));
  const lineStart = /(?:^|\n)[ >]{0,8}$/.test(text.slice(Math.max(0, start - 10), start));
  const score =
    core.score + (full > end ? 0.15 : 0) + (named ? 0.15 : 0) + (lineStart ? 0.05 : 0) - (core.score <= 0.5 ? 0.1 : 0);
  return score >= (context.mode === 'accurate' ? 0.54 : 0.5)
    ? [{ start, end: full, entity: 'LOCATION', score: Math.min(0.97, score) }]
    : [];
}

export const streetAddress: Recognizer = {
  entity: 'LOCATION',
  name: 'street-address',
  modes: ALL_MODES,
  find: (text, context) =>
    CORES.flatMap((core) =>
      [...text.matchAll(core.pattern)].flatMap((match) =>
        judge(text, core, match.index, match.index + match[0].length, context),
      ),
    ),
};
