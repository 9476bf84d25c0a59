// SPEC 2.3: the seven formats parse serves, the ones it refuses, and how a list of them is read.
import assert from 'node:assert/strict';
import { pdf } from '../harness/documents.ts';
import { type Data, namesField, page, parsed, type Row, refused, SMALL_CSV } from './row.ts';

const PAGE = page(
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

const served = ONE.flatMap(([format, check]): Row[] => [
  {
    name: `2.3 \`{"type": "${format}"}\`: fills its field and no other`,
    run: async (product) => {
      const data = await parsed(product, { ...PAGE, options: { formats: [{ type: format }] } });
      assert.deepEqual(present(data), [format]);
      check(data);
    },
  },
  {
    name: `DECISIONS "${format}" as shorthand means the same`,
    run: async (product) => {
      const data = await parsed(product, { ...PAGE, options: { formats: [format] } });
      assert.deepEqual(present(data), [format]);
      check(data);
    },
  },
  {
    name: `2.3 \`${format}\`: no extra fields`,
    run: async (product) => {
      const body = await refused(
        product,
        { ...PAGE, options: { formats: [{ type: format, prompt: 'x' }] } },
        400,
        'BAD_REQUEST',
      );
      namesField(body, 'formats[0].prompt');
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

const others: Row[] = [
  {
    name: '2.2 `formats`: absent means markdown',
    run: async (product) => assert.deepEqual(present(await parsed(product, PAGE)), ['markdown']),
  },
  {
    name: 'DECISIONS `formats: []` means markdown',
    run: async (product) =>
      assert.deepEqual(present(await parsed(product, { ...PAGE, options: { formats: [] } })), ['markdown']),
  },
  {
    name: 'DECISIONS duplicates count once',
    run: async (product) => {
      const data = await parsed(product, {
        ...PAGE,
        options: { formats: ['markdown', { type: 'markdown' }, 'links', 'links'] },
      });
      assert.deepEqual(present(data), ['links', 'markdown']);
    },
  },
  {
    name: '2.3 several formats at once fill exactly their fields',
    run: async (product) => {
      const formats = ['markdown', 'html', 'rawHtml', 'links', 'images', 'summary'];
      assert.deepEqual(present(await parsed(product, { ...PAGE, options: { formats } })), [...formats].sort());
    },
  },
  {
    name: '2.3 `type` is required in each item',
    run: async (product) =>
      namesField(
        await refused(product, { ...PAGE, options: { formats: [{ prompt: 'x' }] } }, 400, 'BAD_REQUEST'),
        'formats[0]',
      ),
  },
  {
    name: '2.3 `json`: "json" as a string is refused, it needs its object',
    run: async (product) =>
      namesField(await refused(product, { ...PAGE, options: { formats: ['json'] } }, 400, 'BAD_REQUEST'), 'formats[0]'),
  },
  {
    name: '2.3 `json`: needs a prompt or a schema',
    run: async (product) => {
      const body = await refused(product, { ...PAGE, options: { formats: [{ type: 'json' }] } }, 400, 'BAD_REQUEST');
      assert.match(body.error, /prompt|schema/);
    },
  },
  ...[{ prompt: 7 }, { prompt: [] }, { schema: 'object' }, { schema: [] }, { schema: 7 }].map(
    (fields): Row => ({
      name: `2.3 \`json\`: prompt is a string and schema an object (${JSON.stringify(fields)})`,
      run: async (product) =>
        namesField(
          await refused(product, { ...PAGE, options: { formats: [{ type: 'json', ...fields }] } }, 400, 'BAD_REQUEST'),
          'formats[0]',
        ),
    }),
  ),
  {
    name: 'DECISIONS `json` without a model: 400 MODEL_NOT_CONFIGURED, not retryable',
    run: async (product) => {
      const body = await refused(
        product,
        { ...PAGE, options: { formats: [{ type: 'json', prompt: 'List the boats' }] } },
        400,
        'MODEL_NOT_CONFIGURED',
      );
      assert.match(body.error, /LLM_BASE_URL|model/i);
    },
  },
  {
    name: 'DECISIONS `summary` without a model: extractive, with a warning that says so',
    run: async (product) => {
      const data = await parsed(product, { ...PAGE, options: { formats: ['summary'] } });
      assert.match(data.warning ?? '', /extract|model/i);
      const words = (data.summary ?? '').match(/[A-Za-z]+/g) ?? [];
      assert.ok(
        words.length > 3 && words.every((word) => PAGE.file.includes(word)),
        "an extract holds the text's own words",
      );
    },
  },
  ...BROWSER.flatMap((format): Row[] => [
    {
      name: `2.3 and DECISIONS format \`${format}\`: 400 PARSE_UNSUPPORTED_OPTIONS, naming it`,
      run: async (product) => {
        for (const item of [format, { type: format }]) {
          const body = await refused(
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
    name: 'DECISIONS `html`, `links` and the rest work for a PDF as for a page',
    run: async (product) => {
      const file = await pdf([{ title: 'Chart room', lines: ['The lamp is lit at dusk.'] }]);
      const data = await parsed(product, {
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

export const rows: Row[] = [...served, ...others];
