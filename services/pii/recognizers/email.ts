// E-mail addresses, found from each `@` outwards so that no text can make the search slow.
import { ALL_MODES, HEURISTIC_MODES, type Recognizer, type Span } from '../recognizer.ts';

const LOCAL_CHARACTER = /[\p{L}\p{N}._%+'-]/u;
const DOMAIN_CHARACTER = /[\p{L}\p{N}.-]/u;
/** RFC 5321 4.5.3.1: 64 octets of local part, 255 of domain. */
const LOCAL_LENGTH = 64;
const DOMAIN_LENGTH = 255;
const FILE_ENDINGS = /^(?:png|jpe?g|gif|svg|webp|avif|css|js|ts|mjs|json|html?|pdf|zip)$/i;

/** Whether `user:` stands before the local part, inside `scheme://user:password@host`. */
function insideUrlCredentials(text: string, start: number): boolean {
  const head = text.slice(Math.max(0, start - 200), start);
  return /[a-z][a-z0-9+.-]{1,30}:\/\/[^\s/@]*$/i.test(head) && !/mailto:$/i.test(head);
}

function domainEnd(text: string, start: number): number {
  let end = start;
  while (end < text.length && end - start < DOMAIN_LENGTH && DOMAIN_CHARACTER.test(text[end]!)) end += 1;
  while (end > start && /[.-]/.test(text[end - 1]!)) end -= 1;
  const labels = text.slice(start, end).split('.');
  // A sentence that goes on without a blank ("a@b.org.Next") is not told apart; a label that is no domain label is cut off.
  while (labels.length > 1 && !/^(?:\p{L}{2,24}|xn--[a-z0-9-]{2,59})$/iu.test(labels[labels.length - 1]!)) labels.pop();
  if (labels.length < 2 || labels.some((label) => label === '' || label.length > 63 || label.startsWith('-')))
    return -1;
  if (FILE_ENDINGS.test(labels[labels.length - 1]!)) return -1;
  return start + labels.join('.').length;
}

export const email: Recognizer = {
  entity: 'EMAIL',
  name: 'email',
  modes: ALL_MODES,
  inUrls: true,
  find(text) {
    const spans: Span[] = [];
    for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
      let start = at;
      while (start > 0 && at - start < LOCAL_LENGTH && LOCAL_CHARACTER.test(text[start - 1]!)) start -= 1;
      while (start < at && /[.'%-]/.test(text[start]!)) start += 1;
      if (start === at) continue;
      const end = domainEnd(text, at + 1);
      if (end < 0 || text[end] === '@' || insideUrlCredentials(text, start)) continue;
      // `git@host:group/project` is an address of a repository.
      if (
        text[end] === ':' &&
        /^:[\w~/]/.test(text.slice(end, end + 2)) &&
        !/^:\d{1,5}\b/.test(text.slice(end, end + 7))
      ) {
        if (text.slice(start, at) === 'git') continue;
      }
      spans.push({ start, end, entity: 'EMAIL', score: 0.99 });
    }
    return spans;
  },
};

/** Addresses written to dodge harvesters: `jane (at) example (dot) org`. */
export const spelledEmail: Recognizer = {
  entity: 'EMAIL',
  name: 'email-spelled',
  modes: HEURISTIC_MODES,
  find(text) {
    const pattern =
      /(?<![\p{L}\p{N}])[\p{L}\p{N}][\p{L}\p{N}._+-]{0,63}\s?[([{<]\s?at\s?[)\]}>]\s?[\p{L}\p{N}-]{1,63}(?:\s?(?:[([{<]\s?dot\s?[)\]}>]|\.)\s?[\p{L}\p{N}-]{2,63}){1,4}/giu;
    return [...text.matchAll(pattern)].map((match) => ({
      start: match.index,
      end: match.index + match[0].length,
      entity: 'EMAIL',
      score: 0.8,
    }));
  },
};
