// Random options from the schema and near it: what a client may ask, and what a careless one does.
import { FORMAT_TYPES, PDF_MODES, PII_ENTITIES, PII_MODES, PII_STYLES } from '#shared/contract/options.ts';
import { ODD_NUMBERS, type Random } from './random.ts';

const SELECTORS = [
  'p',
  'table',
  'h1, h2',
  '.main',
  '#x',
  'div > p:first-child',
  'a[href^="http"]',
  '*',
  'p:not(.x)',
  ':has(td)',
  '',
  '>>',
  'p:nth-child(2n+',
  '::before',
  '['.repeat(80),
  'a'.repeat(501),
  ':not('.repeat(100),
  'p:contains("x")',
  '*|*',
  'script',
  '\u0000',
  '\\',
];
const WRONG: readonly unknown[] = [
  null,
  true,
  -1,
  0,
  1.5,
  '',
  'x',
  [],
  {},
  [null],
  [[]],
  { type: 'pdf' },
  'a'.repeat(3_000),
  Number.MAX_SAFE_INTEGER,
  { __proto__: 1 },
  ['markdown', 7],
];

const some = <T>(items: readonly T[], random: Random, most = 3): T[] =>
  Array.from({ length: random.below(most + 1) }, () => random.pick(items));
const flag = (random: Random) => random.once(2);

function validOptions(random: Random): Record<string, unknown> {
  const options: Record<string, unknown> = {};
  if (!random.once(3))
    options.formats = some(FORMAT_TYPES, random, 5)
      .filter((type) => type !== 'json')
      .map((type) => (flag(random) ? type : { type }));
  if (random.once(4)) options.onlyMainContent = flag(random);
  if (random.once(4)) options.removeBase64Images = flag(random);
  if (random.once(6)) options.blockAds = flag(random);
  if (random.once(6)) options.includeTags = some(SELECTORS.slice(0, 10), random);
  if (random.once(6)) options.excludeTags = some(SELECTORS.slice(0, 10), random);
  if (random.once(6))
    options.redactPII = flag(random)
      ? true
      : { mode: random.pick(PII_MODES), replaceStyle: random.pick(PII_STYLES), entities: some(PII_ENTITIES, random) };
  if (random.once(2))
    options.parsers = [
      {
        type: 'pdf',
        mode: random.pick(PDF_MODES),
        pages: flag(random),
        blocks: !random.once(4),
        pageMarkers: flag(random),
        ...(random.once(4) ? { maxPages: 1 + random.below(3) } : {}),
        ...(random.once(8) ? { password: random.pick(['river', 'heron', '', '\u00e9'.repeat(200)]) } : {}),
      },
    ];
  return options;
}

const NAMES = [
  'formats',
  'parsers',
  'redactPII',
  'includeTags',
  'excludeTags',
  'timeout',
  'headers',
  'auditMetadata',
  'onlyMainContent',
  'proxy',
  'origin',
  'integration',
  'mobile',
  'waitFor',
  'location',
  'actions',
  'zeroDataRetention',
  'nosuch',
  '__proto__',
  'constructor',
];

/** The options part as it is sent, and the deadline that holds for it (ms). */
export interface Asked {
  text: string;
  timeoutMs: number;
}

/** Mostly valid ones, so that the document is what is judged; once in eight near the schema, seldom no options at all. */
export function askedOptions(random: Random): Asked {
  const timeoutMs = random.once(25) ? 1 + random.below(60) : random.pick([4_000, 6_000, 8_000]);
  const options: Record<string, unknown> = { ...validOptions(random), timeout: timeoutMs };
  if (!random.once(8)) return { text: JSON.stringify(options), timeoutMs };
  for (let count = 1 + random.below(2); count > 0; count--) {
    const name = random.pick(NAMES);
    if (name === 'timeout') continue;
    options[name] = random.once(3)
      ? some(SELECTORS, random)
      : random.once(3)
        ? random.pick(ODD_NUMBERS)
        : random.pick(WRONG);
  }
  const text = JSON.stringify(options);
  if (random.once(4)) return { text: text.slice(0, random.below(text.length)), timeoutMs };
  if (random.once(8)) return { text: `{"timeout":${timeoutMs},"formats":${'['.repeat(3_000)}`, timeoutMs };
  return { text, timeoutMs };
}
