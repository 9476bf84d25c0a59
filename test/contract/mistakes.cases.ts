// Checks that common mistakes in a request get an error that names the right form (docs/api.md, "Parts" and docs/api.md, "Options").
import assert from 'node:assert/strict';
import { errorBody, type Part, send, sendParts } from '../harness/client.ts';
import { type ContractCase, expectError, SMALL_CSV } from './contract-case.ts';

/** Options with one mistake, and words of the error that they get. */
const OPTIONS: readonly (readonly [options: Record<string, unknown>, ...words: string[]])[] = [
  [{ formats: ['md'] }, '`formats[0]`', '`markdown`, `summary`, `html`', '"md"', 'Did you mean `markdown`?'],
  [{ formats: ['json'] }, '`formats[0]`', 'Write `json` as an object, for example `{"type":"json","prompt":'],
  [{ formats: 'markdown' }, '`formats`', 'Did you mean `["markdown"]`?'],
  [{ formats: [{ type: 'Markdown' }] }, '`formats[0].type`', 'Did you mean `markdown`?'],
  [{ redactPII: 'yes' }, '`redactPII`', '`true`, `false` or an object with the fields `entities`', '"yes"'],
  [{ redactPII: { entities: [] } }, '`redactPII.entities`', '`PERSON`, `EMAIL`'],
  [{ parsers: ['PDF'] }, '`parsers[0]`', 'Did you mean `pdf`?'],
  [{ parsers: [{ type: 'pdf', mode: 'OCR' }] }, '`parsers[0].mode`', '`fast`, `auto` or `ocr`', 'Did you mean `ocr`?'],
  [{ timeout: '30s' }, '`timeout`', 'an integer from 1 to 300000 (milliseconds)', '"30s"'],
  [{ onlyMainContent: 'true' }, '`onlyMainContent`', 'Did you mean `true`?'],
  [{ only_main_content: true }, '`only_main_content`', 'Did you mean `onlyMainContent`?'],
  [{ format: ['html'] }, '`format`', 'Did you mean `formats`?'],
  [{ maxPages: 5 }, '`maxPages`', '`{"parsers":[{"type":"pdf","maxPages":5}]}`'],
];

/** Texts of the part `options` that are not JSON, and words of the error that they get. */
const TEXTS: readonly (readonly [text: string, ...words: string[]])[] = [
  ["{'formats':['markdown']}", 'line 1, column 2', 'double quotes'],
  ['{"formats":["markdown",]}', 'line 1, column 24', 'remove the comma'],
  ['{"blockAds": True}', 'line 1, column 14', 'json.dumps(options)'],
  ['[object Object]', 'JSON.stringify(options)'],
  ['@options.json', "-F 'options=<options.json'"],
  ['["markdown"]', 'must be a JSON object', 'an array of 1 item'],
];

const FILE: Part = { name: 'file', body: SMALL_CSV.file, fileName: SMALL_CSV.fileName };

/** Parts with one mistake, and words of the error that they get. */
const PARTS: readonly (readonly [mistake: string, parts: readonly Part[], ...words: string[]])[] = [
  ['-F formats=markdown', [{ name: 'formats', body: 'markdown' }, FILE], `-F 'options={"formats":["markdown"]}'`],
  ['-F timeout=5000 after the file', [FILE, { name: 'timeout', body: '5000' }], `-F 'options={"timeout":5000}'`],
  ['-F url=...', [{ name: 'url', body: 'https://example.org/a.pdf' }, FILE], 'no part `url`', '-F file=@document.pdf'],
  ['-F upload=@boats.csv', [{ ...FILE, name: 'upload' }], 'Missing file upload', '`upload`', 'Name the part `file`'],
];

const partCases = PARTS.map(
  ([mistake, parts, ...words]): ContractCase => ({
    name: `explains the mistake in the parts ${mistake}`,
    run: async (product) => {
      const { error } = errorBody(await sendParts(product, [...parts]), 400, 'BAD_REQUEST');
      for (const word of words) assert.ok(error.includes(word), `${error} must contain ${word}`);
    },
  }),
);

const textCases = TEXTS.map(
  ([text, ...words]): ContractCase => ({
    name: `explains the mistake in the options text ${text}`,
    run: async (product) => {
      const { error } = await expectError(product, { ...SMALL_CSV, options: text }, 400, 'BAD_REQUEST');
      for (const word of words) assert.ok(error.includes(word), `${error} must contain ${word}`);
    },
  }),
);

const jsonBody: ContractCase = {
  name: 'answers a JSON body with a curl command of the multipart form',
  run: async (product) => {
    const headers = { 'content-type': 'application/json' };
    const { error } = errorBody(await send(product, { body: '{"formats":["markdown"]}', headers }), 400, 'BAD_REQUEST');
    for (const word of ['multipart/form-data', '`file`', '`options`', 'curl', '-F file=@document.pdf'])
      assert.ok(error.includes(word), `${error} must contain ${word}`);
  },
};

const optionCases: ContractCase[] = OPTIONS.map(([options, ...words]) => ({
  name: `explains the mistake in the options ${JSON.stringify(options)}`,
  run: async (product) => {
    const { error, details } = await expectError(product, { ...SMALL_CSV, options }, 400, 'BAD_REQUEST');
    for (const word of words) assert.ok(error.includes(word), `${error} must contain ${word}`);
    assert.equal(details?.length, 1);
  },
}));

export const cases: ContractCase[] = [...optionCases, ...textCases, ...partCases, jsonBody];
