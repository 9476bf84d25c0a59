// Creates random options: most are valid, some are close to valid.
import { FORMAT_TYPES, PDF_MODES, PII_ENTITIES, PII_MODES, PII_STYLES } from '#shared/contract/options-schema.ts';
import { BOUNDARY_NUMBERS, type Random } from './random.ts';

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
const INVALID_VALUES: readonly unknown[] = [
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

const pickSome = <T>(items: readonly T[], random: Random, max = 3): T[] =>
  Array.from({ length: random.below(max + 1) }, () => random.pick(items));
const coin = (random: Random) => random.oneIn(2);

function validOptions(random: Random): Record<string, unknown> {
  const options: Record<string, unknown> = {};
  if (!random.oneIn(3))
    options.formats = pickSome(FORMAT_TYPES, random, 5)
      .filter((type) => type !== 'json')
      .map((type) => (coin(random) ? type : { type, ...(type === 'images' ? { embedded: coin(random) } : {}) }));
  if (random.oneIn(4)) options.onlyMainContent = coin(random);
  if (random.oneIn(4)) options.removeBase64Images = coin(random);
  if (random.oneIn(6)) options.blockAds = coin(random);
  if (random.oneIn(6)) options.language = random.pick(['eng', 'eng+eng']);
  if (random.oneIn(6)) options.includeTags = pickSome(SELECTORS.slice(0, 10), random);
  if (random.oneIn(6)) options.excludeTags = pickSome(SELECTORS.slice(0, 10), random);
  if (random.oneIn(6))
    options.redactPII = coin(random)
      ? true
      : {
          mode: random.pick(PII_MODES),
          replaceStyle: random.pick(PII_STYLES),
          entities: [random.pick(PII_ENTITIES), ...pickSome(PII_ENTITIES, random)],
        };
  if (random.oneIn(2))
    options.parsers = [
      {
        type: 'pdf',
        mode: random.pick(PDF_MODES),
        pages: random.oneIn(3) ? random.pick(['1', '2-', '1-2,4', '3, 1', '1-9999999']) : coin(random),
        blocks: !random.oneIn(4),
        pageMarkers: coin(random),
        ...(random.oneIn(4) ? { maxPages: 1 + random.below(3) } : {}),
        ...(random.oneIn(8) ? { password: random.pick(['river', 'heron', '', '\u00e9'.repeat(200)]) } : {}),
      },
    ];
  return options;
}

const FIELD_NAMES = [
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

interface RandomOptions {
  /** Content of the `options` part. */
  text: string;
  /** The `timeout` in it. */
  timeoutMs: number;
}

/** Options that are valid in seven of eight cases, so that most cases test the document. */
export function randomOptions(random: Random): RandomOptions {
  const timeoutMs = random.oneIn(25) ? 1 + random.below(60) : random.pick([4_000, 6_000, 8_000]);
  const options: Record<string, unknown> = { ...validOptions(random), timeout: timeoutMs };
  if (!random.oneIn(8)) return { text: JSON.stringify(options), timeoutMs };
  for (let count = 1 + random.below(2); count > 0; count--) {
    const name = random.pick(FIELD_NAMES);
    if (name === 'timeout') continue;
    options[name] = random.oneIn(3)
      ? pickSome(SELECTORS, random)
      : random.oneIn(3)
        ? random.pick(BOUNDARY_NUMBERS)
        : random.pick(INVALID_VALUES);
  }
  const text = JSON.stringify(options);
  if (random.oneIn(4)) return { text: text.slice(0, random.below(text.length)), timeoutMs };
  if (random.oneIn(8)) return { text: `{"timeout":${timeoutMs},"formats":${'['.repeat(3_000)}`, timeoutMs };
  return { text, timeoutMs };
}
