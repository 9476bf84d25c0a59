// Holds which drawn shapes are bullets of a list and which are not, on pages made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BOLD, draftPages, line, prose, rule, sized } from '#test/harness/documents/pdf-pages.ts';
import type { Mark, PageContent, Word } from '../source/page-model.ts';
import type { Draft } from './blocks.ts';

/** A mark whose middle is 3 points above the baseline `y`. */
const mark = (x: number, y: number, more: Partial<Mark> & { side?: number } = {}): Mark => {
  const { side = 3, ...rest } = more;
  const box = { x0: x, x1: x + side, y0: y - 3 - side / 2, y1: y - 3 + side / 2 };
  return { box, shape: 'disc', color: 0, label: false, ...rest };
};
const PLACES = [300, 314, 328] as const;
const ITEMS = ['gulls on the quay', 'terns on the bay', 'ducks on the pond'] as const;
const lines = (x: number, style = sized(10)): Word[] => PLACES.flatMap((y, n) => line(x, y, ITEMS[n] ?? '', style));
const marks = (more: Parameters<typeof mark>[2] = {}, x = 60): Mark[] => PLACES.map((y) => mark(x, y, more));
const drafts = (words: Word[], drawn: Mark[], more: Partial<PageContent> = {}): Draft[] =>
  draftPages([[...prose(50, 100, 6), ...words]], { marks: drawn, ...more }).slice(1);
/** The items of a page with their signs, the texts of what is no item, and tables whole. */
const read = (words: Word[], drawn: Mark[], more: Partial<PageContent> = {}): string[] =>
  drafts(words, drawn, more).map((draft) =>
    draft.kind === 'item'
      ? `${draft.marker.shape} ${draft.text}`
      : 'text' in draft
        ? draft.text
        : JSON.stringify(draft),
  );
const items = (sign: string) => ITEMS.map((text) => `${sign} ${text}`);
const isListed = (found: readonly string[]) => found.some((text) => /[•◦▪]/.test(text));

test('discs, circles and squares before lines are their bullets; an item lies where its bullet begins', () => {
  assert.deepEqual(read(lines(70), marks()), items('•'));
  assert.deepEqual(read(lines(70), marks({ shape: 'circle', side: 4 })), items('◦'));
  assert.deepEqual(read(lines(70), marks({ shape: 'square' })), items('▪'));
  assert.deepEqual(
    drafts(lines(70), marks()).map(({ box }) => Math.round(box.x0)),
    [60, 60, 60],
  );
});

test('one mark alone is a bullet only by its tag, or inside the item of another list', () => {
  const [first = mark(60, 300)] = marks();
  assert.ok(!isListed(read(lines(70), [first])));
  assert.deepEqual(read(line(70, 300, 'gulls on the quay'), [{ ...first, label: true }]), ['• gulls on the quay']);
  const words = [...line(70, 300, 'gulls:'), ...line(100, 314, 'on the quay'), ...line(70, 328, 'terns')];
  const inner = mark(90, 314, { shape: 'circle', side: 4 });
  assert.deepEqual(read(words, [mark(60, 300), inner, mark(60, 328)]), ['• gulls:', '◦ on the quay', '• terns']);
  const far = mark(90, 314, { color: 0xcc0000 });
  assert.ok(!read(words, [mark(60, 300), far, mark(60, 328)]).includes('• on the quay'), 'another colour');
});

test('the keys of a legend differ in colour or shape and are no bullets', () => {
  const colors = [0xcc0000, 0x00cc00, 0x0000cc];
  assert.ok(
    !isListed(
      read(
        lines(70),
        marks({ shape: 'square', side: 5 }).map((one, n) => ({ ...one, color: colors[n] ?? 0 })),
      ),
    ),
  );
  const four = [...lines(70), ...line(70, 342, 'geese on the lake')];
  const keys = [0xcc0000, 0xcc0000, 0x00cc00, 0x0000cc].map((color, n) => mark(60, 300 + n * 14, { color }));
  assert.ok(!isListed(read(four, keys)), 'two of one colour');
  const shapes = ['disc', 'circle', 'square'] as const;
  assert.ok(
    !isListed(
      read(
        lines(70),
        marks().map((one, n) => ({ ...one, shape: shapes[n] ?? 'disc' })),
      ),
    ),
  );
});

test('points of a chart are no bullets, though two of them stand below each other before their names', () => {
  const names = [...line(70, 300, 'Anna'), ...line(140, 330, 'Berta'), ...line(70, 360, 'Clara')];
  assert.ok(!isListed(read(names, [mark(60, 300), mark(130, 330), mark(60, 360)])));
});

test('items of several lines, and a later list of one item, are of the list; so are bullets that change their colour once', () => {
  const words = [
    ...[...line(70, 300, 'gulls that came'), ...line(70, 312, 'in the winter'), ...line(70, 330, 'terns')],
    ...line(70, 500, 'ducks'),
  ];
  const drawn = [mark(60, 300), mark(60, 330), mark(60, 500)];
  assert.deepEqual(read(words, drawn), ['• gulls that came in the winter', '• terns', '• ducks']);
  assert.deepEqual(
    read(
      lines(70),
      marks().map((one, n) => ({ ...one, color: n === 0 ? 0xcc0000 : 0 })),
    ),
    items('•'),
  );
});

test('shapes of another size, height or distance are no bullets', () => {
  assert.ok(!isListed(read(lines(75), marks({ side: 8 }))), 'large');
  assert.ok(!isListed(read(lines(75), marks({ side: 1 }))), 'small');
  assert.ok(!isListed(read(lines(75), marks({ shape: 'circle', side: 6.5 }))), 'buttons');
  assert.ok(!isListed(read(lines(64), marks())), 'close');
  assert.ok(!isListed(read(lines(90), marks())), 'far');
  const moved = (by: number) => PLACES.map((y) => mark(60, y + by));
  assert.ok(!isListed(read(lines(70), moved(5))), 'below the line');
  assert.ok(!isListed(read(lines(70), moved(-6))), 'above the letters');
});

test('marks after other text, in rows, on lines and on pictures are no bullets', () => {
  const before = PLACES.flatMap((y) => line(30, y, 'Birds'));
  assert.ok(!isListed(read([...before, ...lines(75)], marks({}, 62))), 'after text');
  const row = [...marks(), ...marks({}, 52), ...marks({}, 44)];
  assert.ok(!isListed(read(lines(70), row)), 'a rating');
  const upright = { ...rule(61.5, 280, 340), horizontal: false };
  assert.ok(!isListed(read(lines(70), marks(), { rulings: [upright] })), 'a time line');
  const sliders = PLACES.map((y) => rule(y - 3, 30, 66));
  assert.ok(!isListed(read(lines(70), marks(), { rulings: sliders })), 'sliders');
  const map = { box: { x0: 40, y0: 270, x1: 240, y1: 350 }, pixelWidth: 90, pixelHeight: 90 };
  assert.ok(!isListed(read(lines(70), marks(), { images: [map] })), 'a map');
});

test('labels along an axis, bold headings with an ornament and lines with a marker of their own are no items of drawn bullets', () => {
  const figures = PLACES.flatMap((y, n) => line(70, y, `${n}0`));
  assert.ok(!isListed(read(figures, marks())), 'figures');
  assert.ok(!isListed(read(lines(70, BOLD), marks({ shape: 'square' }))), 'headings');
  const numbered = PLACES.flatMap((y, n) => line(70, y, `${'abc'[n]}) ${ITEMS[n] ?? ''}`));
  assert.ok(!isListed(read(numbered, marks())), 'numbers');
});

test('bullets of a second column, and of a page that OCR read', () => {
  const left = prose(50, 300, 3, sized(10), 14).map((word) => ({
    ...word,
    box: { ...word.box, x0: word.box.x0 * 0.7, x1: word.box.x1 * 0.7 },
  }));
  const found = read([...left, ...lines(370)], marks({}, 360));
  assert.equal(found.filter((text) => text.startsWith('• ')).length, 3);
  const seen = lines(70).map((word, n) => ({ ...word, place: { block: 1, line: Math.floor(n / 4) } }));
  assert.ok(!isListed(read(seen, marks())));
});
