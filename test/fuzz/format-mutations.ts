// Mutates the syntax of PDF, RTF and CSV files, and selects the mutations of each container format.
import { deflateSync, inflateSync } from 'node:zlib';
import type { Container } from '#shared/contract/formats.ts';
import { BYTE_MUTATIONS, type Mutation } from './byte-mutations.ts';
import { IMAGE_MUTATIONS } from './image-mutations.ts';
import { MARKUP_MUTATIONS } from './markup-mutations.ts';
import { BOUNDARY_NUMBERS, type Random } from './random.ts';
import { ZIP_MUTATIONS } from './zip-mutations.ts';

const textMutation = (name: string, run: (text: string, random: Random) => string): Mutation => ({
  name,
  run: (bytes, random) => Buffer.from(run(bytes.toString('latin1'), random), 'latin1'),
});

function replaceSome(text: string, pattern: RegExp, random: Random, piece: (found: string) => string): string {
  const count = [...text.matchAll(pattern)].length;
  if (count === 0) return text;
  const chosen = new Set(Array.from({ length: 1 + random.below(6) }, () => random.below(count)));
  let index = 0;
  return text.replace(pattern, (found) => (chosen.has(index++) ? piece(found) : found));
}

const insertAt = (text: string, at: number, piece: string) => text.slice(0, at) + piece + text.slice(at);

const OPERATORS = [
  'BT',
  'ET',
  'Tj',
  'TJ',
  'Tf',
  'Td',
  'Tm',
  'cm',
  'q',
  'Q',
  're',
  'f',
  'S',
  'Do',
  'BI',
  'ID',
  'EI',
  'BMC',
  'EMC',
  'sh',
  'gs',
];

/** Changes one content stream and compresses it again. It keeps the old Length, which is then often wrong. */
function changeStream(bytes: Buffer, random: Random): Buffer {
  const starts: number[] = [];
  for (let at = bytes.indexOf('stream\n'); at >= 0 && starts.length < 500; at = bytes.indexOf('stream\n', at + 7))
    if (bytes.toString('latin1', at - 3, at) !== 'end') starts.push(at + 7);
  if (starts.length === 0) return bytes;
  const start = random.pick(starts);
  const end = bytes.indexOf('endstream', start);
  if (end < 0) return bytes;
  let text: string;
  let compressed = true;
  try {
    text = inflateSync(bytes.subarray(start, end)).toString('latin1');
  } catch {
    text = bytes.toString('latin1', start, end);
    compressed = false;
  }
  for (let count = 1 + random.below(4); count > 0; count--)
    text = random.pick([
      () => replaceSome(text, /-?\d+(?:\.\d+)?/g, random, () => random.pick(BOUNDARY_NUMBERS)),
      () => replaceSome(text, /\b[A-Za-z]{1,2}\b/g, random, () => random.pick(OPERATORS)),
      () =>
        insertAt(
          text,
          random.below(text.length),
          random.pick(['q '.repeat(20_000), '['.repeat(5_000), '('.repeat(300), '<<'.repeat(2_000), 'BT '.repeat(500)]),
        ),
      () => insertAt(text, random.below(text.length), text.slice(0, 2_000).repeat(1 + random.below(50))),
      () => text.slice(0, random.below(text.length)),
    ])();
  const body = Buffer.from(text, 'latin1');
  return Buffer.concat([bytes.subarray(0, start), compressed ? deflateSync(body) : body, bytes.subarray(end)]);
}

const PDF_MUTATIONS: readonly Mutation[] = [
  { name: 'change-stream', run: changeStream },
  { name: 'change-stream-again', run: (bytes, random) => changeStream(changeStream(bytes, random), random) },
  textMutation('boundary-numbers', (text, random) =>
    replaceSome(text, /(?<=[\s[/(])-?\d+(?:\.\d+)?(?=[\s\]/>])/g, random, () => random.pick(BOUNDARY_NUMBERS)),
  ),
  textMutation('wrong-length', (text, random) =>
    replaceSome(text, /\/Length \d+/g, random, () => `/Length ${random.pick(BOUNDARY_NUMBERS)}`),
  ),
  textMutation('other-object', (text, random) =>
    replaceSome(text, /\d+ 0 R/g, random, () => `${random.below(40)} 0 R`),
  ),
  textMutation('invalid-box', (text, random) =>
    text.replaceAll(
      /\/(MediaBox|CropBox) ?\[[^\]]*\]/g,
      (_, name: string) => `/${name} [${Array.from({ length: 4 }, () => random.pick(BOUNDARY_NUMBERS)).join(' ')}]`,
    ),
  ),
  textMutation('invalid-rotate', (text, random) =>
    text.replaceAll(
      /\/Type ?\/Page\b/g,
      (found) => `${found} /Rotate ${random.pick(BOUNDARY_NUMBERS)} /UserUnit ${random.pick(BOUNDARY_NUMBERS)}`,
    ),
  ),
  textMutation('other-name', (text, random) => {
    const names = [...text.matchAll(/\/[A-Za-z]{2,20}/g)].map(([name]) => name);
    return names.length === 0 ? text : replaceSome(text, /\/[A-Za-z]{2,20}/g, random, () => random.pick(names));
  }),
  textMutation('deep-arrays', (text, random) =>
    replaceSome(text, /(?<=\/[A-Za-z]{2,20} )\d+/g, random, () => '['.repeat(random.pick([100, 3_000, 100_000]))),
  ),
  textMutation('kids-loop', (text) =>
    text.replaceAll(/\/Kids ?\[[^\]]*\]/g, (found) => `${found.slice(0, -1)} ${'1 0 R 2 0 R 3 0 R '.repeat(300)}]`),
  ),
  textMutation('no-xref', (text) => text.replaceAll('startxref', 'startxxxx').replaceAll('\nxref', '\nyref')),
];

const RTF_MUTATIONS: readonly Mutation[] = [
  textMutation('deep-groups', (text, random) =>
    insertAt(text, random.below(text.length), '{'.repeat(random.pick([100, 5_000, 200_000]))),
  ),
  textMutation('boundary-numbers', (text, random) =>
    replaceSome(text, /(?<=\\[a-z]{1,20})-?\d+/g, random, () => random.pick(BOUNDARY_NUMBERS)),
  ),
  textMutation('control-words', (text, random) =>
    insertAt(
      text,
      random.below(text.length),
      random.pick([
        '\\bin99999999 ',
        "\\'",
        '\\u-99999 ?',
        '\\ansicpg99999',
        '\\intbl\\cell\\row'.repeat(2_000),
        '{\\*\\zz'.repeat(500),
        '\\trowd'.repeat(5_000),
        '{\\pict\\wmetafile8 00}',
        '{\\field{\\*\\fldinst INCLUDETEXT "/etc/passwd"}{\\fldrslt x}}',
      ]),
    ),
  ),
];

const CSV_MUTATIONS: readonly Mutation[] = [
  textMutation('quotes', (text, random) =>
    insertAt(text, random.below(text.length), random.pick(['"', '""', '"'.repeat(1_001), ',"', '\\"', "'"])),
  ),
  textMutation('delimiters', (text, random) =>
    insertAt(
      text,
      random.below(text.length),
      random.pick([',', ';', '\t', '|', '\u0000', '\r']).repeat(random.pick([1, 100, 30_000])),
    ),
  ),
  textMutation('many-rows', (text, random) =>
    text.repeat(Math.min(1 + random.below(3_000), Math.ceil(2_000_000 / (text.length + 1)))),
  ),
  textMutation(
    'separator-line',
    (text, random) => `sep=${random.pick([',', '"', '\\', '', '\n', '\u00e9', 'ab'])}\n${text}`,
  ),
  {
    name: 'utf-16',
    run: (bytes, random) => Buffer.from(`${random.oneIn(2) ? '\uFEFF' : ''}${bytes.toString('utf8')}`, 'utf16le'),
  },
  {
    name: 'long-cell',
    run: (bytes, random) =>
      Buffer.concat([bytes, Buffer.from(random.pick(['*', '<', '|', '\\', ' ', '\u00e9', '_a']).repeat(500_000))]),
  },
];

const ENCODED_MARKUP_MUTATIONS = MARKUP_MUTATIONS.map(
  ([name, run]): Mutation => ({ name, run: (bytes, random) => Buffer.from(run(bytes.toString('utf8'), random)) }),
);

/** The mutations of each container format. Compound files (OLE) have numbers at fixed offsets, so byte mutations suffice. */
export const FORMAT_MUTATIONS: Readonly<Record<Container, readonly Mutation[]>> = {
  pdf: PDF_MUTATIONS,
  image: IMAGE_MUTATIONS,
  zip: ZIP_MUTATIONS,
  rtf: RTF_MUTATIONS,
  markup: ENCODED_MARKUP_MUTATIONS,
  text: CSV_MUTATIONS,
  ole: BYTE_MUTATIONS.filter(({ name }) => name.startsWith('boundary-words')),
};
