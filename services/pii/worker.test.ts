// Tests redaction of complete records: all fields hide the same fragments, the structure is unchanged, and spans are correct.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DocumentMetadata, JobContext, RecordReport, RedactJob } from '#shared/contract/jobs.ts';
import { PII_LIMITS } from '#shared/contract/limits.ts';
import type { RedactOptions } from '#shared/contract/options-schema.ts';
import type { Block, RecordFields } from '#shared/contract/response.ts';
import { handle } from './worker.ts';

const CONTEXT: JobContext = {
  signal: new AbortController().signal,
  deadline: Date.now() + 600_000,
  requestId: 'request-1',
  volatile: true,
  call: () => Promise.reject(new Error('no calls')),
};

interface Redacted {
  fields: RecordFields;
  metadata: DocumentMetadata;
  warnings: string[];
}

async function redact(
  fields: RecordFields,
  options: Partial<RedactOptions> = {},
  metadata: DocumentMetadata = {},
  warnings: string[] = [],
): Promise<Redacted> {
  const job: RedactJob = {
    kind: 'redact',
    requestId: 'r',
    options: { mode: 'accurate', replaceStyle: 'tag', ...options },
    metadata,
    warnings,
  };
  const output = await handle(job, Buffer.from(JSON.stringify(fields)), CONTEXT);
  const report = output.reply as RecordReport;
  return {
    fields: JSON.parse(String(output.payload)) as RecordFields,
    metadata: report.metadata,
    warnings: report.warnings,
  };
}

const markdownOf = async (markdown: string, options: Partial<RedactOptions> = {}): Promise<string> =>
  (await redact({ markdown }, options)).fields.markdown ?? '';

describe('Markdown', () => {
  for (const [name, before, after] of [
    ['a mail address in plain text', 'Write to jane.doe@example.org today.', 'Write to <EMAIL> today.'],
    ['an address with an escaped underscore', 'Write to jane\\_doe@example.org.', 'Write to <EMAIL>.'],
    ['an address in emphasis', 'Write to **jane@example.org** today.', 'Write to **<EMAIL>** today.'],
    ['a name with emphasis inside', 'Ask Mr. **Boris** Johnson now.', 'Ask Mr. **<PERSON>** now.'],
    ['text of a heading', '# Contact: jane@example.org', '# Contact: <EMAIL>'],
    ['text of list items', '1. jane@example.org\n- [ ] joe@example.org', '1. <EMAIL>\n- [ ] <EMAIL>'],
    ['text of a quote', '> jane@example.org wrote', '> <EMAIL> wrote'],
    ['text of a code span', 'Run `login jane@example.org` first.', 'Run `login <EMAIL>` first.'],
    ['text of a code block', '```text\nuser jane@example.org\n```', '```text\nuser <EMAIL>\n```'],
    ['an autolink', 'Mail <jane@example.org>!', 'Mail <EMAIL>!'],
    [
      'a mailto link',
      '[Write](mailto:jane@example.org?subject=x) waits',
      '[Write](mailto:%3CEMAIL%3E?subject=x) waits',
    ],
    [
      'a percent-encoded link',
      '[us](https://x.example/?u=jane%40example.org&v=1 "t")',
      '[us](https://x.example/?u=%3CEMAIL%3E&v=1 "t")',
    ],
    ['a tel link', '[call](tel:+12125550108)', '[call](tel:%3CPHONE%3E)'],
    ['the description of an image', '![portrait of Dr. Jane Doe](jane.png)', '![portrait of Dr. <PERSON>](jane.png)'],
    [
      'cells of a table',
      '| Name | Mail |\n| --- | --- |\n| Yuki Tanaka | y\\_t@example.org |',
      '| Name | Mail |\n| --- | --- |\n| <PERSON> | <EMAIL> |',
    ],
    [
      'a number in a column with the heading "Account number"',
      '| Item | Account number |\n| --- | --- |\n| 87654321 | 12345678 |',
      '| Item | Account number |\n| --- | --- |\n| 87654321 | <FINANCIAL> |',
    ],
    [
      'text and attributes of an HTML table',
      '<table><tr><td rowspan="2"><a href="mailto:j@example.org" title="j@example.org">j@example.org</a></td></tr></table>',
      '<table><tr><td rowspan="2"><a href="mailto:%3CEMAIL%3E" title="&lt;EMAIL&gt;"><EMAIL></a></td></tr></table>',
    ],
    ['the language of a code block', '```jane@example.org\nx\n```', '```<EMAIL>\nx\n```'],
    ['text after a fence on one line', '``` a ``` jane@example.org', '``` a ``` <EMAIL>'],
    ['a comment', 'a <!-- jane@example.org --> b', 'a <!-- &lt;EMAIL&gt; --> b'],
    ['emphasis before a tag', 'a _4111 1111 1111 1111_<br>b', 'a _<FINANCIAL>_<br>b'],
    ['text after a long line of dashes', `${'-'.repeat(9_000)} jane@example.org`, `${'-'.repeat(9_000)} <EMAIL>`],
    [
      'the text after a page marker',
      'a\n\n---\n\n<!-- page 2 -->\n\nj@example.org',
      'a\n\n---\n\n<!-- page 2 -->\n\n<EMAIL>',
    ],
  ] as const)
    it(`redacts ${name}`, async () => assert.equal(await markdownOf(before), after));

  it('leaves text without personal data unchanged', async () => {
    const text =
      '# Notes\n\n* Fixed `parse()` ([#1042](https://git.example.org/acme/app/issues/1042))\n* Commit 9fceb02d0ae598e95dc970b74767f19372d61af8\n\n| a | b |\n|---|---|\n| 48,211,334 | 2024-02-29 |\n\nPart No. 857-8169-80, ISBN 978-0-179-48896-9.\n';
    assert.equal(await markdownOf(text), text);
    assert.equal(await markdownOf(text, { mode: 'fast' }), text);
  });

  it('redacts every occurrence of a name that was found once', async () => {
    const text = await markdownOf('My name is Zerfina Quellbart.\n\nPaid by Zerfina Quellbart, as agreed.');
    assert.equal(text, 'My name is <PERSON>.\n\nPaid by <PERSON>, as agreed.');
  });

  it('writes one marker for each line of an address, and one for a key block of several lines', async () => {
    assert.equal(
      await markdownOf('Home address: 12 Harbour Street\nBristol BS1 4QA\nUnited Kingdom'),
      'Home address: <LOCATION>\n<LOCATION>\n<LOCATION>',
    );
    const dashes = '-'.repeat(5);
    const key = `${dashes}BEGIN PRIVATE KEY${dashes}\n${'aB3+'.repeat(16)}\n${dashes}END PRIVATE KEY${dashes}`;
    assert.equal(await markdownOf(`\`\`\`\n${key}\n\`\`\``), '```\n<SECRET>\n```');
  });
});

describe('options', () => {
  const text = 'Jane (jane@example.org) pays with 4111 1111 1111 1111.';
  it('replaces each character by * with replaceStyle mask', async () =>
    assert.equal(
      await markdownOf(text, { replaceStyle: 'mask', entities: ['EMAIL', 'FINANCIAL'] }),
      `Jane (${'*'.repeat(16)}) pays with ${'*'.repeat(19)}.`,
    ));
  it('deletes the fragment with replaceStyle remove', async () =>
    assert.equal(
      await markdownOf(text, { replaceStyle: 'remove', entities: ['EMAIL'] }),
      'Jane () pays with 4111 1111 1111 1111.',
    ));
  it('redacts only the listed entities', async () =>
    assert.equal(
      await markdownOf(text, { entities: ['FINANCIAL'] }),
      'Jane (jane@example.org) pays with <FINANCIAL>.',
    ));
  it('redacts nothing when no entity is listed', async () =>
    assert.equal(await markdownOf(text, { entities: [] }), text));
  it('counts redactions by entity', async () =>
    assert.deepEqual(
      (await redact({ markdown: 'a@b.example, c@d.example, 4111111111111111' }, {})).metadata.piiRedactions,
      { EMAIL: 2, FINANCIAL: 1 },
    ));
});

describe('a record with all fields', () => {
  it('redacts in every field a name that one field reveals', async () => {
    const { fields, metadata, warnings } = await redact(
      {
        markdown: 'Dr. Zerfina Quellbart\n\n[site](https://x.example/people/zerfina-quellbart)',
        html: '<p title="Zerfina Quellbart">Zerfina <b>Quellbart</b> &amp; co</p><img src="/zerfina%20quellbart.png" alt="Quellbart, see Zerfina Quellbart">',
        links: ['https://x.example/people/zerfina-quellbart', 'mailto:z@x.example'],
        images: ['https://x.example/zerfina_quellbart.png'],
        pages: [{ pageNumber: 1, markdown: 'Zerfina  Quellbart' }],
      },
      {},
      {
        title: 'CV of Zerfina Quellbart',
        author: 'Ada Nobody-Knows',
        keywords: ['Zerfina Quellbart', 'cv'],
        contentType: 'text/html',
        numPages: 1,
        sourceURL: 'zerfina quellbart.html',
        ogImage: 'https://x.example/zerfina-quellbart.png',
      },
      ['Image of Zerfina Quellbart left out'],
    );
    const everything = JSON.stringify([fields, metadata, warnings]);
    assert.doesNotMatch(everything, /zerfina|quellbart/i);
    assert.doesNotMatch(everything, /Nobody-Knows|z@x/);
    assert.equal(
      fields.html,
      '<p title="&lt;PERSON&gt;">&lt;PERSON&gt; <b></b> &amp; co</p><img src="/%3CPERSON%3E.png" alt="&lt;PERSON&gt;, see &lt;PERSON&gt;">',
    );
    assert.equal(fields.markdown, 'Dr. <PERSON>\n\n[site](https://x.example/people/%3CPERSON%3E)');
    assert.deepEqual(fields.pages, [{ pageNumber: 1, markdown: '<PERSON>' }]);
    assert.equal(metadata.contentType, 'text/html');
    assert.equal(metadata.numPages, 1);
  });

  it('copies null fields and adds no field', async () =>
    assert.deepEqual((await redact({ html: null, pages: null })).fields, { html: null, pages: null }));
});

describe('blocks', () => {
  const block = (id: string, content: string, markdownSpan: [number, number] | null): Block => ({
    id,
    type: 'text',
    label: null,
    content,
    bbox: null,
    readingOrder: 0,
    markdownSpan,
    source: null,
    confidence: { layout: null, ocr: null },
  });

  for (const replaceStyle of ['tag', 'mask', 'remove'] as const)
    it(`keeps each span on the content of its block with replaceStyle ${replaceStyle}`, async () => {
      const parts = ['# Über 😀 jane@example.org', 'Card 4111 1111 1111 1111, mail bob@example.org.', 'Nothing here.'];
      const markdown = parts.join('\n\n');
      const items = parts.map((content, index) => {
        const start = markdown.indexOf(content);
        return block(`p1.b${index}`, content, [start, start + content.length]);
      });
      items.push(block('p1.b3', 'Page of jane@example.org', null), block('p1.b4', 'not at its span', [0, 15]));
      const { fields } = await redact(
        { markdown, blocks: [{ pageNumber: 1, width: null, height: null, status: 'ok', items }] },
        { replaceStyle },
      );
      const redacted = fields.blocks?.[0]?.items ?? [];
      assert.equal(redacted.length, 5);
      for (const item of redacted.slice(0, 3)) {
        assert.ok(item.markdownSpan);
        assert.equal(fields.markdown?.slice(...item.markdownSpan), item.content);
      }
      assert.ok(redacted[0]?.content.startsWith('# Über 😀 '));
      assert.equal(redacted[2]?.content, 'Nothing here.');
      assert.equal(redacted[3]?.markdownSpan, null);
      assert.equal(redacted[4]?.markdownSpan, null);
      assert.doesNotMatch(JSON.stringify(fields), /jane|4111|bob/);
    });

  it('puts the marker of a fragment that spans two blocks into the first block', async () => {
    const markdown = 'Mail jane@example.org now.';
    const items = [block('p1.b0', 'Mail jane@exa', [0, 13]), block('p1.b1', 'mple.org now.', [13, 26])];
    const { fields } = await redact({
      markdown,
      blocks: [{ pageNumber: 1, width: 1, height: 1, status: 'ok', items }],
    });
    assert.deepEqual(
      fields.blocks?.[0]?.items.map((item) => [item.content, item.markdownSpan]),
      [
        ['Mail <EMAIL>', [0, 12]],
        [' now.', [12, 17]],
      ],
    );
  });
});

describe('a long document', () => {
  it('is redacted to its end, with a warning that the model read only its start', async () => {
    const line = 'The ledger of the harbour was kept in order by the clerks of that year.\n\n';
    const markdown = `${line.repeat(Math.ceil(PII_LIMITS.modelUnits / line.length) + 1000)}My mail is last@example.org, said Maria Gonzalez of Berlin.`;
    const { fields, warnings } = await redact({ markdown });
    assert.ok(
      fields.markdown?.endsWith('My mail is <EMAIL>, said <PERSON> of <LOCATION>.'),
      fields.markdown?.slice(-80),
    );
    assert.match(warnings[0] ?? '', /without the model/);
  });
});

describe('an aborted job', () => {
  it('throws REQUEST_TIMEOUT and returns no record', async () => {
    const controller = new AbortController();
    controller.abort();
    const job: RedactJob = {
      kind: 'redact',
      requestId: 'r',
      options: { mode: 'accurate', replaceStyle: 'tag' },
      metadata: {},
      warnings: [],
    };
    const markdown = Array.from({ length: 200 }, (_, index) => `Paragraph ${index} of Jane Doe.`).join('\n\n');
    await assert.rejects(
      handle(job, Buffer.from(JSON.stringify({ markdown })), { ...CONTEXT, signal: controller.signal }),
      { code: 'REQUEST_TIMEOUT' },
    );
  });
});
