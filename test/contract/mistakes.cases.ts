// Checks that common mistakes in a request get an error that names the right form (docs/api.md, "Options").
import assert from 'node:assert/strict';
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

export const cases: ContractCase[] = OPTIONS.map(([options, ...words]) => ({
  name: `explains the mistake in the options ${JSON.stringify(options)}`,
  run: async (product) => {
    const { error, details } = await expectError(product, { ...SMALL_CSV, options }, 400, 'BAD_REQUEST');
    for (const word of words) assert.ok(error.includes(word), `${error} must contain ${word}`);
    assert.equal(details?.length, 1);
  },
}));
