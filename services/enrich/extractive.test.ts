// Tests the extractive summary and the functions that it uses to read paragraphs, plain text and sentences.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MODEL_LIMITS } from '#shared/contract/limits.ts';
import { summarizeByExtraction } from './extractive.ts';
import { paragraphsOf, plainText } from './prose.ts';
import { sentencesOf } from './sentences.ts';

const REPORT = `# Tides of the estuary

The **estuary** of the river fills twice a day, and the [tide](https://example.org/tide) carries silt far upstream.
Fishermen at the mouth knew the tide tables by heart. Lunch was served at noon.

| Station | Height |
| --- | --- |
| Estuary mouth tide gauge reading station number one | 4.2 m |

\`\`\`
const tide = estuary.measure("the tide of the estuary carries silt");
\`\`\`

![A chart of the estuary tide](chart.png)

Silt that the tide carries into the estuary settles on the mud flats.[^1]
The mud flats of the estuary feed birds in winter. Nobody asked about the weather that day.

> Without the tide the estuary would be a lake, the report says.

[^1]: Measured in spring.
`;
const REPORT_WITHOUT_MARKS = REPORT.replaceAll('\n', ' ')
  .replaceAll('**', '')
  .replace('[tide](https://example.org/tide)', 'tide')
  .replace('[^1]', '');

describe('extractive summary', () => {
  const summary = summarizeByExtraction(REPORT);
  it('quotes three to six sentences of the prose in reading order, without Markdown marks', () => {
    const offsets = sentencesOf(summary, 'en').map((sentence) => REPORT_WITHOUT_MARKS.indexOf(sentence));
    assert.ok(offsets.length >= 3 && offsets.length <= 6, summary);
    assert.ok(!offsets.includes(-1), summary);
    assert.deepEqual(
      offsets,
      [...offsets].sort((a, b) => a - b),
    );
  });
  it('leaves out tables, code, images, footnotes and sentences that are off topic', () => {
    for (const outside of ['|', 'const tide', 'chart.png', 'Measured in spring', '**', 'Lunch was served'])
      assert.ok(!summary.includes(outside), outside);
  });
  it('is at most summaryUnits long when the document has 3,000 sentences', () => {
    const long = Array.from(
      { length: 3000 },
      (_, index) =>
        `Sentence ${index} tells of the river ${index % 7}, the bridge ${index % 11} and the mill ${index % 13} in some detail.`,
    ).join(' ');
    const short = summarizeByExtraction(long);
    assert.ok(short.length <= MODEL_LIMITS.summaryUnits + 50 && short.length > 100);
  });
  it('returns all of a short text', () =>
    assert.equal(
      summarizeByExtraction('## Note\n\nDr. Smith is *out*. Call back.'),
      'Note. Dr. Smith is out. Call back.',
    ));
  it('is empty when the document is one image', () => assert.equal(summarizeByExtraction('![x](y.png)'), ''));
  it('keeps redaction markers', () =>
    assert.equal(summarizeByExtraction('Ask <PERSON> at <EMAIL>.'), 'Ask <PERSON> at <EMAIL>.'));
});

describe('plainText', () => {
  for (const [markdown, expected] of [
    ['a [link](https://x.example/a_b) and ![an image](i.png "t") here', 'a link and here'],
    ['[![badge](b.svg)](https://x.example) text', 'text'],
    ['[note] and [link](x)', '[note] and link'],
    ['[see [1] here](x)', 'see [1] here'],
    ['H<sub>2</sub>O<br>and &amp; `a*b` \\*', 'H2O and & a*b *'],
    ['<jane@example.org> <https://x.example/>', 'jane@example.org https://x.example/'],
    ['one[^1] **two** ~~three~~ _four_ <!-- five -->', 'one two three four'],
    ['<PERSON> is no tag', '<PERSON> is no tag'],
  ] as const)
    it(`reads ${JSON.stringify(markdown)} as ${JSON.stringify(expected)}`, () =>
      assert.equal(plainText(markdown, [0, markdown.length]), expected));
});

describe('paragraphsOf', () => {
  it('joins the lines of a paragraph without the backslash of a hard line break', () =>
    assert.deepEqual(paragraphsOf('12 Harbour Street\\\nBristol\n\nEnd.', 100), [
      { text: '12 Harbour Street Bristol', kind: 'prose' },
      { text: 'End.', kind: 'prose' },
    ]));
  it('reads no further than the limit', () =>
    assert.deepEqual(paragraphsOf('one\n\ntwo', 4), [{ text: 'one', kind: 'prose' }]));
  it('keeps a fence open until a fence of the same kind closes it', () =>
    assert.deepEqual(paragraphsOf('````\n```\ncode\n````\nprose', 100), [{ text: 'prose', kind: 'prose' }]));
});

describe('sentencesOf', () => {
  for (const [text, expected] of [
    ['Mr. Jones left. He ran.', ['Mr. Jones left.', 'He ran.']],
    ['Version 3.2 is out! Is it?', ['Version 3.2 is out!', 'Is it?']],
    ['Das ist gut. Es bleibt.', ['Das ist gut.', 'Es bleibt.']],
  ] as const)
    it(`splits ${JSON.stringify(text)} into ${expected.length} sentences`, () =>
      assert.deepEqual(sentencesOf(text, 'en'), expected));
});
