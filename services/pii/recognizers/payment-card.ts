// Payment card numbers: known issuer ranges and lengths, and the Luhn digit.
import { luhnValid } from '../checksums.ts';
import { ALL_MODES, type Recognizer, type Span, wordAt } from '../recognizer.ts';

const CANDIDATE = /\d(?:[ -]?\d){11,18}/g;
const CONTEXT =
  /\b(?:card|cards|credit|debit|visa|mastercard|master card|amex|american express|maestro|diners|discover|jcb|charged|pan|cc|ccn|cardnumber|payment)\b/;
/** Issuer ranges by network, with the lengths that each issues. */
const ISSUERS: readonly { prefix: RegExp; lengths: readonly number[] }[] = [
  { prefix: /^4/, lengths: [13, 16, 19] },
  { prefix: /^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, lengths: [16] },
  { prefix: /^3[47]/, lengths: [15] },
  { prefix: /^(?:6011|64[4-9]|65|622)/, lengths: [16, 19] },
  { prefix: /^35(?:2[89]|[3-8])/, lengths: [16] },
  { prefix: /^3(?:0[0-5]|095|6|8|9)/, lengths: [14, 16] },
];
/** Ranges that ordinary numbers fall into as well; a word about cards must stand near. */
const WEAK_ISSUERS: readonly { prefix: RegExp; lengths: readonly number[] }[] = [
  { prefix: /^(?:50|5[6-9]|6)/, lengths: [12, 13, 14, 15, 16, 17, 18, 19] },
  { prefix: /^(?:2131|1800)/, lengths: [15] },
  { prefix: /^3/, lengths: [14, 16] },
];

export const paymentCard: Recognizer = {
  entity: 'FINANCIAL',
  name: 'payment-card',
  modes: ALL_MODES,
  find(text, context) {
    const spans: Span[] = [];
    for (const match of text.matchAll(CANDIDATE)) {
      const start = match.index;
      const end = start + match[0].length;
      if (
        wordAt(text, start - 1) ||
        wordAt(text, end) ||
        /[.,-]/.test(text[start - 1] ?? '') ||
        /^[.,-]\d/.test(text.slice(end, end + 2))
      )
        continue;
      const digits = match[0].replace(/\D/g, '');
      if (/^(\d)\1*$/.test(digits) || !evenlyGrouped(match[0])) continue;
      const named =
        CONTEXT.test(context.before(start)) ||
        CONTEXT.test(context.label(start)) ||
        CONTEXT.test(context.after(end, 24));
      const fits = (rows: typeof ISSUERS): boolean =>
        rows.some((row) => row.prefix.test(digits) && row.lengths.includes(digits.length));
      if (luhnValid(digits)) {
        if (fits(ISSUERS))
          spans.push({ start, end, entity: 'FINANCIAL', score: named ? 0.99 : digits.length >= 15 ? 0.85 : 0.4 });
        else if (named && fits(WEAK_ISSUERS)) spans.push({ start, end, entity: 'FINANCIAL', score: 0.85 });
      } else if (
        context.mode !== 'accurate' &&
        fits(ISSUERS) &&
        /\b(?:credit|debit)? ?card (?:number|no|#)\W{0,4}$/.test(context.before(start, 24))
      ) {
        // A mistyped card number is still somebody's card number.
        spans.push({ start, end, entity: 'FINANCIAL', score: 0.6 });
      }
    }
    return spans.filter((span) => span.score >= 0.5);
  },
};

/** Cards are written whole, in fours, or 4-6-5 / 4-6-4: table rows of numbers are not. */
function evenlyGrouped(number: string): boolean {
  const groups = number.split(/[ -]/).map((group) => group.length);
  if (groups.length === 1) return true;
  if (/ /.test(number) && /-/.test(number)) return false;
  const shape = groups.join(' ');
  return /^4 4 4(?: \d){0,2}$/.test(shape) || shape === '4 6 5' || shape === '4 6 4' || /^4 4 4 4 [1-3]$/.test(shape);
}
