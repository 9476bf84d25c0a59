// Holds the extractive summary to reading order, prose alone, and its size.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MODEL_LIMITS } from '#shared/contract/limits.ts';
import { summarizeByExtraction } from './extractive.ts';
import { sentencesOf, stripMarks } from './sentences.ts';

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

describe('extractive summary', () => {
  const summary = summarizeByExtraction(REPORT);
  it('quotes sentences of the prose, in their order, without marks', () => {
    const places = sentencesOf(summary, 'en').map((sentence) =>
      stripMarks(REPORT.replaceAll('\n', ' ')).indexOf(sentence),
    );
    assert.ok(places.length >= 3 && places.length <= 6);
    assert.ok(
      places.every((place) => place >= 0),
      summary,
    );
    assert.deepEqual(
      places,
      [...places].sort((a, b) => a - b),
    );
  });
  it('leaves out tables, code, images, notes and side remarks', () => {
    for (const outside of ['|', 'const tide', 'chart.png', 'Measured in spring', '**', 'Lunch was served'])
      assert.ok(!summary.includes(outside), outside);
  });
  it('keeps to its size', () => {
    const long = Array.from(
      { length: 3000 },
      (_, index) =>
        `Sentence ${index} tells of the river ${index % 7}, the bridge ${index % 11} and the mill ${index % 13} in some detail.`,
    ).join(' ');
    const short = summarizeByExtraction(long);
    assert.ok(short.length <= MODEL_LIMITS.summaryUnits + 50 && short.length > 100);
  });
  it('gives a short text itself', () =>
    assert.equal(
      summarizeByExtraction('## Note\n\nDr. Smith is *out*. Call back.'),
      'Note. Dr. Smith is out. Call back.',
    ));
  it('gives nothing for a picture', () => assert.equal(summarizeByExtraction('![x](y.png)'), ''));
  it('keeps redaction markers', () =>
    assert.equal(summarizeByExtraction('Ask <PERSON> at <EMAIL>.'), 'Ask <PERSON> at <EMAIL>.'));
});

describe('sentences', () => {
  for (const [text, expected] of [
    ['Mr. Jones left. He ran.', ['Mr. Jones left.', 'He ran.']],
    ['Version 3.2 is out! Is it?', ['Version 3.2 is out!', 'Is it?']],
    ['Das ist gut. Es bleibt.', ['Das ist gut.', 'Es bleibt.']],
  ] as const)
    it(text, () => assert.deepEqual(sentencesOf(text, 'en'), expected));
});
