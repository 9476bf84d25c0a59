// Postcodes and names of places: by their own shape, by the words before them, by lists.
import { AMBIGUOUS_PLACES, COUNTRIES, PLACES } from '../lists/lexicon.ts';
import { ALL_MODES, HEURISTIC_MODES, type Recognizer, type Span } from '../recognizer.ts';
import { isCommon, isFirstName } from './person-name.ts';

const span = (start: number, length: number, score: number): Span => ({
  start,
  end: start + length,
  entity: 'LOCATION',
  score,
});

const UK = /(?<![\p{L}\p{N}])(?:[A-Z]{1,2}\d[A-Z\d]? \d[ABD-HJLNP-UW-Z]{2}|GIR 0AA)(?![\p{L}\p{N}])/gu;
const CANADA = /(?<![\p{L}\p{N}])[ABCEGHJ-NPRSTVXY]\d[ABCEGHJ-NPRSTV-Z] \d[ABCEGHJ-NPRSTV-Z]\d(?![\p{L}\p{N}])/gu;
const STATE_ZIP =
  /(?<![\p{L}\p{N}])(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[AT]|W[AIVY]),? \d{5}(?:-\d{4})?(?!\d)/gu;
const NAMED_CODE =
  /\b(?:zip(?:[ -]?code)?|post(?:al)?[ -]?code|plz|cap|postleitzahl|código postal|code postal)\b(?: is|:|=)?\s{0,3}#?([A-Z]{0,2}-?\d{4,6}(?:-\d{4})?|\d{3})(?![\p{L}\d])/giu;
const COORDINATES =
  /(?<![\p{L}\p{N}.])-?\d{1,2}\.\d{4,10}°?(?: ?[NS])?, ?-?\d{1,3}\.\d{4,10}°?(?: ?[EW])?(?![\p{N}.])/gu;

/** Codes whose shape or whose neighbour says what they are. */
export const postcode: Recognizer = {
  entity: 'LOCATION',
  name: 'postcode',
  modes: ALL_MODES,
  find(text) {
    const spans: Span[] = [];
    for (const pattern of [UK, CANADA, STATE_ZIP])
      for (const match of text.matchAll(pattern)) spans.push(span(match.index, match[0].length, 0.7));
    for (const match of text.matchAll(COORDINATES)) spans.push(span(match.index, match[0].length, 0.65));
    for (const match of text.matchAll(NAMED_CODE))
      spans.push(span(match.index + match[0].length - match[1]!.length, match[1]!.length, 0.85));
    return spans;
  },
};

const PLACE_NAME =
  "(?:[\\p{Lu}][\\p{L}\\p{M}'’-]{1,30}|[\\p{Lu}]{2,30})(?:[ -](?:(?:de|la|le|du|del|do|da|der|den|am|an|im|sur|on|upon|of|al|el) )?[\\p{Lu}][\\p{L}\\p{M}'’-]{0,30}){0,3}";
const LED_TO = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:[Mm]oved (?:here )?(?:from|to)|[Gg]r[eo]w(?:ing)? up in|[Ll]iv(?:e|es|ed|ing) in|[Rr]esid(?:e|es|ed|ing) in|[Bb]orn (?:and raised )?in|I am in|I['’]m in|[Bb]ased in|[Ll]ocated in|[Hh]eadquartered in|[Tt]ravel(?:s|led|ed|ing)? to|[Ff]l(?:y|ies|ew|ying) to|[Vv]isit(?:s|ed|ing)? to|[Nn]ative of|[Rr]esident of|[Cc]itizen of|[Ii]nhabitants of|[Cc]ity of|[Tt]own of|[Vv]illages? of|[Cc]apital of|[Pp]rovince of|[Dd]istrict of|[Rr]egion of|[Ss]uburb of|[Nn]eighbou?rhood of|[Ss]treet in|[Vv]illage in|[Cc]ommune in|[Pp]arish in|[Tt]own in|[Cc]ity in|[Ww]here:|[Ll]ocation:|[Cc]ity:|[Cc]ountry:|[Tt]own:|outskirts of|campaign to liberate|liberation of|[Nn]ear|[Nn]orth of|[Ss]outh of|[Ee]ast of|[Ww]est of|[Mm]iles from|[Tt]owards?|[Aa]rriv(?:e|es|ed|ing) in|[Dd]ied in|[Mm]arch(?:ed|ing)? (?:from|to|toward)|[Oo]riginally from|[Rr]eturn(?:s|ed|ing)? to) (${PLACE_NAME})`,
  'gu',
);

/** `moved here from Kenosha`, `grew up in Remniku`. */
export const introducedPlace: Recognizer = {
  entity: 'LOCATION',
  name: 'introduced-place',
  modes: ALL_MODES,
  find: (text) =>
    [...text.matchAll(LED_TO)].flatMap((match) => {
      let place = match[1]!;
      const words = place.split(/[ -]/);
      if (isCommon(words[0]!) && !PLACES.has(place.toLowerCase()) && !COUNTRIES.has(place.toLowerCase())) return [];
      place = place.replace(/['’]s$/, '').replace(/ (?:Country|Club|Inc|Ltd)\b.*$/, '');
      return place.length < 2 ||
        /^(?:January|February|March|April|May|June|July|August|September|October|November|December|I|The|A)$/.test(
          place,
        )
        ? []
        : [span(match.index + match[0].length - match[1]!.length, place.length, 0.68)];
    }),
};

const KIND =
  '(?:River|Province|Governorate|County|District|Islands?|Valley|Mountains?|Bay|Beach|Lake|Creek|Parish|Peninsula|Desert|Gulf|Strait|Harbou?r|Canyon|Falls|Forest|Glacier|Brook|Township|Prefecture|Oblast|Airport|Reservoir)';
const WITH_KIND = new RegExp(
  `(?<![\\p{L}\\p{N}_@./-])(?:\\p{Lu}[\\p{L}\\p{M}'’-]{1,30} ){1,3}${KIND}(?!\\p{L}| \\p{Lu})|(?<![\\p{L}\\p{N}_@./-])(?:Lake|Mount|Mt\\.|Fort|Port|Gulf of|Bay of|Isle of|Strait of|Province of|Republic of|Kingdom of) \\p{Lu}[\\p{L}\\p{M}'’-]{1,30}`,
  'gu',
);
const DEFINED =
  /(?<=^|\n|[.!?] |[.!?]\n)\p{Lu}[\p{L}\p{M}'’-]{2,30}(?:[ -]\p{Lu}[\p{L}\p{M}'’-]{1,30}){0,2}(?= is (?:a|an|the) (?:(?:small|large|rural|former|coastal|historic|capital|unincorporated|civil|market|port|largest|second)[ -]){0,2}(?:village|town|city|commune|municipality|suburb|district|province|county|hamlet|community|capital|river|island|lake|mountain|neighbou?rhood|region|country|port)\b)/gu;

/** `Salah ad Din Province`, `Lake Sebago`, `Zandvoort is a town`: names that say themselves what they are. */
export const describedPlace: Recognizer = {
  entity: 'LOCATION',
  name: 'described-place',
  modes: ALL_MODES,
  find(text) {
    const spans: Span[] = [];
    for (const pattern of [WITH_KIND, DEFINED])
      for (const match of text.matchAll(pattern)) {
        const article = /^(?:The|A|An|In|On|At|This|That|Our|Its|His|Her|Each|Every) /.exec(match[0])?.[0].length ?? 0;
        const length = match[0].length - article;
        if (/ /.test(match[0].slice(article)) || pattern === DEFINED)
          spans.push(span(match.index + article, length, 0.64));
      }
    return spans;
  },
};

const CAPITALISED =
  /(?<![\p{L}\p{N}_@./-])\p{Lu}[\p{L}\p{M}.'’-]*(?: (?:(?:and|of|the|de|da|do|del|la) )?\p{Lu}[\p{L}\p{M}.'’-]*){0,3}/gu;

/** Countries and well-known cities, states and regions. */
export const listedPlace: Recognizer = {
  entity: 'LOCATION',
  name: 'listed-place',
  modes: HEURISTIC_MODES,
  find: (text, context) =>
    [...text.matchAll(CAPITALISED)].flatMap((match) => {
      const spans: Span[] = [];
      const words = [...match[0].matchAll(/[^ ]+/g)];
      for (let first = 0; first < words.length; first += 1)
        for (let last = Math.min(words.length, first + 4) - 1; last >= first; last -= 1) {
          const start = words[first]!.index;
          const raw = match[0].slice(start, words[last]!.index + words[last]![0].length);
          const name = raw.replace(/(?:['’]s|\.)$/u, '');
          const lower = name.toLowerCase();
          const country = COUNTRIES.has(lower) || COUNTRIES.has(`${lower}.`);
          if (!country && !PLACES.has(lower)) continue;
          const doubtful = AMBIGUOUS_PLACES.has(lower) || (isFirstName(lower) && !country) || lower.length < 3;
          const led = /\b(?:in|from|to|near|at|of|toward|towards|around|outside|across|through)\s$/.test(
            context.before(match.index + start, 10),
          );
          if (!doubtful || led || (country && lower.length === 2))
            spans.push(span(match.index + start, name.length, led ? 0.62 : 0.56));
          first = last;
          break;
        }
      return spans;
    }),
};

const PLACE_LABEL =
  /^(?:city|town|country|state|region|province|county|location|place|office|site|address|street|zip|zip ?code|post ?code|postal ?code|place of birth|birthplace|residence|hometown|stadt|ort|plz|land|adresse|ville|pays|ciudad|país)$/;

/** Cells under "City", "Country", "Address"... */
export const placeCell: Recognizer = {
  entity: 'LOCATION',
  name: 'place-cell',
  modes: ALL_MODES,
  find: (text, context) =>
    context.cells.flatMap((cell) => {
      const label = cell.label.trim();
      if (!PLACE_LABEL.test(label)) return [];
      const raw = text.slice(cell.start, cell.end);
      const value = raw.trim();
      const code = /^(?:zip|post|plz)/.test(label);
      const known = COUNTRIES.has(value.toLowerCase()) || PLACES.has(value.toLowerCase());
      const named =
        /^\p{Lu}[\p{L}\p{M}'’. ,()-]{1,60}$/u.test(value) &&
        (known || !value.split(/[ ,]+/).some((word) => isCommon(word)));
      const address =
        /^(?:address|street|adresse)$/.test(label) && /\d/.test(value) && /\p{L}{3}/u.test(value) && value.length < 160;
      const fits = code ? /^[A-Z0-9][A-Z0-9 -]{2,9}$/i.test(value) && /\d/.test(value) : named || address;
      if (
        !fits ||
        (/^(?:state|location|office|site|place)$/.test(label) &&
          !known &&
          !/^\p{Lu}\p{Ll}+(?:[ ,-]+\p{Lu}\p{L}*)*$/u.test(value))
      )
        return [];
      return [span(cell.start + raw.indexOf(value), value.length, known ? 0.8 : 0.65)];
    }),
};
