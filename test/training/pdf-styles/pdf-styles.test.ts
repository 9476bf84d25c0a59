// Tests that random documents can be repeated, that both writers show all of the truth, and that Chromium prints them.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { convert } from '#services/pdf/testing/pictures.ts';
import { browserSkipReason, startBrowser } from '#test/browser/browser-case.ts';
import { drawDocument } from './document.ts';
import { fodtOf } from './fodt.ts';
import { printWithChromium } from './generate.ts';
import { htmlOf } from './html.ts';
import { truthOf } from './truth.ts';

const SEED = 20;
const NUMBERS = Array.from({ length: 40 }, (_, at) => at);

/** The letters and digits of a text in order of the alphabet: two texts with the same words have the same. */
const lettersOf = (text: string) =>
  [...text.replace(/[^\p{L}\p{N}]/gu, '').toUpperCase()]
    .sort()
    .join('')
    .replace(/(.)\1*/gu, (run, letter) => `${letter}${run.length} `);
const withoutMarkup = (markup: string) =>
  markup
    .replace(/^[\s\S]*?<(?:body|office:text)>/, '')
    .replace(/<[^>]*>/g, '')
    .replace(/&\w+;/g, '');

describe('random documents', () => {
  test('the same seed draws the same document', () => {
    for (const index of NUMBERS) {
      const [one, other] = [drawDocument(SEED, index), drawDocument(SEED, index)];
      assert.equal(htmlOf(one), htmlOf(other));
      assert.equal(fodtOf(one), fodtOf(other));
      assert.equal(truthOf(one.blocks), truthOf(other.blocks));
    }
  });

  test('another number or seed draws another document', () => {
    const documents = NUMBERS.flatMap((index) => [drawDocument(SEED, index), drawDocument(SEED + 1, index)]);
    assert.equal(new Set(documents.map(htmlOf)).size, documents.length);
  });

  test('both writers show all words of the truth, and no other words', () => {
    for (const index of NUMBERS) {
      const document = drawDocument(SEED, index);
      const truth = lettersOf(withoutMarkup(truthOf(document.blocks)));
      assert.equal(lettersOf(withoutMarkup(htmlOf(document))), truth, `HTML of ${document.name}`);
      // LibreOffice prints the number of a footnote twice: in the text and before the note.
      const fodt = fodtOf(document).replace(/<text:note-citation>(\d)/g, '$1$1');
      assert.equal(lettersOf(withoutMarkup(fodt)), truth, `OpenDocument of ${document.name}`);
    }
  });

  test('Chromium prints a document whose words can be read', { skip: browserSkipReason() }, async () => {
    const document = drawDocument(SEED, 0);
    const browser = await startBrowser();
    try {
      const bytes = await printWithChromium(browser, htmlOf(document));
      const { markdown } = await convert(bytes);
      const words = new Set(markdown.match(/\p{L}+/gu));
      const expected = new Set(truthOf(document.blocks).match(/\p{L}+/gu));
      const missing = [...expected].filter((word) => !words.has(word));
      assert.ok(missing.length < expected.size / 20, `missing: ${missing.join(' ')}`);
    } finally {
      await browser.close();
    }
  });
});
