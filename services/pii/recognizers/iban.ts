// International bank account numbers: country, length, MOD 97.
import { ibanValid } from '../checksums.ts';
import { ALL_MODES, type Recognizer, type Span, wordAt } from '../recognizer.ts';

/** Lengths by country (SWIFT IBAN Registry, release 99). A new country is one entry. */
const LENGTHS: Readonly<Record<string, number>> = {
  AD: 24,
  AE: 23,
  AL: 28,
  AT: 20,
  AZ: 28,
  BA: 20,
  BE: 16,
  BG: 22,
  BH: 22,
  BI: 27,
  BR: 29,
  BY: 28,
  CH: 21,
  CR: 22,
  CY: 28,
  CZ: 24,
  DE: 22,
  DJ: 27,
  DK: 18,
  DO: 28,
  EE: 20,
  EG: 29,
  ES: 24,
  FI: 18,
  FK: 18,
  FO: 18,
  FR: 27,
  GB: 22,
  GE: 22,
  GI: 23,
  GL: 18,
  GR: 27,
  GT: 28,
  HN: 28,
  HR: 21,
  HU: 28,
  IE: 22,
  IL: 23,
  IQ: 23,
  IS: 26,
  IT: 27,
  JO: 30,
  KW: 30,
  KZ: 20,
  LB: 28,
  LC: 32,
  LI: 21,
  LT: 20,
  LU: 20,
  LV: 21,
  LY: 25,
  MC: 27,
  MD: 24,
  ME: 22,
  MK: 19,
  MN: 20,
  MR: 27,
  MT: 31,
  MU: 30,
  NI: 28,
  NL: 18,
  NO: 15,
  OM: 23,
  PK: 24,
  PL: 28,
  PS: 29,
  PT: 25,
  QA: 29,
  RO: 24,
  RS: 22,
  RU: 33,
  SA: 24,
  SC: 31,
  SD: 18,
  SE: 24,
  SI: 19,
  SK: 24,
  SM: 27,
  SO: 23,
  ST: 25,
  SV: 28,
  TL: 23,
  TN: 24,
  TR: 26,
  UA: 29,
  VA: 22,
  VG: 24,
  XK: 20,
  YE: 30,
};
const CANDIDATE = /[A-Za-z]{2}\d{2}(?:[ \u00a0-]?[A-Za-z0-9]){11,30}/g;

export const iban: Recognizer = {
  entity: 'FINANCIAL',
  name: 'iban',
  modes: ALL_MODES,
  inUrls: true,
  find(text, context) {
    const spans: Span[] = [];
    for (const match of text.matchAll(CANDIDATE)) {
      const start = match.index;
      const length = LENGTHS[match[0].slice(0, 2).toUpperCase()];
      if (length === undefined || wordAt(text, start - 1)) continue;
      let end = start;
      let compact = '';
      while (end < text.length && compact.length < length) {
        const character = text[end]!;
        if (/[A-Za-z0-9]/.test(character)) compact += character;
        else if (!/[ \u00a0-]/.test(character)) break;
        end += 1;
      }
      if (compact.length < length || wordAt(text, end)) continue;
      const valid = ibanValid(compact.toUpperCase());
      const named = /\biban\b/.test(context.before(start)) || /\biban\b/.test(context.label(start));
      if (valid) spans.push({ start, end, entity: 'FINANCIAL', score: 0.99 });
      else if (named) spans.push({ start, end, entity: 'FINANCIAL', score: 0.7 });
    }
    return spans;
  },
};
