// Tests that redaction fails closed: a field without a redactor does not compile, and an unknown field or value is never returned without redaction.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { DocumentMetadata, RecordReport } from '#shared/contract/jobs.ts';
import type { RecordFields } from '#shared/contract/response.ts';
import { detectorFor } from './detect.ts';
import { RecordRedaction } from './record.ts';
import { Redactor } from './redactor.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
const MAIL = 'jane@example.org';

async function redact(
  fields: object,
  metadata: object = {},
): Promise<{ fields: RecordFields; metadata: DocumentMetadata }> {
  const detector = detectorFor({ mode: 'fast' }, undefined, new AbortController().signal);
  const report = { metadata, warnings: [] } as unknown as RecordReport;
  const redacted = await new RecordRedaction(new Redactor(detector, 'tag')).run(fields as RecordFields, report);
  return { fields: redacted.fields, metadata: redacted.report.metadata };
}

const RECORD = 'services/pii/record.ts';
const METADATA = 'services/pii/metadata.ts';
const RENDER = 'shared/document/render.ts';
const STREAMED = 'shared/document/streamed-record.ts';

/** Fields to add to the contract: the file, the position, the field, and the files that must then fail to compile. */
const ADDITIONS = [
  [
    'response.ts',
    /recordFieldsSchema = z\s*\.object\(\{/,
    'ofRecord: z.string().optional(),',
    [RECORD, RENDER, STREAMED],
  ],
  ['response.ts', /pageSchema = z\s*\.object\(\{/, 'ofPage: z.string().optional(),', [RECORD]],
  ['response.ts', /pageBlocksSchema = z\s*\.object\(\{/, 'ofPageBlocks: z.string().optional(),', [RECORD]],
  ['response.ts', /blockSchema = z\s*\.object\(\{/, 'ofBlock: z.string().optional(),', [RECORD]],
  ['response.ts', /confidence: z\s*\.object\(\{/, 'ofConfidence: z.string().optional(),', [RECORD]],
  ['response.ts', /metadataSchema = z\s*\.object\(\{/, 'ofMetadata: z.string().optional(),', [METADATA]],
  ['jobs.ts', /interface RecordReport \{/, 'ofHead?: string;', [RECORD]],
] as const;

/** Compiles a copy of the redaction and its contract with all the fields added. @returns the compiler's errors */
async function compileWithAdditions(folder: string): Promise<string[]> {
  for (const part of ['package.json', 'shared', 'services/pii'])
    await cp(join(ROOT, part), join(folder, part), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const config = JSON.parse(await readFile(join(ROOT, 'tsconfig.json'), 'utf8'));
  const files = [RECORD, RENDER];
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ ...config, include: undefined, files }));
  for (const [file, start, field] of ADDITIONS) {
    const path = join(folder, 'shared/contract', file);
    const source = await readFile(path, 'utf8');
    const added = source.replace(start, (opening) => `${opening} ${field}`);
    assert.notEqual(added, source, `${file} has no ${start}`);
    await writeFile(path, added);
  }
  const compiled = run(join(ROOT, 'node_modules/.bin/tsc'), ['--noEmit', '--pretty', 'false'], { cwd: folder });
  const output = await compiled.then(
    () => '',
    (failure: { stdout: string }) => failure.stdout,
  );
  return output.split('\n').filter((line) => line.includes('error TS'));
}

describe('a field that is added to the contract', () => {
  it('does not compile until it is redacted and rendered', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'parsemesh-redactors-'));
    try {
      const errors = await compileWithAdditions(folder);
      const named = errors.map((line) => {
        const [, file, field] = /^([^(]+)\(.*['"](of[A-Z]\w+)['"]/.exec(line) ?? [];
        return `${file}: ${field}`;
      });
      const expected = ADDITIONS.flatMap(([, , field, files]) =>
        files.map((file) => `${file}: ${/^\w+/.exec(field)?.[0]}`),
      );
      assert.deepEqual([...new Set(named)].sort(), expected.sort(), errors.join('\n'));
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('an unknown field at run time', () => {
  const block = {
    id: 'p1.b0',
    type: 'text',
    label: null,
    content: 'a',
    bbox: null,
    readingOrder: 0,
    markdownSpan: null,
    source: 'native_text',
    confidence: { layout: null, ocr: null, note: MAIL },
    note: MAIL,
  };

  it('is dropped from the record, its pages, its blocks and its report', async () => {
    const { fields, metadata } = await redact({
      markdown: 'a',
      text: MAIL,
      pages: [{ pageNumber: 1, markdown: 'a', note: MAIL }],
      blocks: [{ pageNumber: 1, width: 1, height: 1, status: 'ok', items: [block], note: MAIL }],
    });
    assert.deepEqual(metadata, { piiRedactions: {} });
    assert.deepEqual(fields, {
      markdown: 'a',
      pages: [{ pageNumber: 1, markdown: 'a' }],
      blocks: [
        {
          pageNumber: 1,
          width: 1,
          height: 1,
          status: 'ok',
          items: [
            {
              id: 'p1.b0',
              type: 'text',
              label: null,
              content: 'a',
              bbox: null,
              readingOrder: 0,
              markdownSpan: null,
              source: 'native_text',
              confidence: { layout: null, ocr: null },
            },
          ],
        },
      ],
    });
  });

  it('redacts the label and the source of a block if they are not names of the product', async () => {
    const items = [{ ...block, label: `label ${MAIL}`, source: MAIL }];
    const { fields } = await redact({ blocks: [{ pageNumber: 1, width: 1, height: 1, status: 'ok', items }] });
    const [redacted] = fields.blocks?.[0]?.items ?? [];
    assert.equal(redacted?.label, 'label <EMAIL>');
    assert.equal(redacted?.source, '<EMAIL>');
  });
});

describe('json', () => {
  it('redacts strings, keys and long numbers at any depth, and copies the rest', async () => {
    const { fields } = await redact({
      json: {
        [MAIL]: 1,
        total: 42.5,
        paid: true,
        note: null,
        card: 4111111111111111,
        rows: [[{ mail: MAIL }], 'plain', { link: 'https://x.example/?u=jane%40example.org' }],
      },
    });
    assert.deepEqual(fields.json, {
      '<EMAIL>': 1,
      total: 42.5,
      paid: true,
      note: null,
      card: '<FINANCIAL>',
      rows: [[{ mail: '<EMAIL>' }], 'plain', { link: 'https://x.example/?u=%3CEMAIL%3E' }],
    });
  });

  it('replaces values that are nested deeper than the bound by null', async () => {
    let json: unknown = MAIL;
    for (let depth = 0; depth < 1_000; depth += 1) json = [json];
    assert.doesNotMatch(JSON.stringify(await redact({ json })), /jane/);
  });

  it('copies null', async () => assert.equal((await redact({ json: null })).fields.json, null));
});

describe('metadata', () => {
  it('redacts strings, keys and long numbers in values of any type', async () => {
    const { metadata } = await redact(
      {},
      {
        [`mail of ${MAIL}`]: 'x',
        author: [{ name: 'x', mail: MAIL }],
        custom: { a: [MAIL, 7], [MAIL]: true },
        account: 4111111111111111,
        wordCount: 1200,
        draft: false,
        subject: null,
      },
    );
    assert.deepEqual(metadata, {
      'mail of <EMAIL>': 'x',
      author: [{ name: 'x', mail: '<EMAIL>' }],
      custom: { a: ['<EMAIL>', 7], '<EMAIL>': true },
      account: '<FINANCIAL>',
      wordCount: 1200,
      draft: false,
      subject: null,
      piiRedactions: {},
    });
  });

  it('copies the values that the product writes itself', async () => {
    const own = {
      contentType: 'application/vnd.oasis.opendocument.text',
      language: ['en-US', 'sr_Latn'],
      numPages: 4_111_111,
      totalPages: 3,
      statusCode: 200,
      concurrencyLimited: true,
      creditsUsed: 2,
    };
    assert.deepEqual((await redact({}, own)).metadata, { ...own, piiRedactions: {} });
  });

  it('redacts a text in a field whose value the product writes, such as contentType', async () => {
    const keys = [
      'contentType',
      'language',
      'numPages',
      'statusCode',
      'concurrencyLimited',
      'creditsUsed',
      'requestId',
    ];
    const { metadata } = await redact({}, Object.fromEntries(keys.map((key) => [key, `of ${MAIL}`])));
    assert.deepEqual(metadata, { ...Object.fromEntries(keys.map((key) => [key, 'of <EMAIL>'])), piiRedactions: {} });
  });

  it('does not copy the piiRedactions of a document', async () =>
    assert.deepEqual((await redact({}, { piiRedactions: { [MAIL]: 1 } })).metadata, { piiRedactions: {} }));
});
