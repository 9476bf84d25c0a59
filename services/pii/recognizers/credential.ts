// Credentials that the words or the syntax around them give away: headers, connection strings, assignments, JSON web tokens.
import { ALL_MODES, HEURISTIC_MODES, type Recognizer, type Span } from '../recognizer.ts';

const span = (start: number, length: number, score: number): Span => ({
  start,
  end: start + length,
  entity: 'SECRET',
  score,
});

/** RFC 7519: three base64url parts, of which two begin with `{"`. */
export const jsonWebToken: Recognizer = {
  entity: 'SECRET',
  name: 'json-web-token',
  modes: ALL_MODES,
  inUrls: true,
  find: (text) =>
    [...text.matchAll(/(?<![\w-])eyJ[\w-]{10,4000}\.(?:eyJ)?[\w-]{10,8000}(?:\.[\w-]{0,2000}){0,3}/g)].map((match) =>
      span(match.index, match[0].replace(/\.$/, '').length, 0.98),
    ),
};

/** RFC 6750 and 7617: the token of an Authorization header. */
export const authorizationHeader: Recognizer = {
  entity: 'SECRET',
  name: 'authorization-header',
  modes: ALL_MODES,
  find: (text) =>
    [...text.matchAll(/\b(?:bearer|basic|token|digest|apikey)[ \t]{1,4}([A-Za-z0-9._~+/-]{16,4000}={0,2})/gi)].flatMap(
      (match) => {
        const token = match[1] ?? '';
        return /\d/.test(token) && /[A-Za-z]/.test(token) && mixed(token)
          ? [span(match.index + match[0].length - token.length, token.replace(/\.$/, '').length, 0.9)]
          : [];
      },
    ),
};

/** RFC 3986 3.2.1: `scheme://user:password@host`, and the password or key of `key=value;` connection strings. */
export const connectionString: Recognizer = {
  entity: 'SECRET',
  name: 'connection-string',
  modes: ALL_MODES,
  inUrls: true,
  find: (text) =>
    [...text.matchAll(/[a-z][a-z0-9+.-]{1,30}:\/\/[^\s:/@"'<>|]{0,100}:([^\s/@"'<>|]{3,200})@(?=[\w[.-])/gi)].flatMap(
      (match) => {
        const password = match[1] ?? '';
        return placeholder(password)
          ? []
          : [span(match.index + match[0].length - 1 - password.length, password.length, 0.97)];
      },
    ),
};

const NAME =
  '(?:pass(?:word|wd|phrase|code)?|pwd|kennwort|passwort|contrase[nñ]a|mot de passe|secret(?:[_ -]?key)?|client[_ -]?secret|api[_ -]?(?:key|token|secret)|apikey|access[_ -]?(?:key|token)|auth[_ -]?(?:key|token)|refresh[_ -]?token|session[_ -]?(?:key|token|id)|private[_ -]?key|signing[_ -]?key|encryption[_ -]?key|master[_ -]?key|account[_ -]?key|shared[_ -]?access[_ -]?key|secret[_ -]?access[_ -]?key|bearer[_ -]?token|id[_ -]?token|csrf[_ -]?token|token|credentials?|webhook[_ -]?secret|license[_ -]?key|pin(?:[_ -]?code)?|otp)';
const ASSIGNMENT = new RegExp(
  `(?:(?<![\\p{L}])|_|-|(?<=[a-z])(?=[A-Z]))(${NAME})["'\`]?\\]?[ \\t]{0,4}(?:=>|:=|=|:|\\bis\\b(?:[ \\t]{1,2}(?:now|set to))?:?)[ \\t]{0,4}(["'\`]?)([^\\s"'\`<>|;,&]{4,400})`,
  'giu',
);
const PLACEHOLDER =
  /^(?:\$|%|\{|\(|\[|<|\*|x{3,}|\.{3}|your|my|the|change|replace|insert|example|sample|dummy|test$|todo|none$|null$|nil$|true$|false$|undefined|required|optional|string$|n\/a|redacted|hidden|placeholder|enter|env[.[]|process\.|os\.|import|get|config)|placeholder|changeme|your[_-]|example|\.\.\.|\$\{|\{\{|\(\)|xxxx/i;

function placeholder(value: string): boolean {
  return PLACEHOLDER.test(value) || /^(.)\1*$/.test(value);
}

/** Two kinds of characters among lower case, upper case, digits and signs. */
function mixed(value: string): boolean {
  const kinds =
    Number(/[a-z]/.test(value)) +
    Number(/[A-Z]/.test(value)) +
    Number(/\d/.test(value)) +
    Number(/[^A-Za-z0-9]/.test(value));
  return kinds >= 2;
}

/** `password: ...`, `API_KEY="..."`, `my password is ...`. */
export const assignedSecret: Recognizer = {
  entity: 'SECRET',
  name: 'assigned-secret',
  modes: ALL_MODES,
  inUrls: true,
  find: (text, context) =>
    [...text.matchAll(ASSIGNMENT)].flatMap((match) => {
      const name = (match[1] ?? '').toLowerCase();
      const quoted = match[2] !== '';
      let value = match[3] ?? '';
      const start = match.index + match[0].length - value.length;
      value = quoted ? value : value.replace(/[.,:)\]}]+$/, '');
      if (value.length < 4 || placeholder(value) || /^https?:/i.test(value)) return [];
      const word = /^(?:pass|pwd|kennwort|passwort|contrase|mot)/.test(name);
      if (/^(?:pin|otp)/.test(name)) return /^\d{4,8}$/.test(value) ? [span(start, value.length, 0.7)] : [];
      const hasDigit = /\d/.test(value);
      const prose = /\bis\b/i.test(match[0].slice(name.length, match[0].length - value.length));
      // A word of a language is a password only where it is set as one, and never in prose.
      if (word) {
        const plausible =
          (hasDigit && value.length >= 5) ||
          (/[A-Z]/.test(value.slice(1)) && /[a-z]/.test(value) && !prose) ||
          (/[!@#$%^&*?]/.test(value) && value.length >= 6);
        return plausible ||
          (!prose && quoted && value.length >= 6) ||
          (context.mode !== 'accurate' && !prose && value.length >= 6)
          ? [span(start, value.length, 0.85)]
          : [];
      }
      if (value.length < 12 && !(quoted && value.length >= 8))
        return context.mode !== 'accurate' && hasDigit && value.length >= 8 ? [span(start, value.length, 0.6)] : [];
      return hasDigit && mixed(value) ? [span(start, value.length, 0.85)] : [];
    }),
};

const LONG_TOKEN = /(?<![\w./:#@-])[A-Za-z0-9][\w+/-]{19,199}={0,2}(?![\w/@-])/g;
const SECRET_WORDS =
  /\b(?:key|keys|token|secret|password|credential|credentials|auth|authorization|jwt|bearer|cookie|session)\b[^.\n]{0,24}$|(?:key|token|secret)["'`]?\s?[:=]\s?["'`]?$/;

/** Shannon entropy in bits a character. */
function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

/** Words glued together are letters with a few digits at the ends; random text changes its kind all the time. */
function looksRandom(token: string): boolean {
  if (/^[0-9a-f-]+$|^[0-9A-F-]+$/.test(token) || !/\d/.test(token) || !/[A-Za-z]/.test(token)) return false;
  const changes = [...token.matchAll(/[a-z][A-Z0-9]|[A-Z][0-9]|[0-9][A-Za-z]|[A-Z][a-z]/g)].length;
  return (
    entropy(token) >= 3.6 &&
    changes / token.length >= 0.25 &&
    !/^(?:\d+[-/])+\d+$/.test(token) &&
    !/(?:[a-z]{4,}[-_/]){2}/.test(token)
  );
}

/** Random-looking tokens next to a word about secrets. */
export const namedToken: Recognizer = {
  entity: 'SECRET',
  name: 'named-token',
  modes: ALL_MODES,
  find: (text, context) =>
    [...text.matchAll(LONG_TOKEN)].flatMap((match) =>
      (looksRandom(match[0]) || /^[0-9a-f]{32,64}$/.test(match[0])) &&
      SECRET_WORDS.test(context.before(match.index, 40)) &&
      !/\b(?:sha|md5|hash|checksum|commit|digest|public key|fingerprint)/.test(context.before(match.index, 40))
        ? [span(match.index, match[0].length, 0.7)]
        : [],
    ),
};

/** Random-looking tokens anywhere. */
export const looseToken: Recognizer = {
  entity: 'SECRET',
  name: 'loose-token',
  modes: HEURISTIC_MODES,
  find: (text) =>
    [...text.matchAll(LONG_TOKEN)].flatMap((match) =>
      match[0].length >= 32 &&
      looksRandom(match[0]) &&
      entropy(match[0]) >= 4 &&
      /[a-z]/.test(match[0]) &&
      /[A-Z]/.test(match[0])
        ? [span(match.index, match[0].length, 0.55)]
        : [],
    ),
};
