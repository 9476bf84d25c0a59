// Account, routing and sort numbers and BICs: plain digits or letters that only the words before them give away.
import { abaSumValid } from '../checksums.ts';
import { ALL_MODES, type Recognizer, type Span, wordAt } from '../recognizer.ts';

const ROUTING = /(?<![\p{L}\p{N}.-])\d{9}(?![\p{L}\p{N}-]|\.\d)/gu;
const ROUTING_WORDS = /\b(?:routing|aba|rtn|transit|fedwire|ach)\b[^.\d]{0,24}$/;
const ACCOUNT = /(?<![\p{L}\p{N}.-])\d(?:[ -]?\d){5,16}(?![\p{L}\p{N}-]|\.\d)/gu;
const ACCOUNT_WORDS =
  /(?:\b(?:account|acct|a\/c|acc|konto|kontonummer|cuenta|compte|rekening)\b[\s.:#]{0,4}(?:(?:number|num|nr|no|is|ending|#)\.?[\s.:#]{0,4}){0,3})$/;
const SORT_CODE = /(?<![\p{L}\p{N}.-])\d{2}[- ]?\d{2}[- ]?\d{2}(?![\p{L}\p{N}]|-\d)/gu;
const SORT_WORDS = /\bsort(?:ing)?[ -]?code\b[^\d]{0,12}$/;
const BIC = /(?<![\p{L}\p{N}])[A-Z]{4}[A-Z]{2}[A-Z0-9]{2}(?:[A-Z0-9]{3})?(?![\p{L}\p{N}])/gu;
const BIC_WORDS = /\b(?:bic|swift|bank identifier)\b[^.\n]{0,20}$/;
/** ISO 3166 codes and XK, which a BIC holds in its fifth and sixth letter. */
const regionName = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });

const isCountry = (code: string): boolean => code === 'XK' || regionName.of(code) !== undefined;

export const routingNumber: Recognizer = {
  entity: 'FINANCIAL',
  name: 'routing-number',
  modes: ALL_MODES,
  find: (text, context) =>
    [...text.matchAll(ROUTING)].flatMap((match): Span[] => {
      const named =
        ROUTING_WORDS.test(context.before(match.index)) || /\b(?:routing|aba)\b/.test(context.label(match.index));
      if (!named) return [];
      return [
        { start: match.index, end: match.index + 9, entity: 'FINANCIAL', score: abaSumValid(match[0]) ? 0.97 : 0.7 },
      ];
    }),
};

export const accountNumber: Recognizer = {
  entity: 'FINANCIAL',
  name: 'account-number',
  modes: ALL_MODES,
  find: (text, context) =>
    [...text.matchAll(ACCOUNT)].flatMap((match): Span[] => {
      const named =
        ACCOUNT_WORDS.test(context.before(match.index)) ||
        /\b(?:account|acct)\b(?! (?:type|name|status|manager))/.test(context.label(match.index));
      return named ? [{ start: match.index, end: match.index + match[0].length, entity: 'FINANCIAL', score: 0.8 }] : [];
    }),
};

export const sortCode: Recognizer = {
  entity: 'FINANCIAL',
  name: 'sort-code',
  modes: ALL_MODES,
  find: (text, context) =>
    [...text.matchAll(SORT_CODE)].flatMap((match): Span[] => {
      const named = SORT_WORDS.test(context.before(match.index)) || /\bsort ?code\b/.test(context.label(match.index));
      return named ? [{ start: match.index, end: match.index + match[0].length, entity: 'FINANCIAL', score: 0.9 }] : [];
    }),
};

export const bic: Recognizer = {
  entity: 'FINANCIAL',
  name: 'bic',
  modes: ALL_MODES,
  find: (text, context) =>
    [...text.matchAll(BIC)].flatMap((match): Span[] => {
      if (!isCountry(match[0].slice(4, 6)) || wordAt(text, match.index - 1)) return [];
      const named = BIC_WORDS.test(context.before(match.index)) || /\b(?:bic|swift)\b/.test(context.label(match.index));
      return named
        ? [{ start: match.index, end: match.index + match[0].length, entity: 'FINANCIAL', score: 0.95 }]
        : [];
    }),
};
