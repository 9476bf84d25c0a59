// Tests the options of a request: defaults, shorthands, and the error for each invalid field.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ParseError } from './errors.ts';
import { readParseOptions } from './options.ts';
import { UNSUPPORTED_FORMATS } from './options-schema.ts';

function rejection(raw: unknown): ParseError {
  try {
    readParseOptions(raw);
  } catch (error) {
    assert.ok(error instanceof ParseError);
    return error;
  }
  return assert.fail(`accepted ${JSON.stringify(raw)}`);
}

describe('readParseOptions accepts', () => {
  test('an empty object and returns the defaults', () => {
    const options = readParseOptions({});
    assert.deepEqual([...options.formats], ['markdown']);
    assert.deepEqual(options.pdf, { mode: 'auto', pages: false, blocks: false, pageMarkers: false });
    assert.equal(options.timeoutMs, 30_000);
    assert.equal(options.onlyMainContent, true);
    assert.equal(options.blockAds, true);
    assert.equal(options.removeBase64Images, true);
    assert.equal(options.redact, undefined);
    assert.equal(options.origin, 'api');
  });

  const formats: readonly [string, unknown, string[]][] = [
    ['an empty array of formats as Markdown', [], ['markdown']],
    [
      'a shorthand and the same format as an object once',
      ['markdown', { type: 'markdown' }, 'links'],
      ['markdown', 'links'],
    ],
    ['a json format with a prompt', [{ type: 'json', prompt: 'p' }], ['json']],
    ['a json format with a schema', [{ type: 'json', schema: { type: 'object' } }], ['json']],
  ];
  for (const [name, given, expected] of formats)
    test(name, () => assert.deepEqual([...readParseOptions({ formats: given }).formats], expected));

  for (const parsers of [[], ['pdf'], [{ type: 'pdf' }], ['pdf', 'image'], [{ type: 'image' }, { type: 'pdf' }]])
    test(`parsers ${JSON.stringify(parsers)} as the defaults`, () =>
      assert.equal(readParseOptions({ parsers }).pdf.mode, 'auto'));

  test('`pageMarkdown`, the earlier name of `pages`', () => {
    const pdfOf = (pdf: object) => readParseOptions({ parsers: [{ type: 'pdf', ...pdf }] }).pdf;
    assert.equal(pdfOf({ pageMarkdown: true }).pages, true);
    assert.equal(pdfOf({ pageMarkdown: false, pages: true }).pages, true);
    assert.equal(pdfOf({ pageMarkdown: false }).pages, false);
  });

  test('scrape options of the public SDKs that request nothing', () => {
    const withoutEffect = {
      mobile: false,
      fastMode: false,
      waitFor: 0,
      maxAge: 0,
      storeInCache: false,
      location: null,
      actions: [],
      useMock: '',
    };
    assert.ok(
      readParseOptions({
        ...withoutEffect,
        origin: 'js-sdk@4',
        integration: null,
        proxy: 'auto',
        skipTlsVerification: true,
      }),
    );
  });

  test('redactPII: true as the default settings', () =>
    assert.deepEqual(readParseOptions({ redactPII: true }).redact, { mode: 'accurate', replaceStyle: 'tag' }));
});

describe('readParseOptions rejects', () => {
  const rows: readonly [unknown, string][] = [
    [{ formats: 'markdown' }, 'formats'],
    [{ formats: ['pdf'] }, 'formats[0]'],
    [{ formats: ['json'] }, 'formats[0]'],
    [{ formats: [{ type: 'json' }] }, 'formats[0]'],
    [{ formats: [{ type: 'markdown', extra: 1 }] }, 'formats[0].extra'],
    [{ formats: [{}] }, 'formats[0].type'],
    [{ timeout: 0 }, 'timeout'],
    [{ timeout: 300_001 }, 'timeout'],
    [{ timeout: 1.5 }, 'timeout'],
    [{ timeout: '5' }, 'timeout'],
    [{ onlyMainContent: 'yes' }, 'onlyMainContent'],
    [{ includeTags: 'p' }, 'includeTags'],
    [{ parsers: [{ type: 'pdf', maxPages: 0 }] }, 'parsers[0].maxPages'],
    [{ parsers: [{ type: 'pdf', mode: 'slow' }] }, 'parsers[0].mode'],
    [{ parsers: [{ type: 'pdf', wat: 1 }] }, 'parsers[0].wat'],
    [{ parsers: [{ mode: 'fast' }] }, 'parsers[0].type'],
    [{ parsers: ['docx'] }, 'parsers[0]'],
    [{ parsers: [{ type: 'image', pages: true }] }, 'parsers[0].pages'],
    [{ redactPII: 'yes' }, 'redactPII'],
    [{ redactPII: { entities: ['DOG'] } }, 'redactPII.entities[0]'],
    [{ redactPII: { extra: true } }, 'redactPII.extra'],
    [{ auditMetadata: {} }, 'auditMetadata.username'],
    [{ auditMetadata: { username: 'x', role: 'y' } }, 'auditMetadata.role'],
    [{ auditMetadata: { username: 'x'.repeat(1025) } }, 'auditMetadata.username'],
    [{ proxy: 'stealth' }, 'proxy'],
    [{ nonsense: 1 }, 'nonsense'],
    [{ headers: { a: 1 } }, 'headers.a'],
  ];
  for (const [raw, path] of rows)
    test(`${JSON.stringify(raw).slice(0, 80)} with an error that names ${path}`, () => {
      const error = rejection(raw);
      assert.equal(error.code, 'BAD_REQUEST');
      assert.deepEqual(
        error.details?.map((detail) => detail.path),
        [path],
      );
      assert.ok(error.message.includes(path));
    });

  test('several invalid fields in one error', () =>
    assert.deepEqual(
      rejection({ timeout: -1, blockAds: 3, wat: 1 })
        .details?.map((detail) => detail.path)
        .sort(),
      ['blockAds', 'timeout', 'wat'],
    ));

  for (const raw of [null, 1, 'x', [], true])
    test(`${JSON.stringify(raw)}, which is not an object`, () => assert.equal(rejection(raw).code, 'BAD_REQUEST'));

  for (const raw of [
    { mobile: true },
    { waitFor: 100 },
    { actions: [{ type: 'wait' }] },
    { location: { country: 'US' } },
    { storeInCache: true },
  ])
    test(`${JSON.stringify(raw)} as an unsupported option`, () => {
      const error = rejection(raw);
      assert.equal(error.code, 'PARSE_UNSUPPORTED_OPTIONS');
      assert.ok(error.message.includes(Object.keys(raw)[0] ?? '?'));
    });

  for (const type of UNSUPPORTED_FORMATS)
    test(`the unsupported format ${type}`, () => {
      assert.equal(rejection({ formats: [type] }).code, 'PARSE_UNSUPPORTED_OPTIONS');
      assert.ok(rejection({ formats: [{ type }] }).message.includes(type));
    });

  test('rawHtml together with redactPII', () =>
    assert.equal(rejection({ formats: ['rawHtml'], redactPII: true }).code, 'BAD_REQUEST'));
});
