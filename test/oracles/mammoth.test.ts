// Tests that our Markdown of Word files has all words that mammoth reads, and the same headings, lists and tables.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import mammoth from 'mammoth';
import { CONTENT, docx, reviewedDocx } from '#test/harness/documents.ts';
import { markdownToHtml, outlineOf, wordsOf } from './html-comparison.ts';
import { officeMarkdown } from './office-markdown.ts';
import { randomDocx } from './random-docx.ts';

/** Mammoth's style map: the styles of titles, quotes and code. */
const STYLES = [
  "p[style-name='Title'] => h1:fresh",
  "p[style-name='Quote'] => blockquote > p:fresh",
  "p[style-name='Source Code'] => pre:separator('\n')",
];

/** Mammoth's HTML without the references to footnotes and the links back. */
async function mammothHtml(bytes: Buffer): Promise<string> {
  const { value } = await mammoth.convertToHtml({ buffer: bytes }, { styleMap: STYLES });
  return value
    .replace(/<sup><a href="#(?:foot|end)note-\d+" id="[^"]*">\[\d+\]<\/a><\/sup>/g, '')
    .replace(/ ?<a href="#(?:foot|end)note-ref-\d+">↑<\/a>/g, '')
    .replace(/<ol>(<li id="(?:foot|end)note-.*)<\/ol>/s, (_, notes: string) => notes.replace(/<\/?li[^>]*>/g, ''));
}

/** Finds the first of `words` that does not follow in order in `text`. @returns it with the words before it, or undefined */
function findMissingWord(words: readonly string[], text: readonly string[]): string | undefined {
  let at = 0;
  for (const [index, word] of words.entries()) {
    const found = text.indexOf(word, at);
    if (found === -1) return `"${word}" after "${words.slice(Math.max(0, index - 4), index).join(' ')}"`;
    at = found + 1;
  }
  return undefined;
}

const fixture = (name: string) => readFile(new URL(`../../fixtures/docx/${name}`, import.meta.url));

interface DocumentCase {
  name: string;
  bytes: () => Buffer | Promise<Buffer>;
  /** Words that mammoth reads and we do not, with the reason. */
  omitted?: readonly (readonly [word: string, reason: string])[];
}

const DOCUMENTS: readonly DocumentCase[] = [
  {
    name: 'report.docx',
    bytes: () => fixture('report.docx'),
    omitted: [['text.hidden', 'hidden text is not text of the document']],
  },
  {
    name: 'report.docm',
    bytes: () => fixture('report.docm'),
    omitted: [['text.hidden', 'hidden text is not text of the document']],
  },
  { name: 'a generated document', bytes: () => docx(CONTENT) },
  { name: 'a generated document with macros', bytes: () => docx(CONTENT, { format: 'docm' }) },
  { name: 'a document with tracked changes', bytes: reviewedDocx },
  ...Array.from({ length: 40 }, (_, seed) => ({ name: `random document ${seed}`, bytes: () => randomDocx(seed) })),
];

for (const { name, bytes, omitted = [] } of DOCUMENTS)
  test(`the Markdown of ${name} has the words and the outline that mammoth reads`, async () => {
    const file = await bytes();
    const theirs = await mammothHtml(file);
    const ours = markdownToHtml(await officeMarkdown(file, 'a.docx'));
    const words = wordsOf(theirs);
    assert.ok(words.length >= 9, 'mammoth must read the document');
    for (const [word, reason] of omitted)
      assert.ok(words.includes(word), `mammoth no longer reads "${word}": remove the entry (${reason})`);
    const shared = words.map((word) => (omitted.some(([one]) => one === word) ? word.replace('hidden', '') : word));
    assert.equal(findMissingWord(shared, wordsOf(ours)), undefined);
    assert.deepEqual(outlineOf(ours), outlineOf(theirs));
  });

test('the comparison finds a missing, a moved and a duplicate word', () => {
  const ours = ['one', 'two', 'three'];
  assert.equal(findMissingWord(['one', 'three'], ours), undefined);
  assert.equal(findMissingWord(['three', 'one'], ours), '"one" after "three"');
  assert.equal(findMissingWord(['one', 'one'], ours), '"one" after "one"');
  assert.equal(findMissingWord(['four'], ours), '"four" after ""');
});
