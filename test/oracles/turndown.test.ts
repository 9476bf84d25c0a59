// Tests that our Markdown and turndown's have the same meaning when a third parser reads them, except for listed differences.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gfm } from '@truto/turndown-plugin-gfm';
import TurndownService from 'turndown';
import { toMarkdown } from '#shared/document/markdown.ts';
import { parseHtml } from '#shared/document/tree.ts';
import { markdownToHtml, normalizeHtml } from './html-comparison.ts';
import { DIFFERENT, SAME } from './html-constructs.ts';

const turndown = new TurndownService({
  headingStyle: 'atx',
  codeBlockStyle: 'fenced',
  bulletListMarker: '-',
  hr: '---',
});
turndown.use(gfm);

const meaningOfOurs = (html: string) =>
  normalizeHtml(markdownToHtml(toMarkdown(parseHtml(html).body.children, { webpage: false })));
const meaningOfTurndown = (html: string) => normalizeHtml(markdownToHtml(turndown.turndown(html)));

for (const [name, html] of SAME)
  test(`the Markdown of ${name} means the same as turndown's`, () =>
    assert.equal(meaningOfOurs(html), meaningOfTurndown(html)));

for (const { name, html, means, reason } of DIFFERENT)
  test(`the Markdown of ${name} has the expected meaning, and turndown's does not`, () => {
    assert.equal(meaningOfOurs(html), normalizeHtml(means), reason);
    assert.notEqual(
      meaningOfTurndown(html),
      normalizeHtml(means),
      'turndown now writes the same: move this construct to SAME',
    );
  });

/** Pairs of Markdown texts with different meanings. */
const DISTINCT: readonly (readonly [string, string])[] = [
  ['a', 'b'],
  ['**a**', '*a*'],
  ['# a', '## a'],
  ['- a\n  - b', '- a\n- b'],
  ['1. a', '- a'],
  ['1. a', '2. a'],
  ['[a](x)', '[a](y)'],
  ['| a | b |\n| --- | --- |\n| c | d |', '| a | b |\n| --- | --- |\n| d | c |'],
  ['| a |\n| ---: |', '| a |\n| --- |'],
  ['a\n\nb', 'a b'],
  ['a\\\nb', 'a b'],
  ['```\na\n  b\n```', '```\na\nb\n```'],
  ['```ts\na\n```', '```js\na\n```'],
  ['\\# a', '# a'],
];
for (const [left, right] of DISTINCT)
  test(`the normal forms of ${JSON.stringify(left)} and ${JSON.stringify(right)} differ`, () =>
    assert.notEqual(normalizeHtml(markdownToHtml(left)), normalizeHtml(markdownToHtml(right))));
