// Checks what the tags of a file decide, and when they are not believed, on tagged pages made by hand.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { lines, paragraph, readTagged, row, said, type Tagged } from './testing/tagged.ts';

const heading = (type: string, text: string, y: number, more: Parameters<typeof said>[2] = {}): Tagged => ({
  type,
  lines: [said(text, y, more)],
});
const onlyHeads = (blocks: readonly string[]) => blocks.filter((block) => block.startsWith('#'));
const table = (...kids: Tagged[]): Tagged => ({ type: 'Table', kids });
/** A heading that is found trustworthy, and text: the tags of the rest of the page are believed too. */
const OPENING = [heading('H1', 'Harbour log', 40, { size: 18 }), paragraph(70)];

describe('headings', () => {
  const page = (second: string, third: string) => [
    ...OPENING,
    heading(second, 'Ships', 150, { bold: true }),
    paragraph(164),
    heading(third, 'Ships of the north', 232),
    paragraph(246),
    heading(second, 'Boats', 314, { bold: true }),
    paragraph(328),
  ];

  test('have the levels of their tags, also in the type of the text and close to it', async () => {
    assert.deepEqual(onlyHeads(await readTagged([page('H2', 'H4')])), [
      '# Harbour log',
      '## Ships',
      '#### Ships of the north',
      '## Boats',
    ]);
    const roles = { Head: 'H2', Low: 'H3' };
    const mapped = onlyHeads(await readTagged([page('Head', 'Low')], roles));
    assert.deepEqual(mapped, ['# Harbour log', '## Ships', '### Ships of the north', '## Boats'], 'names of the file');
  });

  test('of several lines are one; a number at the beginning makes no item of them', async () => {
    const long: Tagged = {
      type: 'H2',
      lines: [
        said('I. The ships that came in the night', 150, { bold: true }),
        said('And their masters', 164, { bold: true }),
      ],
    };
    assert.deepEqual(onlyHeads(await readTagged([[...OPENING, long, paragraph(190)]])), [
      '# Harbour log',
      '## I. The ships that came in the night And their masters',
    ]);
  });

  test('are no lines that are tagged as text and have a style of their own', async () => {
    const bold = (type: string) => heading(type, 'Counted in the night', 150, { bold: true });
    const blocks = async (type: string) => onlyHeads(await readTagged([[...OPENING, bold(type), paragraph(176)]]));
    assert.deepEqual(await blocks('P'), ['# Harbour log']);
    assert.deepEqual(await blocks('H2'), ['# Harbour log', '## Counted in the night']);
  });

  test('are not believed where all is tagged as headings, where long sentences are, or where cells are', async () => {
    const all = lines('H1', 40, [
      'The keeper counts ships',
      'and in the night',
      'he counts the boats',
      'of the harbour',
    ]);
    assert.deepEqual(onlyHeads(await readTagged([[...all, paragraph(120, 1)]])), []);
    const sentence = `${'The keeper of the light counts every ship that passes in the night '.repeat(2).trim()}.`;
    const sentences = [60, 130, 200].map((y) => heading('H2', sentence, y));
    assert.deepEqual(onlyHeads(await readTagged([[...sentences, paragraph(270, 8)]])), []);
    const head = {
      type: 'TR',
      kids: [0, 1].map((n) => ({
        type: 'TH',
        kids: [{ type: 'H2', lines: [said(`Kind ${n}`, 150, { x: 50 + n * 100, bold: true })] }],
      })),
    };
    const cells = table(head, row(170, ['Gull', '41']), row(190, ['Tern', '12']));
    assert.deepEqual(onlyHeads(await readTagged([[paragraph(40), cells, paragraph(230)]])), []);
  });

  test('do not have the levels of their tags where type sizes contradict these', async () => {
    const sizes = [12, 18, 12, 18];
    const heads = sizes.flatMap((size, n) => [
      heading(size > 12 ? 'H3' : 'H1', `Part ${'abcd'[n]} of it`, 50 + n * 100, { size, bold: true }),
      paragraph(75 + n * 100),
    ]);
    const found = onlyHeads(await readTagged([heads]));
    assert.equal(found.length, 4);
    assert.equal(found[1]?.startsWith('###'), false);
  });
});

test('a line at the edge of a page is no part of the text if it is an artifact, or the only one without a tag', async () => {
  const edge = (element: Tagged) => readTagged([[element, ...OPENING, paragraph(130, 30)]]);
  const text = 'The log of the keeper';
  const line = (type: string) => ({ type, lines: [said(text, 20)] });
  assert.equal((await edge(line('Artifact')))[0], '# Harbour log');
  assert.equal((await edge(line('untagged')))[0], '# Harbour log');
  assert.equal((await edge(line('P')))[0], text);
});

describe('tables', () => {
  const head: Tagged = {
    type: 'TR',
    kids: [
      { type: 'TH', lines: [said('Bird', 150)], spans: { RowSpan: 2 } },
      { type: 'TH', lines: [said('Counted at', 150, { x: 170 })], spans: { ColSpan: 2 } },
    ],
  };
  const second: Tagged = {
    type: 'TR',
    kids: ['Spring', 'Autumn'].map((text, n) => ({ type: 'TH', lines: [said(text, 165, { x: 150 + n * 100 })] })),
  };
  const birds = [row(180, ['Gull', '41', '']), row(195, ['Tern', '12', '9'])];
  const html = [
    '<table>',
    '<tr><th rowspan="2">Bird</th><th colspan="2">Counted at</th></tr><tr><th>Spring</th><th>Autumn</th></tr>',
    '<tr><td>Gull</td><td>41</td><td></td></tr><tr><td>Tern</td><td>12</td><td>9</td></tr>',
    '</table>',
  ].join('');
  const compact = (blocks: readonly string[]) =>
    blocks.find((block) => /<table|\|/.test(block))?.replace(/\n/g, '') ?? '';

  test('have the cells, spans and heads of their tags', async () => {
    assert.equal(compact(await readTagged([[paragraph(40), table(head, second, ...birds), paragraph(230)]])), html);
  });

  test('have the columns that the page shows where spans are left out', async () => {
    const group: Tagged = {
      type: 'TR',
      kids: [{ type: 'TD', lines: [said('Birds of the harbour, of the sea and of the coast', 165)] }],
    };
    const cells = [
      row(150, ['Bird', 'Spring', 'Autumn'], 'TH'),
      group,
      row(180, ['Gull', '41', '57']),
      row(195, ['Tern', '12', '9']),
    ];
    assert.match(
      compact(await readTagged([[paragraph(40), table(...cells), paragraph(230)]])),
      /<td colspan="3">Birds of the harbour/,
    );
  });

  test('go on over a page, also after a row that is alone on its page', async () => {
    const rest = Array.from({ length: 3 }, (_, n) => row(40 + n * 15, [`Gull ${n}`, `${n}1`, `${n}7`]));
    const kids = [row(600, ['Bird', 'Spring', 'Autumn'], 'TH'), ...rest.map((one) => ({ ...one, page: 1 }))];
    const blocks = await readTagged([[paragraph(40), paragraph(120), table(...kids)], [paragraph(300)]]);
    assert.match(compact(blocks), /^\| Bird \| Spring \| Autumn \|.*\| Gull 2 \| 21 \| 27 \|$/);
  });

  test('are not believed where the cells make no grid, or hold paragraphs', async () => {
    const crossed = [row(150, ['Gull', '41']), row(150, ['Tern', '12']), row(150, ['Coot', '7'])];
    assert.equal(compact(await readTagged([[paragraph(40), table(...crossed), paragraph(230)]])), '');
    const cell = (y: number): Tagged => ({ type: 'TD', kids: [paragraph(y, 5)] });
    const layout = table({ type: 'TR', kids: [cell(150)] }, { type: 'TR', kids: [cell(230), { type: 'TD' }] });
    assert.equal(compact(await readTagged([[paragraph(40), layout]])), '');
  });

  test('are no paragraphs that stand side by side', async () => {
    const beside = (type: string): Tagged[] =>
      [50, 300].map((x) => ({
        type,
        lines: ['Anna Keeper', 'Light House', 'Old Quay 7'].map((text, n) => said(text, 150 + n * 14, { x })),
      }));
    const blocks = await readTagged([[...OPENING, ...beside('P'), paragraph(230)]]);
    assert.equal(compact(blocks), '');
  });

  test('swallow no heading', async () => {
    const rows = [165, 179, 193].map((y, n) => row(y, [`Ship ${n}`, `${n}41`, `${n}7`]));
    const page = [
      ...OPENING,
      { type: 'H2', lines: [said('Ships', 150), said('and boats', 150, { x: 90 })] },
      ...rows,
      paragraph(230),
    ];
    assert.ok((await readTagged([page])).some((block) => block.startsWith('## Ships')));
  });
});
