// Mutates XML and HTML text so that it often stays well-formed but has unexpected structure, numbers and characters.
import { BOUNDARY_NUMBERS, type Random } from './random.ts';

type TextMutation = readonly [name: string, run: (text: string, random: Random) => string | Buffer];

const SPECIAL_TEXT = [
  '\u0000',
  '\uFEFF',
  '\u202E\u2066',
  '\uD800',
  '\u{1F469}\u200D\u{1F4BB}',
  '&#x0;',
  '&#xD800;',
  '&#99999999;',
  '&nosuch;',
  '&amp;amp;',
  '<![CDATA[',
  ']]>',
  '<!--',
  '-->',
  '<?x',
  '<',
  '>',
  '"',
  '|',
  '\\',
  '`'.repeat(50),
  '\u0301'.repeat(200),
  '\r\r\n',
  '\u2028',
  '[x](javascript:alert(1))',
  '${',
  '%s%n',
  '../../../etc/passwd',
  '__proto__',
  'constructor',
] as const;
const DOCTYPES = [
  '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;">]>',
  '<!DOCTYPE x SYSTEM "file:///etc/passwd">',
  '<!DOCTYPE x [<!ENTITY % p SYSTEM "http://127.0.0.1:9/"> %p;]>',
] as const;

/** Positions [start, end) of the first 20,000 tags. */
function tagsOf(text: string): [start: number, end: number][] {
  const tags: [number, number][] = [];
  for (const match of text.matchAll(/<[^<>]{1,2000}>/g)) {
    tags.push([match.index, match.index + match[0].length]);
    if (tags.length >= 20_000) break;
  }
  return tags;
}

const insertAt = (text: string, at: number, piece: string) => text.slice(0, at) + piece + text.slice(at);

/** A position after a tag, or anywhere in one of four cases. */
function randomPosition(text: string, random: Random): number {
  const tags = tagsOf(text);
  return tags.length === 0 || random.oneIn(4) ? random.below(text.length) : random.pick(tags)[1];
}

function replaceSome(text: string, pattern: RegExp, random: Random, piece: () => string): string {
  const found = [...text.matchAll(pattern)].slice(0, 20_000);
  if (found.length === 0) return text;
  let changed = text;
  // From the end, so that the positions of earlier matches stay valid.
  const chosen = Array.from({ length: 1 + random.below(6) }, () => random.pick(found)).sort(
    (a, b) => b.index - a.index,
  );
  let last = Number.POSITIVE_INFINITY;
  for (const match of chosen) {
    if (match.index + match[0].length > last) continue;
    last = match.index;
    changed = changed.slice(0, match.index) + piece() + changed.slice(match.index + match[0].length);
  }
  return changed;
}

const randomElementName = (text: string, random: Random) => {
  const name = /^<\/?([\w:.-]+)/.exec(text.slice(...(random.pick(tagsOf(text)) ?? [0, 0])))?.[1];
  return name ?? 'div';
};

export const MARKUP_MUTATIONS: readonly TextMutation[] = [
  [
    'drop-tags',
    (text, random) => {
      const tags = tagsOf(text);
      for (let count = 1 + random.below(5); count > 0 && tags.length > 0; count--) {
        const [start, end] = tags.splice(random.below(tags.length), 1)[0]!;
        text = text.slice(0, start) + ' '.repeat(end - start) + text.slice(end);
      }
      return text;
    },
  ],
  [
    'repeat-element',
    (text, random) => {
      const tags = tagsOf(text);
      if (tags.length < 2) return text;
      const from = random.below(tags.length);
      const to = Math.min(tags.length - 1, from + random.below(30));
      const span = text.slice(tags[from]![0], tags[to]![1]);
      return insertAt(
        text,
        tags[to]![1],
        span.repeat(Math.min(2 + random.below(400), Math.ceil(2_000_000 / span.length))),
      );
    },
  ],
  [
    'nest-deeply',
    (text, random) => {
      const name = tagsOf(text).length === 0 ? 'div' : randomElementName(text, random);
      const depth = random.pick([50, 300, 900, 5_000, 50_000]);
      const close = random.oneIn(3) ? '' : `</${name}>`.repeat(depth);
      return insertAt(text, randomPosition(text, random), `<${name}>`.repeat(depth) + close);
    },
  ],
  [
    'boundary-numbers',
    (text, random) => replaceSome(text, /-?\d+(?:\.\d+)?/g, random, () => random.pick(BOUNDARY_NUMBERS)),
  ],
  [
    'special-attribute-values',
    (text, random) =>
      replaceSome(
        text,
        /="[^"<>]{0,500}"/g,
        random,
        () => `="${random.pick([...BOUNDARY_NUMBERS, ...SPECIAL_TEXT]).replace(/["<]/g, '')}"`,
      ),
  ],
  [
    'swap-attribute-values',
    (text, random) => {
      const values = [...text.matchAll(/="([^"<>]{0,500})"/g)].slice(0, 5_000).map((match) => match[1] ?? '');
      return values.length === 0
        ? text
        : replaceSome(text, /="[^"<>]{0,500}"/g, random, () => `="${random.pick(values)}"`);
    },
  ],
  [
    'huge-attribute',
    (text, random) => {
      const size = random.pick([1_000, 70_000, 1_000_000]);
      return replaceSome(
        text,
        /(?<=<[\w:.-]{1,60})(?=[\s/>])/g,
        random,
        () => ` zz${random.below(9)}="${'a&quot;'.repeat(size / 7)}"`,
      );
    },
  ],
  [
    'many-attributes',
    (text, random) =>
      replaceSome(text, /(?<=<[\w:.-]{1,60})(?=[\s/>])/g, random, () =>
        Array.from({ length: 3_000 }, (_, i) => ` a${i}="${i}"`).join(''),
      ),
  ],
  [
    'special-text',
    (text, random) => {
      for (let count = 1 + random.below(8); count > 0; count--)
        text = insertAt(text, randomPosition(text, random), random.pick(SPECIAL_TEXT));
      return text;
    },
  ],
  [
    'long-text',
    (text, random) =>
      insertAt(
        text,
        randomPosition(text, random),
        random.pick(['x', ' ', '*', 'ab ', '<b>', '&amp;', '[', '![']).repeat(200_000),
      ),
  ],
  [
    'rename-element',
    (text, random) =>
      tagsOf(text).length === 0
        ? text
        : text.replaceAll(`<${randomElementName(text, random)}`, `<${randomElementName(text, random)}`),
  ],
  ['doctype', (text, random) => random.pick(DOCTYPES) + text.replace(/^<\?xml[^>]*>/, '')],
  [
    'entities',
    (text, random) =>
      insertAt(random.pick(DOCTYPES) + text.replace(/^<\?xml[^>]*>/, ''), randomPosition(text, random), '&d;&d;&d;'),
  ],
  [
    'spans',
    (text, random) =>
      replaceSome(
        text,
        /<(?:td|th|w:tcPr|table:table-cell)\b/g,
        random,
        () => `<td rowspan="${random.pick(BOUNDARY_NUMBERS)}" colspan="${random.pick(BOUNDARY_NUMBERS)}" `,
      ),
  ],
  ['utf-16', (text, random) => Buffer.from(`${random.oneIn(2) ? '\uFEFF' : ''}${text}`, 'utf16le')],
  ['latin-1', (text) => Buffer.from(text.replace(/[a-z](?=[ .])/g, '\u00e9'), 'latin1')],
  [
    'declared-charset',
    (text, random) =>
      text.replace(
        /encoding="[^"]*"|charset="?[\w-]*/i,
        `encoding="${random.pick(['utf-7', 'utf-16', 'shift_jis', 'ebcdic-cp-us', 'x'.repeat(999), ''])}"`,
      ),
  ],
  ['truncate', (text, random) => text.slice(0, random.below(text.length))],
  ['empty', (_text, random) => random.pick(['', ' ', '<a/>', '<?xml version="1.0"?>', '\u0000'])],
];
