// Holds where a large letter or number belongs to the lines beside it, on pages made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blocksOf, line, PLAIN, sized } from '#test/harness/documents/pdf-pages.ts';
import type { Word } from '../source/page-model.ts';

const text = (...words: Word[][]) =>
  blocksOf([words.flat()]).map((one) => one.replace(/<[^>]+>/g, '').replace(/^\S+ /, ''));

/** A line of which the file does not say that white space stands before it. */
const apart = ([first, ...rest]: Word[]): Word[][] => [[{ ...(first as Word), spaceBefore: null }, ...rest]];

/** Two lines beside a letter of three lines' height, and two below it. */
const beside = (initial: string, first: string, x = 60) => [
  line(50, 122, initial, sized(28)),
  ...apart(line(x, 104, `${first} came to the harbour in the morning of that day and`, PLAIN)),
  line(x, 116, 'the keepers of all the lights were told of it before it', PLAIN),
  line(50, 128, 'had reached the pier, so that nobody was surprised when it came', PLAIN),
  line(50, 140, 'in.', PLAIN),
];

test('a dropped letter is the first of its word, and the lines beside it are of one paragraph', () => {
  assert.deepEqual(text(...beside('G', 'ulls')), [
    'Gulls came to the harbour in the morning of that day and the keepers of all the lights were told of it before it had reached the pier, so that nobody was surprised when it came in.',
  ]);
});

test('a dropped letter that is a word on its page stays one', () => {
  const more = line(50, 200, 'They saw a gull.', PLAIN);
  assert.match(text(...beside('A', 'gull'), more).join(' '), /^A gull came/);
  assert.match(text(...beside('A', 'mong'), more).join(' '), /^Among came/);
});

test('a large number stands before the lines beside it', () => {
  const head = (x: number) => [
    line(50, 122, '5', sized(30)),
    line(x, 104, 'The tides and', sized(14)),
    line(x, 120, 'the moon', sized(14)),
    line(50, 160, 'They saw a gull, and nobody was surprised when it came in.', PLAIN),
    line(50, 172, 'It was late.', PLAIN),
  ];
  assert.match(text(...head(60)).join(' '), /^5 The tides and the moon They/);
});

test('a large letter before a column of names is a letter of an index', () => {
  const index = [
    line(50, 122, 'G', sized(28)),
    line(90, 104, 'Gannet', PLAIN),
    line(90, 116, 'Gull', PLAIN),
    line(50, 180, 'They saw a gull.', PLAIN),
  ];
  assert.ok(!text(...index).some((one) => one.includes('GGannet')));
});
