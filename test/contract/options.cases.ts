// Checks which values each field accepts (docs/api.md, "Options", docs/api.md, "Parsers" and docs/api.md, "Redaction").
import assert from 'node:assert/strict';
import { type ContractCase, expectError, expectFieldInDetails, expectSuccess, SMALL_CSV } from './contract-case.ts';

interface Field {
  /** The `path` in `details`. */
  path: string;
  valid: readonly unknown[];
  invalid: readonly unknown[];
  /** Builds the options object around a value; by default `{[path]: value}`. */
  optionsWith?: (value: unknown) => Record<string, unknown>;
}

const inParser = (name: string) => (value: unknown) => ({ parsers: [{ type: 'pdf', [name]: value }] });
const inRedact = (name: string) => (value: unknown) => ({ redactPII: { [name]: value } });

/** Valid and invalid values of each field. For an invalid value, `details` must name the field. */
const FIELDS: readonly Field[] = [
  {
    path: 'auditMetadata',
    valid: [{ username: 'ana' }, { username: '' }, { username: 'x'.repeat(1024) }],
    invalid: ['ana', [], 7, {}, { username: 7 }, { username: 'x'.repeat(1025) }, { username: 'ana', team: 'x' }],
  },
  { path: 'blockAds', valid: [true, false], invalid: ['true', 1, 'yes', []] },
  {
    path: 'excludeTags',
    valid: [[], ['nav'], ['.ad', '#x', 'div > p']],
    invalid: ['nav', [7], [['nav']], { tag: 'nav' }, Array.from({ length: 500 }, () => 'p')],
  },
  {
    path: 'formats',
    valid: [[], ['markdown'], [{ type: 'markdown' }], ['html', { type: 'links' }]],
    invalid: [
      'markdown',
      { type: 'markdown' },
      [7],
      [{}],
      [null],
      ['pdf'],
      [{ type: 'nothing' }],
      [{ type: 'markdown', prompt: 'x' }],
      Array.from({ length: 200 }, () => 'markdown'),
    ],
  },
  {
    path: 'headers',
    valid: [{}, { 'X-Trace': 'abc' }],
    invalid: ['X: y', [], 7, { 'X-Trace': 7 }, { 'X-Trace': ['a'] }],
  },
  {
    path: 'includeTags',
    valid: [[], ['main'], ['article', '.body']],
    invalid: ['main', [false], { tag: 'main' }],
  },
  { path: 'integration', valid: ['zapier', null], invalid: [7, {}, ['zapier'], true] },
  {
    path: 'language',
    valid: ['eng', 'deu+eng', 'chi_sim'],
    invalid: ['', 'e', 'deu,eng', 'deu+', '../eng', 'eng eng', 7, ['eng'], null, Array(9).fill('eng').join('+')],
  },
  {
    path: 'parsers[0].language',
    optionsWith: inParser('language'),
    valid: ['eng', 'deu+eng'],
    invalid: ['', 'deu/eng', 7, ['eng'], Array(9).fill('eng').join('+')],
  },
  { path: 'onlyMainContent', valid: [true, false], invalid: ['true', 0, 'no', {}] },
  { path: 'origin', valid: ['api', 'js-sdk@4.42.0'], invalid: [7, {}, [], true] },
  {
    path: 'parsers',
    valid: [[], ['pdf'], [{ type: 'pdf' }]],
    invalid: ['pdf', { type: 'pdf' }, [7], ['docx'], [{}], [null]],
  },
  { path: 'proxy', valid: ['basic', 'auto'], invalid: ['stealth', 'enhanced', 7, ['auto'], {}] },
  { path: 'redactPII', valid: [true, false, {}], invalid: ['true', 1, [], 'accurate'] },
  { path: 'removeBase64Images', valid: [true, false], invalid: ['true', 1, {}] },
  { path: 'skipTlsVerification', valid: [true, false], invalid: ['true', 1, {}] },
  {
    path: 'timeout',
    valid: [20_000, 300_000],
    invalid: [0, -1, 300_001, 1.5, '30000', true, 1e12, []],
  },
  { path: 'zeroDataRetention', valid: [true, false], invalid: ['true', 1, {}] },
  {
    path: 'parsers[0].type',
    optionsWith: (value) => ({ parsers: [{ type: value }] }),
    valid: ['pdf'],
    invalid: ['docx', 7, null, 'PDF'],
  },
  {
    path: 'parsers[0].mode',
    optionsWith: inParser('mode'),
    valid: ['fast', 'auto', 'ocr'],
    invalid: ['slow', 7, null, ['fast'], 'OCR'],
  },
  {
    path: 'parsers[0].maxPages',
    optionsWith: inParser('maxPages'),
    valid: [1, 10_000],
    invalid: [0, -1, 10_001, 1.5, '3', true],
  },
  {
    path: 'parsers[0].pages',
    optionsWith: inParser('pages'),
    valid: [true, false, '1', '1-3,7', '10-', ' 1 - 2 , 4 '],
    invalid: ['true', 1, [], '', '0', '-3', '3-1', 'all', '1,', '1.5', '12345678', Array(101).fill('1').join(',')],
  },
  { path: 'parsers[0].blocks', optionsWith: inParser('blocks'), valid: [true, false], invalid: ['true', 1, {}] },
  {
    path: 'parsers[0].pageMarkers',
    optionsWith: inParser('pageMarkers'),
    valid: [true, false],
    invalid: ['true', 1, {}],
  },
  {
    path: 'redactPII.entities',
    optionsWith: inRedact('entities'),
    valid: [['EMAIL'], ['PERSON', 'EMAIL', 'PHONE', 'LOCATION', 'FINANCIAL', 'SECRET']],
    invalid: [[], 'EMAIL', ['NAME'], ['email'], [7], {}],
  },
  {
    path: 'redactPII.mode',
    optionsWith: inRedact('mode'),
    valid: ['accurate', 'aggressive', 'fast'],
    invalid: ['slow', 7, [], 'FAST'],
  },
  {
    path: 'redactPII.replaceStyle',
    optionsWith: inRedact('replaceStyle'),
    valid: ['tag', 'mask', 'remove'],
    invalid: ['hash', 7, [], 'TAG'],
  },
];

const show = (value: unknown) => {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
};

const fieldCases = FIELDS.flatMap((field): ContractCase[] => {
  const optionsWith = field.optionsWith ?? ((value: unknown) => ({ [field.path]: value }));
  return [
    {
      name: `accepts valid values of \`${field.path}\` (${field.valid.map(show).join(' ')})`,
      run: async (product) => {
        for (const value of field.valid) await expectSuccess(product, { ...SMALL_CSV, options: optionsWith(value) });
      },
    },
    {
      name: `returns 400 naming \`${field.path}\` for invalid values (${field.invalid.map(show).join(' ')})`,
      run: async (product) => {
        for (const value of field.invalid) {
          const body = await expectError(product, { ...SMALL_CSV, options: optionsWith(value) }, 400, 'BAD_REQUEST');
          assert.ok(body.details && body.details.length > 0, `details for ${show(value)}`);
          expectFieldInDetails(body, field.path);
        }
      },
    },
  ];
});

const UNKNOWN: readonly (readonly [options: Record<string, unknown>, path: string])[] = [
  [{ format: ['markdown'] }, 'format'],
  [{ only_main_content: true }, 'only_main_content'],
  [{ auditMetadata: { username: 'ana', role: 'x' } }, 'auditMetadata.role'],
  [{ formats: [{ type: 'markdown', pretty: true }] }, 'formats[0].pretty'],
  [{ formats: [{ type: 'json', prompt: 'x', model: 'y' }] }, 'formats[0].model'],
  [{ parsers: [{ type: 'pdf', dpi: 300 }] }, 'parsers[0].dpi'],
  [{ redactPII: { style: 'tag' } }, 'redactPII.style'],
];

const unknownCases = UNKNOWN.map(
  ([options, path]): ContractCase => ({
    name: `returns 400 naming the unknown field \`${path}\``,
    run: async (product) => {
      const body = await expectError(product, { ...SMALL_CSV, options }, 400, 'BAD_REQUEST');
      assert.deepEqual(
        body.details?.map((issue) => issue.path),
        [path],
      );
    },
  }),
);

/** Scrape options that the public SDKs send: values that turn the option off, and a value that turns it on. */
const SCRAPE_OPTIONS: readonly (readonly [name: string, inactive: readonly unknown[], active: unknown])[] = [
  ['mobile', [false, null], true],
  ['fastMode', [false, null], true],
  ['waitFor', [0, null], 1000],
  ['maxAge', [0, null], 60_000],
  ['minAge', [0, null], 1],
  ['storeInCache', [false, null], true],
  ['lockdown', [false, null], true],
  ['location', [null, {}], { country: 'DE' }],
  ['useMock', [null, false], 'mock'],
  ['checkPromptInjection', [false, null], true],
  ['threatProtection', [null, {}], { mode: 'strict' }],
  ['jsonOptions', [null, {}], { prompt: 'x' }],
  ['agent', [null], { model: 'x' }],
  ['actions', [[], null], [{ type: 'wait', milliseconds: 5 }]],
];

const sdkDefaults = SCRAPE_OPTIONS.flatMap(([name, inactive, active]): ContractCase[] => [
  {
    name: `accepts the scrape option \`${name}\` when its value turns it off`,
    run: async (product) => {
      for (const value of inactive) await expectSuccess(product, { ...SMALL_CSV, options: { [name]: value } });
    },
  },
  {
    name: `returns 400 PARSE_UNSUPPORTED_OPTIONS naming \`${name}\` when its value turns it on`,
    run: async (product) => {
      const body = await expectError(
        product,
        { ...SMALL_CSV, options: { [name]: active } },
        400,
        'PARSE_UNSUPPORTED_OPTIONS',
      );
      assert.match(body.error, new RegExp(name));
    },
  },
]);

export const cases: ContractCase[] = [...fieldCases, ...unknownCases, ...sdkDefaults];
