// SPEC 2.2 to 2.5: every field of the options, its default, its valid values and what they do, and every way it can be wrong.
import assert from 'node:assert/strict';
import { namesField, parsed, type Row, refused, SMALL_CSV } from './row.ts';

interface Field {
  section: string;
  /** As `details` names it. */
  path: string;
  valid: readonly unknown[];
  invalid: readonly unknown[];
  /** Lays a value into the options object; by default `{[path]: value}`. */
  at?: (value: unknown) => Record<string, unknown>;
}

const inParser = (name: string) => (value: unknown) => ({ parsers: [{ type: 'pdf', [name]: value }] });
const inRedact = (name: string) => (value: unknown) => ({ redactPII: { [name]: value } });

/** Values that must pass and values that must be refused by name, field by field. */
const FIELDS: readonly Field[] = [
  {
    section: '2.2',
    path: 'auditMetadata',
    valid: [{ username: 'ana' }, { username: '' }, { username: 'x'.repeat(1024) }],
    invalid: ['ana', [], 7, {}, { username: 7 }, { username: 'x'.repeat(1025) }, { username: 'ana', team: 'x' }],
  },
  { section: '2.2', path: 'blockAds', valid: [true, false], invalid: ['true', 1, 'yes', []] },
  {
    section: '2.2',
    path: 'excludeTags',
    valid: [[], ['nav'], ['.ad', '#x', 'div > p']],
    invalid: ['nav', [7], [['nav']], { tag: 'nav' }, Array.from({ length: 500 }, () => 'p')],
  },
  {
    section: '2.2',
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
    section: '2.2',
    path: 'headers',
    valid: [{}, { 'X-Trace': 'abc' }],
    invalid: ['X: y', [], 7, { 'X-Trace': 7 }, { 'X-Trace': ['a'] }],
  },
  {
    section: '2.2',
    path: 'includeTags',
    valid: [[], ['main'], ['article', '.body']],
    invalid: ['main', [false], { tag: 'main' }],
  },
  { section: '2.2', path: 'integration', valid: ['zapier', null], invalid: [7, {}, ['zapier'], true] },
  { section: '2.2', path: 'onlyMainContent', valid: [true, false], invalid: ['true', 0, 'no', {}] },
  { section: '2.2', path: 'origin', valid: ['api', 'js-sdk@4.42.0'], invalid: [7, {}, [], true] },
  {
    section: '2.2',
    path: 'parsers',
    valid: [[], ['pdf'], [{ type: 'pdf' }]],
    invalid: ['pdf', { type: 'pdf' }, [7], ['docx'], [{}], [null]],
  },
  { section: '2.2', path: 'proxy', valid: ['basic', 'auto'], invalid: ['stealth', 'enhanced', 7, ['auto'], {}] },
  { section: '2.2', path: 'redactPII', valid: [true, false, {}], invalid: ['true', 1, [], 'accurate'] },
  { section: '2.2', path: 'removeBase64Images', valid: [true, false], invalid: ['true', 1, {}] },
  { section: '2.2', path: 'skipTlsVerification', valid: [true, false], invalid: ['true', 1, {}] },
  {
    section: '2.2',
    path: 'timeout',
    valid: [20_000, 300_000],
    invalid: [0, -1, 300_001, 1.5, '30000', true, 1e12, []],
  },
  { section: '2.2', path: 'zeroDataRetention', valid: [true, false], invalid: ['true', 1, {}] },
  {
    section: '2.4',
    path: 'parsers[0].type',
    at: (value) => ({ parsers: [{ type: value }] }),
    valid: ['pdf'],
    invalid: ['docx', 7, null, 'PDF'],
  },
  {
    section: '2.4',
    path: 'parsers[0].mode',
    at: inParser('mode'),
    valid: ['fast', 'auto', 'ocr'],
    invalid: ['slow', 7, null, ['fast'], 'OCR'],
  },
  {
    section: '2.4',
    path: 'parsers[0].maxPages',
    at: inParser('maxPages'),
    valid: [1, 10_000],
    invalid: [0, -1, 10_001, 1.5, '3', true],
  },
  { section: '2.4', path: 'parsers[0].pages', at: inParser('pages'), valid: [true, false], invalid: ['true', 1, []] },
  { section: '2.4', path: 'parsers[0].blocks', at: inParser('blocks'), valid: [true, false], invalid: ['true', 1, {}] },
  {
    section: '2.4',
    path: 'parsers[0].pageMarkers',
    at: inParser('pageMarkers'),
    valid: [true, false],
    invalid: ['true', 1, {}],
  },
  {
    section: '2.5',
    path: 'redactPII.entities',
    at: inRedact('entities'),
    valid: [[], ['EMAIL'], ['PERSON', 'EMAIL', 'PHONE', 'LOCATION', 'FINANCIAL', 'SECRET']],
    invalid: ['EMAIL', ['NAME'], ['email'], [7], {}],
  },
  {
    section: '2.5',
    path: 'redactPII.mode',
    at: inRedact('mode'),
    valid: ['accurate', 'aggressive', 'fast'],
    invalid: ['slow', 7, [], 'FAST'],
  },
  {
    section: '2.5',
    path: 'redactPII.replaceStyle',
    at: inRedact('replaceStyle'),
    valid: ['tag', 'mask', 'remove'],
    invalid: ['hash', 7, [], 'TAG'],
  },
];

const show = (value: unknown) => {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
};

const fieldRows = FIELDS.flatMap((field): Row[] => {
  const at = field.at ?? ((value: unknown) => ({ [field.path]: value }));
  return [
    {
      name: `${field.section} \`${field.path}\`: accepted values are accepted (${field.valid.map(show).join(' ')})`,
      run: async (product) => {
        for (const value of field.valid) await parsed(product, { ...SMALL_CSV, options: at(value) });
      },
    },
    {
      name: `${field.section} \`${field.path}\`: other values are refused by name (${field.invalid.map(show).join(' ')})`,
      run: async (product) => {
        for (const value of field.invalid) {
          const body = await refused(product, { ...SMALL_CSV, options: at(value) }, 400, 'BAD_REQUEST');
          assert.ok(body.details && body.details.length > 0, `details for ${show(value)}`);
          namesField(body, field.path);
        }
      },
    },
  ];
});

const UNKNOWN: readonly (readonly [section: string, options: Record<string, unknown>, path: string])[] = [
  ['2.2', { format: ['markdown'] }, 'format'],
  ['2.2', { only_main_content: true }, 'only_main_content'],
  ['2.2 auditMetadata', { auditMetadata: { username: 'ana', role: 'x' } }, 'auditMetadata.role'],
  ['2.3', { formats: [{ type: 'markdown', pretty: true }] }, 'formats[0].pretty'],
  ['2.3 json', { formats: [{ type: 'json', prompt: 'x', model: 'y' }] }, 'formats[0].model'],
  ['2.4', { parsers: [{ type: 'pdf', dpi: 300 }] }, 'parsers[0].dpi'],
  ['2.5', { redactPII: { style: 'tag' } }, 'redactPII.style'],
];

const unknownRows = UNKNOWN.map(
  ([section, options, path]): Row => ({
    name: `${section}: no other properties (\`${path}\`), 400 with details naming it`,
    run: async (product) => {
      const body = await refused(product, { ...SMALL_CSV, options }, 400, 'BAD_REQUEST');
      assert.deepEqual(
        body.details?.map((issue) => issue.path),
        [path],
      );
    },
  }),
);

const SILENT: readonly (readonly [name: string, nothing: readonly unknown[], something: unknown])[] = [
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

const sdkDefaults = SILENT.flatMap(([name, nothing, something]): Row[] => [
  {
    name: `DECISIONS \`${name}\` of the SDKs' scrape defaults: accepted where it asks for nothing`,
    run: async (product) => {
      for (const value of nothing) await parsed(product, { ...SMALL_CSV, options: { [name]: value } });
    },
  },
  {
    name: `DECISIONS \`${name}\`: refused by name where it asks for something`,
    run: async (product) => {
      const body = await refused(
        product,
        { ...SMALL_CSV, options: { [name]: something } },
        400,
        'PARSE_UNSUPPORTED_OPTIONS',
      );
      assert.match(body.error, new RegExp(name));
    },
  },
]);

export const rows: Row[] = [...fieldRows, ...unknownRows, ...sdkDefaults];
