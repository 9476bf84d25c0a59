// Holds our Markdown writer to turndown's: both texts, read back by a third parser, must say the same, save where a row says why not.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gfm } from '@truto/turndown-plugin-gfm';
import TurndownService from 'turndown';
import { toMarkdown } from '#shared/document/markdown.ts';
import { parseHtml } from '#shared/document/tree.ts';
import { DIFFERENT, SAME } from './constructs.rows.ts';
import { htmlOf, meaningOf } from './meaning.ts';

const turndown = new TurndownService({
  headingStyle: 'atx',
  codeBlockStyle: 'fenced',
  bulletListMarker: '-',
  hr: '---',
});
turndown.use(gfm);

const ours = (html: string) => meaningOf(htmlOf(toMarkdown(parseHtml(html).body.children, { webpage: false })));
const theirs = (html: string) => meaningOf(htmlOf(turndown.turndown(html)));

for (const [name, html] of SAME)
  test(`turndown and we say the same: ${name}`, () => assert.equal(ours(html), theirs(html)));

for (const { name, html, means, reason } of DIFFERENT)
  test(`we differ from turndown: ${name}`, () => {
    assert.equal(ours(html), meaningOf(means), reason);
    assert.notEqual(theirs(html), meaningOf(means), 'turndown says the same now: move the row');
  });

const TOLD_APART: readonly (readonly [string, string])[] = [
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
for (const [left, right] of TOLD_APART)
  test(`the normal form tells ${JSON.stringify(left)} from ${JSON.stringify(right)}`, () =>
    assert.notEqual(meaningOf(htmlOf(left)), meaningOf(htmlOf(right))));
