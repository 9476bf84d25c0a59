// Says where a text stops being JSON and which common mistake it probably is, because the error of JSON.parse often says neither.
import { visit } from 'jsonc-parser';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';

/** The first fault of a text: its offset, the word or character there, and the text around it. */
interface Fault {
  offset: number;
  token: string;
  text: string;
}

const before = ({ text, offset }: Fault): string => text.slice(0, offset).trimEnd();

/** Common mistakes and what to do instead; the first that matches is named. */
const MISTAKES: readonly (readonly [matches: (fault: Fault) => boolean, advice: string])[] = [
  [({ text }) => /^\s*$/.test(text), 'it is empty; leave the part out, or send {}'],
  [
    ({ text }) => /^\s*\[object Object\]/.test(text),
    'it is the text of a JavaScript object; send JSON.stringify(options)',
  ],
  [
    ({ text }) => /^\s*@/.test(text),
    "it is the name of a file and not its content; with curl, write -F 'options=<options.json'",
  ],
  [({ text }) => /^\s*'\s*[{[]/.test(text), 'remove the single quotes around the JSON; your shell did not remove them'],
  [({ token }) => /^(True|False|None)\b/.test(token), 'it is the text of a Python dict; send json.dumps(options)'],
  [({ token }) => token.startsWith("'"), 'JSON needs double quotes; in Python, send json.dumps(options)'],
  [({ token }) => /^[\u2018-\u201f]/.test(token), 'replace the typographic quotes by straight double quotes'],
  [({ token }) => token.startsWith('\\'), 'remove the backslashes before the quotes'],
  [({ token }) => /^(undefined|NaN|-?Infinity)\b/.test(token), 'JSON has no such value; leave the field out'],
  [({ token }) => /^\/[/*]/.test(token), 'JSON has no comments; remove them'],
  [(fault) => /^[\]}]/.test(fault.token) && before(fault).endsWith(','), 'remove the comma before it'],
  [({ text }) => !/^\s*[{[]/.test(text), 'it must start with {'],
  [(fault) => /[{,]$/.test(before(fault)) && /^[\w$-]/.test(fault.token), 'put double quotes around each field name'],
  [({ token }) => token === '', 'it ends too early; add the closing brackets and quotes'],
];

/** Line and column, from 1. Columns count UTF-16 code units. */
function position(text: string, offset: number): string {
  let [line, start] = [1, 0];
  for (let at = 0; at < offset; at++) {
    const isEnd = text[at] === '\n' || (text[at] === '\r' && (at + 1 === offset || text[at + 1] !== '\n'));
    if (!isEnd) continue;
    line += 1;
    start = at + 1;
  }
  return `line ${line}, column ${offset - start + 1}`;
}

/** Carries the first fault out of the parser, which would read on and find thousands of others. */
class FaultFound extends Error {
  readonly offset: number;
  readonly length: number;

  constructor(offset: number, length: number) {
    super();
    this.offset = offset;
    this.length = length;
  }
}

function firstFault(text: string): Pick<FaultFound, 'offset' | 'length'> {
  const onError = (_code: number, offset: number, length: number): never => {
    throw new FaultFound(offset, length);
  };
  try {
    visit(text, { onError }, { disallowComments: true, allowTrailingComma: false });
  } catch (error) {
    if (error instanceof FaultFound) return error;
    throw error;
  }
  return { offset: 0, length: 0 };
}

/** Where the fault is and what to do, for a text that JSON.parse rejects. It repeats at most a few characters of the text. */
export function describeJsonFault(text: string): string {
  const { offset, length } = firstFault(text);
  const token = text.slice(offset, offset + length);
  const advice = MISTAKES.find(([matches]) => matches({ offset, token, text }))?.[1];
  const shown = /^[\p{L}\p{N}\p{P}\p{S}]+/u.exec(token)?.[0].slice(0, REQUEST_LIMITS.errorTokenLength) ?? '';
  const found = shown === '' ? '' : ` (found ${shown})`;
  return `${position(text, offset)}${found}${advice === undefined ? '' : `: ${advice}`}`;
}
