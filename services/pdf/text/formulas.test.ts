// Holds what tells a formula that stands alone from text, and which words of a line are one, on words made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ITALIC, line, MONO, PLAIN, sized } from '#test/harness/documents/pdf-pages.ts';
import type { TextStyle, Word } from '../source/page-model.ts';
import { composeRows, foldInlineFormulas } from './formulas.ts';
import { buildChunks } from './lines.ts';

const MATH: TextStyle = { ...ITALIC, font: 'CMMI10' };
/** Words from left to right, each in a face of its own. */
const words = (y: number, ...parts: readonly (readonly [string, TextStyle?])[]): Word[] => {
  let x = 100;
  return parts.flatMap(([text, style = PLAIN]) => {
    const made = line(x, y, text, style, 3);
    x = (made.at(-1)?.box.x1 ?? x) + 3;
    return made;
  });
};
const EQUATION = [['x', MATH], ['='], ['y', MATH], ['+'], ['z', MATH]] as const;
const formulas = (own: Word[]) => composeRows(buildChunks(own), []).flatMap(({ formula }) => formula?.latex ?? []);

test('signs and variables are a formula; words, code, what OCR read, and a mirrored page hold none', () => {
  assert.deepEqual(formulas(words(100, ...EQUATION)), ['x = y + z']);
  assert.deepEqual(formulas(words(100, ['gulls are'], ...EQUATION)), [], 'words');
  assert.deepEqual(formulas(words(100, ...EQUATION.map(([text]) => [text, MONO] as const))), [], 'code');
  const typed = words(100, ...EQUATION.map(([text, style = PLAIN]) => [text, { ...style, monospace: true }] as const));
  assert.deepEqual(formulas(typed), [], 'code in a mathematical face');
  const read = words(100, ...EQUATION).map((word) => ({ ...word, confidence: 0.9 }));
  assert.deepEqual(formulas(read), [], 'read by OCR');
  const mirrored = words(100, ...EQUATION).map((word) => ({ ...word, mirrored: true }));
  assert.deepEqual(formulas(mirrored), []);
  assert.deepEqual(formulas(words(100, ['4'], ['='], ['5'])), [], 'figures alone');
  assert.deepEqual(formulas(words(100, ['x', MATH])), [], 'a variable alone');
  assert.deepEqual(formulas(words(100, ['N'], ['='], ['5'])), [], 'an upright letter');
  assert.deepEqual(formulas(words(100, ['4', ITALIC], ['=', ITALIC], ['5', ITALIC])), [], 'italic figures');
  const number = words(100, ['('], ['1'], [')']).map((word) => ({ ...word, style: { ...PLAIN, font: 'CambriaMath' } }));
  const glued = number.map((word, n) => ({ ...word, box: { ...word.box, x0: 100 + n * 5, x1: 105 + n * 5 } }));
  assert.deepEqual(formulas(glued.map((word) => ({ ...word, spaceBefore: false }))), [], 'a number in brackets alone');
});

test('an entry of a table of contents is text, though most of its characters are dots', () => {
  const leader = '. '.repeat(40).trim();
  assert.deepEqual(formulas(words(100, ['1', MATH], ['Gulls'], [leader, MATH], ['12', MATH])), []);
  assert.deepEqual(formulas(words(100, ['A', MATH], [leader, MATH], ['iv', MATH])), []);
});

test('Greek words are text, Greek variables are not', () => {
  assert.deepEqual(formulas(words(100, ['Επιχείρηση'], ['το'], ['μέτρηση'], ['οι'], ['λιμάνι'])), []);
  assert.deepEqual(formulas(words(100, ['ΜΕΘΟΔΟΣ'], ['ΚΑΙ'], ['ΟΡΙΑ'])), [], 'capitals');
  assert.deepEqual(formulas(words(100, ['ή'], ['ό'], ['τί'])), [], 'accents');
  assert.equal(formulas(words(100, ['α', ITALIC], ['='], ['β', ITALIC], ['+'], ['γδ', ITALIC])).length, 1);
});

test('a number in brackets at its end is its tag; rows far apart are two formulas', () => {
  const tagged = [...words(100, ...EQUATION), ...line(400, 100, '(2.1)')];
  assert.deepEqual(formulas(tagged), ['x = y + z \\tag{2.1}']);
  const [row] = composeRows(buildChunks(tagged), []);
  assert.equal(row?.formula?.text, 'x = y + z (2.1)');
  const [plain] = composeRows(buildChunks(words(100, ...EQUATION)), []);
  assert.equal(plain?.formula?.text, 'x = y + z');
  assert.equal(formulas([...words(100, ...EQUATION), ...words(112, ...EQUATION)]).length, 1);
  assert.equal(formulas([...words(100, ...EQUATION), ...words(130, ...EQUATION)]).length, 2);
});

test('inside a line, letters of a mathematical face and their scripts are one formula, the stop after them is not', () => {
  const folded = (...parts: readonly (readonly [string, TextStyle?])[]) =>
    foldInlineFormulas(words(100, ...parts), 100, 10, []).flatMap(({ latex }) => (latex ? [latex] : []));
  assert.deepEqual(folded(['where'], ['x', MATH], ['='], ['y,', MATH], ['gulls']), [{ body: 'x = y', tail: ',' }]);
  assert.deepEqual(folded(['•'], ['x', MATH], ['gulls']), [{ body: 'x', tail: '' }], 'a bullet');
  assert.deepEqual(folded(['where'], ['x', ITALIC], ['gulls']), [], 'no mathematical face');
  assert.deepEqual(folded(['where'], ['x', MATH], ['gulls'], ['y', MATH]).length, 2, 'a word between');
  const script = words(100, ['x', MATH]).concat(line(105, 103, 'n', sized(6, MATH)));
  const [own] = foldInlineFormulas([...line(40, 100, 'where'), ...script], 100, 10, []).slice(1);
  assert.deepEqual(own?.latex, { body: 'x_{n}', tail: '' });
});

test('rows of text are no part of the formula they touch; limits stand further from a large operator than other rows', () => {
  assert.deepEqual(formulas([...words(100, ...EQUATION), ...words(112, ['and all the gulls'])]), ['x = y + z']);
  const figures = words(112, ['1990'], ['1991'], ['1992'], ['1993'], ['1994']);
  assert.deepEqual(formulas([...words(100, ...EQUATION), ...figures]), ['x = y + z'], 'a row of figures');
  const SUM = [['x', MATH], ['='], ['∑'], ['z', MATH]] as const;
  /** A row under an equation, so many points below it. */
  const under = (gap: number, size: number, text: string, over: readonly (readonly [string, TextStyle?])[] = SUM) => {
    const y = 102.2 + gap + size * 0.78;
    return formulas([...words(100, ...over), ...line(126, y, text, sized(size, MATH), 1)]);
  };
  assert.deepEqual(under(5, 6, 'n'), ['x = \\sum z_{n}'], 'small');
  assert.deepEqual(under(5, 10, 'n'), ['x = \\sum zn'], 'short');
  assert.deepEqual(under(5, 6, 'n = x'), ['x = \\sum z_{n = x}'], 'small, with a sign');
  assert.deepEqual(under(5, 10, 'n = x'), ['x = \\sum z', 'n = x'], 'a formula of its own');
  assert.deepEqual(under(8, 6, 'n'), ['x = \\sum z'], 'too far');
  assert.deepEqual(under(5, 6, 'n', EQUATION), ['x = y + z'], 'no large operator');
});

test('a rule between two rows is the bar of a fraction where it is no longer than the formula', () => {
  const bar = (end: number, at = 104, horizontal = true) => {
    const rows = [...line(130, 101, 'y + z', MATH, 2), ...line(130, 118, 'n + m', MATH, 2)];
    const own = [...words(110, ['x', MATH], ['=']), ...rows];
    const rulings = [{ horizontal, at, start: 128, end, thickness: 1, color: 0 }];
    return composeRows(buildChunks(own), rulings).flatMap(({ formula }) => formula?.latex ?? []);
  };
  assert.deepEqual(bar(151), ['x = \\frac{y + z}{n + m}']);
  const none = bar(151, 300);
  assert.deepEqual(none, ['x = yn + +zm'], 'no bar');
  assert.deepEqual(bar(400), none, 'longer');
  assert.deepEqual(bar(151, 104, false), none, 'upright');
  const root = words(120, ['x', MATH], ['='], ['√'], ['y', MATH]);
  const over = [{ horizontal: true, at: 98, start: 122, end: 130, thickness: 1, color: 0 }];
  const alone = composeRows(buildChunks(root), over).flatMap(({ formula }) => formula?.latex ?? []);
  assert.deepEqual(alone, ['x = \\surd y'], 'the bar of a formula above is none of a root');
});
