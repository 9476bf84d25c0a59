// Holds each rule that joins lines to paragraphs, items and code, and paragraphs over columns and pages, on a page made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  BOLD,
  blocksOf,
  draftPages,
  filled,
  ITALIC,
  line,
  MONO,
  PLAIN,
  prose,
  sized,
  texts,
} from '#test/harness/documents/pdf-pages.ts';
import type { TextStyle, Word } from '../source/page-model.ts';
import { joinHyphenated } from '../text/inline.ts';
import { buildChunks, chunkText, groupRows, spaceBetween } from '../text/lines.ts';

/** Two lines 12 points apart, under ten full lines that give the column and its leading. */
const pair = (
  [above, first = PLAIN]: readonly [string, TextStyle?],
  [below, second = PLAIN]: readonly [string, TextStyle?],
  { pace = 12, indent = 0 } = {},
) =>
  texts([...prose(50, 100, 10), ...line(50, 300, above, first), ...line(50 + indent, 300 + pace, below, second)])
    .length - 1;
const split = (...of: Parameters<typeof pair>) => pair(...of) === 2;

const FULL = filled(60, 4);
const ENDED = `${filled(59, 4)}.`;
/** Seven tenths of the line: room for the next word, but no verse. */
const MOST = filled(42, 4);

test('spacing: a wider gap than usual is a break; the usual one is that of most lines, not of paragraphs', () => {
  assert.ok(!split([FULL], [FULL]));
  assert.ok(split([FULL], [FULL], { pace: 20 }));
  const tops = [0, 12, 24, 42, 60, 78, 96];
  assert.equal(texts(tops.flatMap((y, n) => line(50, 100 + y, filled(60, n)))).length, 5);
  const doubled = [...prose(50, 100, 6, PLAIN, 22), ...prose(50, 235, 3, PLAIN, 22)];
  assert.equal(texts(doubled).length, 2, 'lines set far apart');
});

test('short paragraphs: lines with room for the next word, or two of them alone, tell nothing of the leading', () => {
  const alone = (...words: readonly string[]) => texts(words.flatMap((text, n) => line(50, 100 + n * 24, text))).length;
  assert.equal(alone('Seen from the light', 'Counted by the keeper and by the pilots'), 2);
  assert.equal(
    alone('Seen', 'Counted by the keeper', 'With thanks to the pilots', 'May', 'The keeper counts every ship'),
    5,
  );
  assert.equal(alone(filled(60), filled(60, 3), filled(60, 6), filled(60, 9), 'and more'), 1, 'lines set far apart');
});

test('size and faces: another size, a bold or italic line that stops short, code', () => {
  assert.ok(split([FULL, sized(13)], [FULL]));
  assert.ok(split([MOST, BOLD], [FULL]), 'a bold line that stops short');
  assert.ok(split([FULL, BOLD], [FULL], { pace: 14 }), 'a bold line with room under it');
  assert.ok(!split([FULL, BOLD], [FULL]), 'bold words that run on');
  assert.ok(split([ENDED], [FULL, BOLD]), 'a bold line after a sentence');
  const two = [...prose(50, 100, 10), ...line(50, 300, FULL, BOLD), ...line(50, 312, FULL, BOLD)];
  assert.equal(texts([...two, ...line(50, 324, FULL)]).length, 3, 'two bold lines');
  assert.ok(split([MOST], [FULL, ITALIC]), 'italics after a line that stops short');
  assert.ok(split([filled(56, 4), ITALIC], [`The ${filled(50)}`]), 'an italic line before a sentence');
  assert.ok(split([ENDED], [MOST, ITALIC]), 'an italic line after a sentence');
  assert.ok(split([FULL], [FULL, MONO]));
});

test('line ends: a table of contents, a sentence that ends short, a verse; a large heading may break anywhere', () => {
  assert.ok(split([`gulls ${'.'.repeat(52)} 3`], [FULL]));
  assert.ok(split([`${MOST}.`], [FULL]));
  assert.ok(!split([MOST], [FULL]));
  assert.ok(split([filled(20)], [FULL]));
  const title = [...line(50, 100, 'the light:', sized(20)), ...line(50, 124, filled(40), sized(20))];
  assert.equal(texts([...title, ...prose(50, 200, 10)]).length, 2);
});

test('indents: a first line, a hanging one, a centred one', () => {
  const lines = (...indents: number[]) =>
    texts([
      ...prose(50, 100, 10),
      ...indents.flatMap((indent, n) => line(50 + indent, 300 + n * 12, filled(60 - indent / 5, n))),
    ]).length - 1;
  assert.equal(lines(0, 0, 20, 0), 2, 'a first line');
  assert.equal(lines(0, 20, 20), 1, 'a hanging entry');
  assert.equal(lines(0, 20, 20, 0, 20), 2, 'hanging entries');
  assert.equal(lines(80, 80, 100, 100), 1, 'far from the margin');
  const centred = [0, 20, 40].flatMap((indent, n) => line(50 + indent, 300 + n * 12, filled(60 - indent / 2.5, n)));
  assert.equal(texts([...prose(50, 100, 10), ...centred]).length, 2, 'centred lines');
});

test('markers: an item begins where its number counts on, not at a number in running text or at a larger one', () => {
  const kinds = (words: Word[]) => draftPages([words]).map((draft) => draft.kind);
  const below = (...more: readonly (readonly [number, string])[]) =>
    kinds([...prose(50, 100, 10), ...more.flatMap(([x, text], n) => line(x, 300 + n * 12, text))]).slice(1);
  assert.deepEqual(below([50, FULL], [50, '3. gulls and terns']), ['text']);
  assert.deepEqual(below([50, `1. ${filled(57)}`], [50, '7. gulls and terns']), ['item']);
  assert.deepEqual(below([50, '1. gulls'], [50, '2. terns']), ['item', 'item']);
  assert.deepEqual(
    below([100, `• ${filled(48)}`], [110, filled(48)], [60, filled(50)]),
    ['item', 'text'],
    'what is left of its marker',
  );
  const large = [...prose(50, 100, 10), ...line(50, 300, '1. Birds', sized(12))];
  assert.deepEqual(kinds(large), ['text', 'text']);
  assert.deepEqual(
    kinds([...prose(50, 100, 10), ...line(50, 300, 'lamp.fill()', MONO)]),
    ['text', 'text'],
    'one line of code',
  );
});

test('raised words are smaller and short', () => {
  const raised = (text: string, style: TextStyle) =>
    blocksOf([[...prose(50, 100, 3), ...line(50, 160, 'gulls of the bay', sized(12)), ...line(135, 155, text, style)]])
      .join('')
      .includes('<sup>');
  assert.ok(raised('7', sized(7)));
  assert.ok(!raised('7', sized(12)));
  assert.ok(!raised('lamplightersday', sized(7)));
});

test('a paragraph or an item goes on over a page where its sentence does', () => {
  const pages = (last: string, first: string, style = PLAIN) =>
    blocksOf([
      [...prose(50, 300, 5), ...line(50, 360, last)],
      [...line(50, 300, first, style), ...prose(50, 312, 5, style)],
    ]);
  const goesOn = (...of: Parameters<typeof pages>) => pages(...of)[1]?.startsWith('+') ?? false;
  assert.ok(goesOn(FULL, FULL));
  assert.ok(!goesOn(ENDED, FULL));
  assert.ok(!goesOn(MOST, FULL), 'a line that stops short');
  assert.ok(goesOn(FULL, `Heron ${filled(54)}`), 'a name');
  assert.ok(!goesOn(FULL, FULL, sized(11)), 'other type');
  assert.match(pages(`${filled(53)} meadow-`, `lands ${filled(54)}`).join(''), /meadow<\/p>\+text <p>lands/);
  const item = blocksOf([
    [...prose(50, 300, 5), ...line(50, 372, `• ${filled(58)}`)],
    [...line(50, 300, FULL), ...line(50, 312, 'gulls and terns.')],
  ]);
  assert.equal(item.length, 2);
});

test('a caption is short', () => {
  const types = (lines: number) =>
    blocksOf([[...line(50, 100, `Table 3 ${filled(52)}`), ...prose(50, 112, lines)]]).map((one) => one.split(' ')[0]);
  assert.deepEqual(types(2), ['caption']);
  assert.deepEqual(types(8), ['text']);
});

test('hyphens, slashes, scripts without spaces, and emphasis on a mark alone', () => {
  assert.equal(joinHyphenated('quay/', 'side', new Set()), 'quay/');
  assert.equal(joinHyphenated('light-', 'house', new Set(['lighthouse', 'light-house'])), 'light');
  const japanese = [...line(50, 100, '春の港に船が来る灯台の守り'), ...line(50, 112, '人は船の数を帳面に書き朝の')];
  assert.match(blocksOf([japanese]).join(''), /守り人は/);
  const marked = [...line(50, 100, 'gulls'), ...line(75, 100, ',', BOLD), ...line(85, 100, 'terns')];
  assert.doesNotMatch(blocksOf([marked]).join(''), /<strong>/);
});

test('words and chunks: by gaps, raised numbers and the order of the stream', () => {
  const cut = (...words: [number, string, number?][]) =>
    buildChunks(words.flatMap(([x, text, y = 20]) => line(x, y, text))).map((chunk) => chunkText(chunk.words));
  assert.deepEqual(cut([10, 'one'], [28, 'cell'], [63, 'next'], [86, 'cell']), ['one cell', 'next cell']);
  assert.deepEqual(cut([10, 'a'], [55, 'b'], [100, 'c']), ['a', 'b', 'c'], 'even gaps wider than any justified line');
  assert.deepEqual(cut([10, 'one'], [10, 'below', 40], [28, 'two']), ['one two', 'below']);
  const box = (y0: number, y1: number) => ({ box: { x0: 0, x1: 5, y0, y1 } });
  assert.equal(groupRows([box(10, 16), box(10.5, 20.5), box(12, 22)]).length, 1);
  const [word] = line(10, 20, 'bay');
  const near = (gap: number, more: Partial<Word>) =>
    word && spaceBetween(word, { ...word, box: { ...word.box, x0: word.box.x1 + gap }, spaceBefore: null, ...more });
  assert.equal(near(1.5, { superscript: true, style: sized(6) }), false);
  assert.equal(near(1.8, { spaceBefore: false }), false);
  assert.equal(near(1.8, {}), true);
});

test('lines that each begin in bold are paragraphs of their own; bold words that run over a line’s end are not', () => {
  const agenda = [
    [...line(50, 100, '6:00', BOLD), ...line(75, 100, 'Welcome to all who came')],
    [...line(50, 112, '6:15', BOLD), ...line(75, 112, 'Report of the keeper of the light')],
    [...line(50, 124, '6:45', BOLD), ...line(75, 124, 'What is to be done in the winter')],
  ];
  assert.equal(texts(agenda.flat()).length, 3);
  const run = [
    ...line(50, 100, 'The', BOLD),
    ...line(70, 100, filled(50)),
    ...line(325, 100, 'grey', BOLD),
    ...line(50, 112, 'heron', BOLD),
    ...line(80, 112, filled(40)),
  ];
  assert.equal(texts(run).length, 1);
});

test('bold words that end with a quote at the margin go on below in bold', () => {
  const item = (next: string) =>
    texts([
      ...line(50, 100, `${filled(53)} "light"`, BOLD),
      ...line(50, 112, next, BOLD),
      ...line(100, 112, filled(40)),
      ...prose(50, 124, 6),
    ]);
  assert.equal(item('Keepers:').length, 1);
});

type Line = readonly [indent: number, text: string, style?: TextStyle];
/** Blocks of lines 12 points apart under ten full lines. */
const below = (...lines: Line[]) =>
  draftPages([
    [...prose(50, 100, 10), ...lines.flatMap(([x, text, style], n) => line(50 + x, 300 + n * 12, text, style))],
  ]).slice(1);
const kindsBelow = (...lines: Line[]) => below(...lines).map((draft) => draft.kind);

test('the usual distance of lines is that of lines in one type, not of a full line in larger type and the text under it', () => {
  const entries = [0, 1, 2, 3, 4, 5].flatMap((n) => [
    ...line(50, 100 + n * 50, filled(60, n), sized(14)),
    ...line(50, 120 + n * 50, filled(40, n)),
  ]);
  const two = [...prose(50, 420, 2), ...prose(50, 452, 2)];
  assert.deepEqual(texts([...entries, ...two]).length, 14);
});

test('a bold line over plain text is a heading where it ends a sentence or stands in another size', () => {
  assert.ok(split([FULL, sized(10.5, BOLD)], [FULL]));
  assert.ok(split([ENDED, BOLD], [FULL]));
  assert.ok(split([`${filled(58, 4)}”.`, BOLD], [FULL]));
  assert.ok(split([`${filled(59, 4)})`, BOLD], [FULL]), 'a bracket closes it');
});

test('bold words may end a paragraph or stand at the head of a line of it; a bold line after a short one is another', () => {
  assert.equal(below([0, FULL], [0, FULL], [0, FULL], [0, FULL, BOLD]).length, 1);
  assert.ok(split([MOST], [FULL, BOLD]));
  const opens = [...line(50, 300, FULL), ...line(50, 312, 'grey', BOLD), ...line(75, 312, filled(54))];
  assert.equal(texts([...prose(50, 100, 10), ...opens]).length, 2);
});

test('italics go on over a line’s end as plain words do; one that stops short before a sentence does not', () => {
  const short = filled(56, 4);
  const sentence = `Heron ${filled(54)}`;
  assert.ok(!split([FULL], [FULL, ITALIC]));
  assert.ok(!split([FULL, ITALIC], [FULL]));
  assert.ok(!split([FULL, ITALIC], [sentence]), 'a name');
  assert.ok(split([short, ITALIC], [sentence]));
  assert.ok(!split([short, ITALIC], [FULL]), 'the sentence goes on');
  assert.ok(!split([short], [sentence]), 'plain');
  assert.ok(!split([short, ITALIC], [sentence, ITALIC]), 'all in italics');
});

test('a short line in italics after a sentence is apart; a full one, or one in a text of italics, is not', () => {
  assert.ok(!split([ENDED, ITALIC], [MOST, ITALIC]));
  assert.ok(!split([FULL], [filled(57, 4), ITALIC]));
  assert.ok(!split([ENDED], [FULL, ITALIC]));
});

test('indents: after a line that ends its sentence, back at the margin, in the middle', () => {
  assert.equal(below([0, ENDED], [20, filled(56)]).length, 2);
  assert.equal(below([0, FULL], [20, filled(56)], [20, filled(56)], [0, FULL]).length, 2);
  const centred = (...letters: number[]) =>
    below(
      ...letters.map(
        (count, n) => [(300 - count * 5) / 2, n === 0 ? `${filled(count - 1)}.` : filled(count, n)] as const,
      ),
    ).length;
  assert.equal(centred(44, 52, 60), 1, 'lines that grow');
  assert.equal(centred(30, 50), 1, 'a sentence that ends short');
  assert.equal(below([0, 'Gulls rest here.'], [0, 'Terns rest here.']).length, 2, 'short lines of one length');
});

test('an item goes on right of its marker, or at the margin where its first line alone is indented and full', () => {
  const full = (indent: number, begin = '') =>
    [indent, `${begin}${filled(60 - indent / 5 - begin.length, 4)}`] as const;
  assert.deepEqual(kindsBelow(full(0, '• '), full(20), full(10)), ['item']);
  assert.deepEqual(kindsBelow([0, `• ${filled(57)}.`], full(10)), ['item']);
  assert.deepEqual(kindsBelow(full(20, '• '), full(0), full(0)), ['item']);
  assert.deepEqual(kindsBelow([20, `• ${filled(53)}.`], full(0)), ['item', 'text'], 'a sentence');
  assert.deepEqual(kindsBelow([20, `• ${filled(42)}`], full(0)), ['item', 'text'], 'a line that stops short');
});

test('a number begins an item where it is the first, after a sentence, or set in; also in an item of another kind', () => {
  const number = (text: string, indent = 0) => [indent, `${text} ${filled(40)}`] as const;
  assert.deepEqual(kindsBelow([0, FULL], number('1.')), ['text', 'item']);
  assert.deepEqual(kindsBelow([0, ENDED], number('3.')), ['text', 'item']);
  assert.deepEqual(kindsBelow([0, FULL], number('3.', 20)), ['text', 'item']);
  assert.deepEqual(kindsBelow([0, FULL], number('3.')), ['text']);
  const item = [0, `2. ${filled(57)}`] as const;
  assert.deepEqual(kindsBelow(item, number('3.')), ['item', 'item']);
  assert.deepEqual(kindsBelow(item, number('3)')), ['item'], 'another sign');
  assert.deepEqual(kindsBelow(item, number('c.')), ['item'], 'a letter');
  assert.deepEqual(kindsBelow(item, number('4.')), ['item'], 'not the next');
});

test('a formula that stands alone is no part of the text around it', () => {
  const math = { ...ITALIC, font: 'CMMI10' };
  const sum = Array.from({ length: 14 }, (_, n) => [
    ...line(70 + n * 20, 312, 'y', math),
    ...line(80 + n * 20, 312, '+'),
  ]);
  const formula = [...line(50, 312, 'x', math), ...line(60, 312, '='), ...sum.flat()];
  const drafts = draftPages([[...prose(50, 240, 6), ...formula, ...prose(50, 324, 3)]]);
  assert.deepEqual(
    drafts.map((draft) => draft.kind),
    ['text', 'formula', 'text'],
  );
});

test('an upright rule beside a line is no bar of a fraction in it', () => {
  const math = { ...ITALIC, font: 'CMMI10' };
  const halves = [...line(130, 97, 'n', sized(6, math)), ...line(130, 101.5, 'm', sized(6, math))];
  const words = [...line(80, 100, 'where'), ...line(110, 100, 'x', math), ...line(120, 100, '='), ...halves];
  const rule = { horizontal: true, at: 98.5, start: 129, end: 136, thickness: 1, color: 0 };
  const html = (rulings: (typeof rule)[]) =>
    draftPages([words], { rulings })
      .map((draft) => ('html' in draft ? draft.html : ''))
      .join('');
  assert.match(html([rule]), /data-latex="x = \\frac\{n\}\{m\}"/);
  assert.doesNotMatch(html([{ ...rule, horizontal: false }]), /frac/);
});

test('smaller words on the line’s foot are not raised', () => {
  const words = [
    ...prose(50, 100, 3),
    ...line(50, 160, 'gulls of the bay', sized(12)),
    ...line(135, 160, 'ltd', sized(8)),
  ];
  assert.doesNotMatch(blocksOf([words]).join(''), /<sup>/);
});

test('code keeps its lines, its indents and the spaces between its words; listings far apart are two', () => {
  const code = [
    ...line(50, 100, 'while lamp', MONO),
    ...line(70, 112, 'fill', MONO),
    ...line(90, 112, '()', MONO).map((word) => ({ ...word, spaceBefore: false })),
    ...line(110, 112, 'or', MONO),
    ...line(121, 112, 'x', MONO),
    ...line(124, 112, '+', MONO),
  ];
  const listings = (words: Word[]) =>
    draftPages([words]).flatMap((draft) => (draft.kind === 'code' ? [draft.text] : []));
  assert.deepEqual(listings(code), ['while lamp\n    fill()  or x +']);
  const later = [...line(50, 200, 'trim', MONO), ...line(50, 212, 'light', MONO)];
  assert.deepEqual(listings([...code, ...later]), ['while lamp\n    fill()  or x +', 'trim\nlight']);
});

test('lines with the name of a field and its value are one paragraph each; sentences with a colon go on', () => {
  const fields = [`Keeper: ${filled(30)}`, `Lamp no.: ${filled(30)}`, `Date of the watch: ${filled(24)}`];
  const head = fields.flatMap((text, n) => line(50, 100 + n * 12, text));
  assert.deepEqual(texts([...head, ...prose(50, 160, 4)]).slice(0, 3), fields);
  const sentence = [...line(50, 100, `he said: ${filled(51)}`), ...line(50, 112, `and wrote: ${filled(30)}`)];
  assert.equal(texts([...sentence, ...prose(50, 160, 4)]).length, 2);
});

test('capitals are letters: a line of numbers is set in none', () => {
  const capitals = (text: string) =>
    draftPages([line(50, 100, text)]).map((draft) => draft.kind === 'text' && draft.style.capitals);
  assert.deepEqual(capitals('THE OLD LIGHT'), [true]);
  assert.deepEqual(capitals('The old light'), [false]);
  assert.deepEqual(capitals('1931 1932 1933'), [false]);
});

test('a line is in the middle of its column where both sides of it are alike', () => {
  const centred = (x: number) => {
    const [draft] = draftPages([[...line(x, 80, 'THE OLD LIGHT'), ...prose(50, 120, 6)]]);
    return draft?.kind === 'text' && draft.centred;
  };
  assert.equal(centred(167), true);
  assert.equal(centred(100), false);
});

test('the face of a paragraph is that of its longest word', () => {
  const [draft] = draftPages([
    [...line(50, 100, 'The', BOLD), ...line(70, 100, 'lamplighters'), ...line(135, 100, 'went', ITALIC)],
  ]);
  assert.equal(draft?.kind === 'text' && draft.style.font, PLAIN.font);
});
