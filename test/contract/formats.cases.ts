// Checks docs/api.md, "Formats": the supported formats, the unsupported ones, and lists of formats.
import assert from 'node:assert/strict';
import { pdf } from '../harness/documents.ts';
import {
  type ContractCase,
  type Data,
  expectError,
  expectFieldInDetails,
  expectSuccess,
  htmlPage,
  SMALL_CSV,
} from './contract-case.ts';

const PAGE = htmlPage(
  '<main><h1>Harbour</h1><p>The harbour was quiet. Boats came in at noon. The keeper wrote their names down. Nobody asked why the lamp stayed dark.</p><p><a href="https://example.com/log">Log</a> <img alt="Map" src="https://example.com/map.png"></p></main>',
  '<title>Harbour</title><script>var x = 1;</script>',
);

const present = (data: Data) =>
  Object.keys(data)
    .filter((key) => key !== 'metadata' && key !== 'warning')
    .sort();

const ONE: readonly (readonly [format: string, check: (data: Data) => void])[] = [
  ['markdown', (data) => assert.match(data.markdown ?? '', /^# Harbour\n\nThe harbour was quiet/)],
  ['summary', (data) => assert.ok((data.summary ?? '').length > 0)],
  ['html', (data) => assert.match(data.html ?? '', /<h1>Harbour<\/h1>/)],
  ['rawHtml', (data) => assert.equal(data.rawHtml, PAGE.file)],
  ['links', (data) => assert.deepEqual(data.links, ['https://example.com/log'])],
  ['images', (data) => assert.deepEqual(data.images, ['https://example.com/map.png'])],
];

const served = ONE.flatMap(([format, check]): ContractCase[] => [
  {
    name: `\`{"type": "${format}"}\` fills only the field \`${format}\``,
    run: async (product) => {
      const data = await expectSuccess(product, { ...PAGE, options: { formats: [{ type: format }] } });
      assert.deepEqual(present(data), [format]);
      check(data);
    },
  },
  {
    name: `the string "${format}" fills only the field \`${format}\``,
    run: async (product) => {
      const data = await expectSuccess(product, { ...PAGE, options: { formats: [format] } });
      assert.deepEqual(present(data), [format]);
      check(data);
    },
  },
  {
    name: `returns 400 for an extra field in the \`${format}\` format`,
    run: async (product) => {
      const body = await expectError(
        product,
        { ...PAGE, options: { formats: [{ type: format, prompt: 'x' }] } },
        400,
        'BAD_REQUEST',
      );
      expectFieldInDetails(body, 'formats[0].prompt');
    },
  },
]);

const BROWSER = [
  'screenshot',
  'screenshot@fullPage',
  'changeTracking',
  'branding',
  'audio',
  'video',
  'rawBase64',
  'highlights',
  'question',
  'menu',
  'product',
  'attributes',
];

const others: ContractCase[] = [
  {
    name: 'returns Markdown when `formats` is absent',
    run: async (product) => assert.deepEqual(present(await expectSuccess(product, PAGE)), ['markdown']),
  },
  {
    name: 'returns Markdown for `formats: []`',
    run: async (product) =>
      assert.deepEqual(present(await expectSuccess(product, { ...PAGE, options: { formats: [] } })), ['markdown']),
  },
  {
    name: 'ignores duplicate formats',
    run: async (product) => {
      const data = await expectSuccess(product, {
        ...PAGE,
        options: { formats: ['markdown', { type: 'markdown' }, 'links', 'links'] },
      });
      assert.deepEqual(present(data), ['links', 'markdown']);
    },
  },
  {
    name: 'several formats fill exactly their fields',
    run: async (product) => {
      const formats = ['markdown', 'html', 'rawHtml', 'links', 'images', 'summary'];
      assert.deepEqual(present(await expectSuccess(product, { ...PAGE, options: { formats } })), [...formats].sort());
    },
  },
  {
    name: 'returns 400 for a format without `type`',
    run: async (product) =>
      expectFieldInDetails(
        await expectError(product, { ...PAGE, options: { formats: [{ prompt: 'x' }] } }, 400, 'BAD_REQUEST'),
        'formats[0]',
      ),
  },
  {
    name: 'returns 400 for the string "json", because `json` must be an object',
    run: async (product) =>
      expectFieldInDetails(
        await expectError(product, { ...PAGE, options: { formats: ['json'] } }, 400, 'BAD_REQUEST'),
        'formats[0]',
      ),
  },
  {
    name: 'returns 400 for `json` without a prompt and without a schema',
    run: async (product) => {
      const body = await expectError(
        product,
        { ...PAGE, options: { formats: [{ type: 'json' }] } },
        400,
        'BAD_REQUEST',
      );
      assert.match(body.error, /prompt|schema/);
    },
  },
  ...[{ prompt: 7 }, { prompt: [] }, { schema: 'object' }, { schema: [] }, { schema: 7 }].map(
    (fields): ContractCase => ({
      name: `returns 400 for \`json\` with a field of the wrong type (${JSON.stringify(fields)})`,
      run: async (product) =>
        expectFieldInDetails(
          await expectError(
            product,
            { ...PAGE, options: { formats: [{ type: 'json', ...fields }] } },
            400,
            'BAD_REQUEST',
          ),
          'formats[0]',
        ),
    }),
  ),
  {
    name: 'returns 400 MODEL_NOT_CONFIGURED for `json` when no model is configured',
    run: async (product) => {
      const body = await expectError(
        product,
        { ...PAGE, options: { formats: [{ type: 'json', prompt: 'List the boats' }] } },
        400,
        'MODEL_NOT_CONFIGURED',
      );
      assert.match(body.error, /LLM_BASE_URL|model/i);
    },
  },
  {
    name: '`summary` is extractive and has a warning when no model is configured',
    run: async (product) => {
      const data = await expectSuccess(product, { ...PAGE, options: { formats: ['summary'] } });
      assert.match(data.warning ?? '', /extract|model/i);
      const words = (data.summary ?? '').match(/[A-Za-z]+/g) ?? [];
      assert.ok(
        words.length > 3 && words.every((word) => PAGE.file.includes(word)),
        'an extractive summary uses only words of the text',
      );
    },
  },
  ...BROWSER.flatMap((format): ContractCase[] => [
    {
      name: `returns 400 PARSE_UNSUPPORTED_OPTIONS with the name of the unsupported format \`${format}\``,
      run: async (product) => {
        for (const item of [format, { type: format }]) {
          const body = await expectError(
            product,
            { ...SMALL_CSV, options: { formats: ['markdown', item] } },
            400,
            'PARSE_UNSUPPORTED_OPTIONS',
          );
          assert.ok(body.error.includes(format), body.error);
        }
      },
    },
  ]),
  {
    name: 'returns `html`, `rawHtml`, `links` and `images` for a PDF',
    run: async (product) => {
      const file = await pdf([{ title: 'Chart room', lines: ['The lamp is lit at dusk.'] }]);
      const data = await expectSuccess(product, {
        file,
        fileName: 'chart.pdf',
        options: { formats: ['markdown', 'html', 'rawHtml', 'links', 'images'] },
      });
      assert.match(data.html ?? '', /The lamp is lit at dusk\./);
      assert.match(data.rawHtml ?? '', /The lamp is lit at dusk\./);
      assert.deepEqual([data.links, data.images], [[], []]);
    },
  },
];

export const cases: ContractCase[] = [...served, ...others];
