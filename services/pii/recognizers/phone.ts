// Phone numbers: groups of digits that libphonenumber takes for a number somewhere, weighed by their shape and the words around them.
import { type CountryCode, parsePhoneNumberWithError } from 'libphonenumber-js/max';
import { ALL_MODES, type Recognizer, type RecognizerContext, type Span, wordAt } from '../recognizer.ts';

/** Countries tried for a number without a country code. */
const REGIONS: readonly CountryCode[] = [
  'US',
  'GB',
  'DE',
  'FR',
  'AU',
  'IN',
  'IT',
  'ES',
  'NL',
  'CH',
  'SE',
  'BR',
  'JP',
  'ZA',
  'HU',
  'NZ',
  'PT',
  'PL',
  'AT',
  'BE',
];

const CANDIDATE = /(?:\+|\(\+?\d|\d)[\d ()./\u00a0\u2010-\u2014-]{4,32}\d(?:\s?(?:x|ext\.?|extension)\s?\d{1,6})?/giu;
const WORDS =
  /\b(?:tel|telephone|phones?|mobile|cell|cellphone|fax|call|called|calling|dial|ring|text|sms|whatsapp|contact|desk|office|landline|hotline|helpline|direct|reach|handy|telefon|t[eé]l[eé]phone|tel[eé]fono|m[oó]vil|telefono|cellulare|registered|number is|phone number)\b[^.!?]{0,30}$/;
const WORDS_AFTER = /^[\s\-–(,\\]{0,3}(?:office|fax|mobile|cell|home|work|desk|direct|tel)\b/;
/** What other numbered things are called: a number right behind such a word is not a phone number. */
const NOT_A_PHONE =
  /\b(?:isbn|issn|ssn|social security|part|part no|order|order no|invoice|tracking|section|table|range|account|acct|routing|aba|iban|swift|bic|card|visa|mastercard|sort code|serial|model|version|doi|po|policy|case|ref|reference|id|licen[cs]e|passport|sku|vat|tax|ein|zip|postcode|pages?|pp|volume|vol|bates|cusip|isin|patent|lot|batch|port|ip|box|figure|fig|rfc|iso)\b[\s.:#=no]{0,8}$/;
const NANP =
  /^(?:\+?1[ .-]?)?(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[ .-])[2-9]\d{2}[ .-]\d{4}(?: ?(?:x|ext\.?|extension) ?\d{1,6})?$/i;
const NANP_PREFIXED = /^(?:001|1|\+1)[ .-]?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}/;
const EXTENSION = /\s?(?:x|ext\.?|extension)\s?\d{1,6}$/i;
const DATE =
  /^(?:(?:19|20)\d{2}[-./ ](?:0?[1-9]|1[0-2])[-./ ](?:0?[1-9]|[12]\d|3[01])|(?:0?[1-9]|[12]\d|3[01])[-./ ](?:0?[1-9]|[12]\d|3[01])[-./ ](?:19|20)?\d{2})(?!\d)/;

type Validity = 'valid' | 'possible' | 'no';

function validity(number: string, regions: readonly CountryCode[]): Validity {
  let best: Validity = 'no';
  for (const region of number.startsWith('+') ? [undefined] : regions) {
    try {
      const parsed = parsePhoneNumberWithError(number, region);
      if (parsed.isValid()) return 'valid';
      if (parsed.isPossible()) best = 'possible';
    } catch {
      // Not a number in that country.
    }
  }
  return best;
}

/** Drops a bracket without its partner and trailing separators. */
function tidy(raw: string): { text: string; shift: number } {
  let text = raw;
  let shift = 0;
  if (text.startsWith('(') && !text.includes(')')) {
    text = text.slice(1);
    shift = 1;
  }
  const open = text.lastIndexOf('(');
  if (open > 0 && !text.slice(open).includes(')')) text = text.slice(0, open);
  const close = text.indexOf(')');
  if (close >= 0 && !text.slice(0, close).includes('(')) text = text.slice(0, close);
  return { text: text.replace(/[\s./()\u2010-\u2014-]+$/u, ''), shift };
}

function score(number: string, start: number, end: number, context: RecognizerContext): number {
  const plain = number.replace(EXTENSION, '');
  const digits = plain.replace(/\D/g, '');
  if (digits.length < 7 || digits.length > 15 || DATE.test(plain)) return 0;
  const before = context.before(start);
  if (NOT_A_PHONE.test(before)) return 0;
  const label = context.label(start);
  const named =
    WORDS.test(before) ||
    WORDS_AFTER.test(context.after(end, 16)) ||
    /\b(?:phone|tel|telephone|mobile|cell|fax)\b/.test(label);
  if (number.startsWith('+')) {
    const state = validity(plain.replace(/\(0\)/, ''), []);
    return state === 'valid' ? 0.95 : state === 'possible' ? 0.85 : named && digits.length >= 9 ? 0.7 : 0;
  }
  if (/^00\d/.test(digits) && digits.length >= 10 && /[ .-]/.test(plain)) return 0.7;
  if (NANP.test(number) || (named && NANP_PREFIXED.test(number))) return named ? 0.9 : 0.75;
  if (NANP_PREFIXED.test(number) && (plain.startsWith('1-8') || named)) return 0.75;
  if (named) return digits.length >= 9 || /[ .()-]/.test(plain) ? 0.75 : 0.6;
  const groups = plain.split(/[ ./()\u2010-\u2014-]+/u).filter(Boolean);
  // A national number: trunk zero, three or more groups (or a bracketed area code), and valid somewhere.
  if (/^\(?0[1-9]/.test(plain) && groups.length >= 2 && digits.length >= 9 && digits.length <= 12) {
    const state = validity(plain, REGIONS);
    if (state === 'valid') return groups.length >= 3 || plain.startsWith('(') ? 0.7 : 0.55;
    if (state === 'possible' && /^07\d{3} \d{6}$/.test(plain)) return 0.6;
  }
  if (/^\(\d{2,4}\)/.test(plain) && digits.length >= 8 && validity(plain, REGIONS) === 'valid') return 0.6;
  const cell = context.cell(start);
  const alone = cell ? end - start >= cell.end - cell.start - 2 : aloneInRow(before, context.after(end, 4));
  if (alone && /^[2-9]\d{2}-\d{4}$/.test(plain)) return 0.55;
  return 0;
}

function aloneInRow(before: string, after: string): boolean {
  return /(?:^|\n)\|\n?\s*$/.test(before) && /^\s*\n?\|/.test(after);
}

export const phone: Recognizer = {
  entity: 'PHONE',
  name: 'phone',
  modes: ALL_MODES,
  find(text, context) {
    const spans: Span[] = [];
    for (const match of text.matchAll(CANDIDATE)) {
      for (const part of splitCandidate(match[0])) {
        const { text: number, shift } = tidy(part.text);
        const start = match.index + part.offset + shift;
        const end = start + number.length;
        if (joined(text, start, end)) continue;
        const sure = score(number, start, end, context);
        if (sure > 0) spans.push({ start, end, entity: 'PHONE', score: sure });
      }
    }
    return spans;
  },
};

/** Two numbers with wide blanks or a slash between them are two candidates; so is "office 1 - fax 2". */
function splitCandidate(candidate: string): { text: string; offset: number }[] {
  const parts: { text: string; offset: number }[] = [];
  let offset = 0;
  for (const piece of candidate.split(/(\s{2,}|\s[-–—]\s(?=\+|\(|0))/u)) {
    if (/^[+(\d]/.test(piece) && piece.length >= 7) parts.push({ text: piece, offset });
    offset += piece.length;
  }
  return parts;
}

/** Whether the digits are part of something longer: a decimal, an identifier, an amount. */
function joined(text: string, start: number, end: number): boolean {
  const previous = text[start - 1] ?? '';
  const next = text[end] ?? '';
  if (wordAt(text, start - 1) || (wordAt(text, end) && !/[x]/i.test(next))) return true;
  if (
    /[$€£¥#=/\\]/.test(previous) &&
    !/[/=]\s?$/.test(text.slice(Math.max(0, start - 2), start - 1)) &&
    /[$€£¥#]/.test(previous)
  )
    return true;
  if (/[.,-]/.test(previous) && /[\p{L}\p{N}]/u.test(text[start - 2] ?? '')) return previous !== ',';
  return (
    (/[-/%]/.test(next) && /\d/.test(text[end + 1] ?? '')) ||
    next === '%' ||
    (next === '.' && /\d/.test(text[end + 1] ?? '')) ||
    next === '@'
  );
}

/** Numbers in `tel:` and `sms:` links. */
export const phoneLink: Recognizer = {
  entity: 'PHONE',
  name: 'phone-link',
  modes: ALL_MODES,
  inUrls: true,
  find(text) {
    return [
      ...text.matchAll(
        /(?:tel|sms|callto|fax):(?:\/\/)?(\+?[\d().\s-]{5,24}\d)|(?:wa\.me|api\.whatsapp\.com\/send\?phone=)\/?(\+?\d{7,15})/gi,
      ),
    ].map((match) => {
      const number = match[1] ?? match[2] ?? '';
      const start = match.index + match[0].length - number.length;
      return { start, end: start + number.length, entity: 'PHONE', score: 0.97 };
    });
  },
};
