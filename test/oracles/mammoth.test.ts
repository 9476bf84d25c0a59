// Holds our reading of Word files to mammoth's: nothing that it reads may be missing here, and headings, lists and tables must be the same.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import mammoth from 'mammoth';
import { CONTENT, docx, reviewedDocx } from '#test/harness/documents.ts';
import { htmlOf, outlineOf, wordsOf } from './meaning.ts';
import { officeMarkdown } from './our-way.ts';
import { variedDocx } from './varied-docx.ts';

/** What mammoth leaves to its caller: which styles are titles, quotes and code. */
const STYLES = [
  "p[style-name='Title'] => h1:fresh",
  "p[style-name='Quote'] => blockquote > p:fresh",
  "p[style-name='Source Code'] => pre:separator('\n')",
];

/** mammoth's HTML without its marks for notes and the way back from them. */
async function mammothHtml(bytes: Buffer): Promise<string> {
  const { value } = await mammoth.convertToHtml({ buffer: bytes }, { styleMap: STYLES });
  return value
    .replace(/<sup><a href="#(?:foot|end)note-\d+" id="[^"]*">\[\d+\]<\/a><\/sup>/g, '')
    .replace(/ ?<a href="#(?:foot|end)note-ref-\d+">↑<\/a>/g, '')
    .replace(/<ol>(<li id="(?:foot|end)note-.*)<\/ol>/s, (_, notes: string) => notes.replace(/<\/?li[^>]*>/g, ''));
}

/** The first word that does not follow in order, with what came before it; undefined where all do. */
function firstMissing(words: readonly string[], within: readonly string[]): string | undefined {
  let at = 0;
  for (const [index, word] of words.entries()) {
    const found = within.indexOf(word, at);
    if (found === -1) return `"${word}" after "${words.slice(Math.max(0, index - 4), index).join(' ')}"`;
    at = found + 1;
  }
  return undefined;
}

const fixture = (name: string) => readFile(new URL(`../../fixtures/docx/${name}`, import.meta.url));

interface Row {
  name: string;
  bytes: () => Buffer | Promise<Buffer>;
  /** What mammoth reads and we do not, with the reason. */
  leftOut?: readonly (readonly [word: string, reason: string])[];
}

const ROWS: readonly Row[] = [
  {
    name: 'report.docx',
    bytes: () => fixture('report.docx'),
    leftOut: [['text.hidden', 'hidden text is no text of the document']],
  },
  {
    name: 'report.docm',
    bytes: () => fixture('report.docm'),
    leftOut: [['text.hidden', 'hidden text is no text of the document']],
  },
  { name: 'a document made in code', bytes: () => docx(CONTENT) },
  { name: 'the same with macros', bytes: () => docx(CONTENT, { macros: true }) },
  { name: 'a reviewed document', bytes: reviewedDocx },
  ...Array.from({ length: 40 }, (_, seed) => ({ name: `varied document ${seed}`, bytes: () => variedDocx(seed) })),
];

for (const { name, bytes, leftOut = [] } of ROWS)
  test(`mammoth and we agree on ${name}`, async () => {
    const file = await bytes();
    const theirs = await mammothHtml(file);
    const ours = htmlOf(await officeMarkdown(file, 'a.docx'));
    const words = wordsOf(theirs);
    assert.ok(words.length >= 9, 'mammoth read the document');
    for (const [word, reason] of leftOut)
      assert.ok(words.includes(word), `mammoth no longer reads "${word}": drop the row (${reason})`);
    const shared = words.map((word) => (leftOut.some(([left]) => left === word) ? word.replace('hidden', '') : word));
    assert.equal(firstMissing(shared, wordsOf(ours)), undefined);
    assert.deepEqual(outlineOf(ours), outlineOf(theirs));
  });

test('a word lost, moved or doubled is noticed', () => {
  const ours = ['one', 'two', 'three'];
  assert.equal(firstMissing(['one', 'three'], ours), undefined);
  assert.equal(firstMissing(['three', 'one'], ours), '"one" after "three"');
  assert.equal(firstMissing(['one', 'one'], ours), '"one" after "one"');
  assert.equal(firstMissing(['four'], ours), '"four" after ""');
});
