// Tests that single fields of a record are read and changed in its JSON, and that the others stay as they are.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecordText } from './record-text.ts';

const FIELDS = {
  markdown: 'a "quoted" \\ text\n\u0000 é日😀 ]}{[,: \\\\" end\\',
  html: '',
  links: ['https://a.example/"{', ']'],
  blocks: [{ pageNumber: 1, items: [{ content: '}],"x":{', markdownSpan: [0, 4] }] }],
  summary: null,
};
const read = (record: RecordText, changes: Parameters<RecordText['with']>[0]) =>
  JSON.parse(Buffer.concat([...record.with(changes)]).toString('utf8')) as unknown;

test('changes, adds and removes fields, and keeps the others', () => {
  const record = new RecordText(Buffer.from(JSON.stringify(FIELDS)));
  assert.deepEqual(read(record, {}), FIELDS);
  const { markdown: _, ...rest } = FIELDS;
  assert.deepEqual(read(record, { markdown: undefined, summary: 'new "text"', json: { a: [1] } }), {
    ...rest,
    summary: 'new "text"',
    json: { a: [1] },
  });
  assert.deepEqual(read(new RecordText(Buffer.from('{}')), {}), {});
  assert.deepEqual(read(new RecordText(Buffer.from('{}')), { summary: 's' }), { summary: 's' });
  assert.deepEqual(read(new RecordText(Buffer.from('{"summary":"s"}')), { summary: undefined }), {});
});

test('reads the start of a text and the length of all of it', () => {
  const record = new RecordText(Buffer.from(JSON.stringify(FIELDS)));
  const { length } = FIELDS.markdown;
  assert.deepEqual(record.start('markdown', 1_000), { text: FIELDS.markdown, length });
  assert.deepEqual(record.start('markdown', 5), { text: FIELDS.markdown.slice(0, 5), length });
  for (const name of ['html', 'summary', 'json', 'links'] as const)
    assert.deepEqual(record.start(name, 10), { text: '', length: 0 }, name);
});

for (const [what, unit] of [
  ['characters outside of ASCII', 'é日😀 '],
  ['escapes', '\n\u0001\\ "\t'],
  ['escaped surrogates', '\ud83d \ude00'],
  ['no space', '\\"é'],
] as const)
  test(`reads a text of megabytes with ${what}`, () => {
    const markdown = unit.repeat(400_000);
    const record = new RecordText(Buffer.from(JSON.stringify({ html: 'x', markdown })));
    const start = record.start('markdown', 1_000_001);
    assert.equal(start.length, markdown.length);
    assert.ok(start.text === markdown.slice(0, 1_000_001));
  });

for (const bad of ['', '{', '[]', '"a"', '{"a"}', '{"a":', '{"a":"b', '{"a":"b\\"}', '{"a":[1}'])
  test(`rejects ${JSON.stringify(bad)} with BAD_GATEWAY or reads nothing from it`, () => {
    assert.throws(() => {
      const record = new RecordText(Buffer.from(bad));
      JSON.parse(Buffer.concat([...record.with({})]).toString('utf8'));
    });
  });
