// Compares our reading of mail messages with Python's email package, which also writes the messages.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { convertMail } from '#services/html/mail/mail.ts';
import { renderRecord } from '#shared/document/render.ts';

const SCRIPT = fileURLToPath(new URL('./python-email.py', import.meta.url));
const MESSAGES = 150;
const SEED = 7;
const withoutPython = spawnSync('python3', ['--version']).status === 0 ? false : 'python3 is not installed';

interface Facts {
  raw: string;
  subject: string;
  from: [name: string, address: string][];
  to: [name: string, address: string][];
  /** Seconds since 1970. */
  date: number;
  text: string;
  attachments: [name: string, size: number][];
}

const OPTIONS = {
  fields: ['markdown' as const],
  includeTags: [],
  excludeTags: [],
  onlyMainContent: true,
  blockAds: true,
  removeBase64Images: true,
  pdf: { mode: 'auto' as const, pages: false, blocks: false, pageMarkers: false },
};
const squeeze = (text: string) => text.replace(/\s+/g, ' ').trim();
/** Python sometimes writes or reads one space too few or too many where it folds a header. */
const joined = (text: string) => text.replace(/\s+/g, '');
const people = (list: Facts['to']) => list.map(([name, address]) => (name === '' ? address : `${name} <${address}>`));

test(`reads ${MESSAGES} messages as Python does`, { skip: withoutPython }, () => {
  const lines = execFileSync('python3', [SCRIPT, String(MESSAGES), String(SEED)], {
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  });
  const all = lines.trim().split('\n');
  assert.equal(all.length, MESSAGES);
  for (const line of all) {
    const facts = JSON.parse(line) as Facts;
    const raw = Buffer.from(facts.raw, 'base64');
    const { fields, metadata } = renderRecord(
      convertMail({ bytes: raw, fileName: 'a.eml', extension: '.eml' }, OPTIONS),
      OPTIONS,
    );
    const shown = raw.toString('latin1').slice(0, 4_000);
    assert.equal(joined(String(metadata.title)), joined(facts.subject), shown);
    assert.deepEqual((metadata.from as string[]).map(joined), people(facts.from).map(joined), shown);
    assert.deepEqual((metadata.to as string[]).map(joined), people(facts.to).map(joined), shown);
    assert.equal(Date.parse(String(metadata.publishedTime)), facts.date * 1000, shown);
    const markdown = squeeze(fields.markdown ?? '');
    for (const paragraph of facts.text.trim().split('\n\n'))
      assert.ok(markdown.includes(squeeze(paragraph)), `${paragraph}\n${markdown}`);
    for (const [name, size] of facts.attachments)
      assert.ok(markdown.includes(`- ${squeeze(name)} (application/x-thing, ${size} bytes)`), `${name}\n${markdown}`);
  }
});
