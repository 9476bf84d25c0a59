// Checks docs/api.md, "Redaction": entities, modes, styles, and every text of the response.
import assert from 'node:assert/strict';
import { pdf } from '../harness/documents.ts';
import { type ContractCase, expectError, expectSuccess, htmlPage } from './contract-case.ts';

const TEXT =
  'Contact Maria Gonzalez at maria.gonzalez@example.com or call +1 415 555 2671. She lives in Barcelona, Spain. Her card is 4111 1111 1111 1111 and the key is AKIAIOSFODNN7EXAMPLE.';
const LETTER = htmlPage(`<main><h1>Letter</h1><p>${TEXT}</p><p>Nothing private stands here.</p></main>`);

const BY_ENTITY = {
  PERSON: 'Maria Gonzalez',
  EMAIL: 'maria.gonzalez@example.com',
  PHONE: '415 555 2671',
  LOCATION: 'Barcelona',
  FINANCIAL: '4111 1111 1111 1111',
  SECRET: 'AKIAIOSFODNN7EXAMPLE',
} as const;
type Entity = keyof typeof BY_ENTITY;
const ENTITIES = Object.keys(BY_ENTITY) as Entity[];

const entityCases = ENTITIES.map(
  (entity): ContractCase => ({
    name: `\`entities: ["${entity}"]\` redacts only this entity, with the tag \`<${entity}>\``,
    run: async (product) => {
      const { markdown = '' } = await expectSuccess(product, {
        ...LETTER,
        options: { redactPII: { entities: [entity] } },
      });
      assert.ok(!markdown.includes(BY_ENTITY[entity]), markdown);
      assert.ok(
        markdown.includes(`<${entity}>`) || markdown.includes(`\\<${entity}>`) || markdown.includes(`&lt;${entity}`),
        markdown,
      );
      for (const other of ENTITIES)
        if (other !== entity) assert.ok(markdown.includes(BY_ENTITY[other]), `${other} stays: ${markdown}`);
    },
  }),
);

const modeCases = (['accurate', 'aggressive', 'fast'] as const).map(
  (mode): ContractCase => ({
    name: `\`mode: ${mode}\` redacts an email address, a phone number, a card number and a secret`,
    run: async (product) => {
      const { markdown = '' } = await expectSuccess(product, { ...LETTER, options: { redactPII: { mode } } });
      for (const entity of ['EMAIL', 'PHONE', 'FINANCIAL', 'SECRET'] as const)
        assert.ok(!markdown.includes(BY_ENTITY[entity]), `${entity}: ${markdown}`);
      assert.match(markdown, /Nothing private stands here\./);
    },
  }),
);

export const cases: ContractCase[] = [
  ...entityCases,
  ...modeCases,
  {
    name: 'redacts nothing without `redactPII`',
    run: async (product) => {
      const data = await expectSuccess(product, LETTER);
      for (const words of Object.values(BY_ENTITY)) assert.ok(data.markdown?.includes(words), words);
      assert.equal(data.metadata.piiRedactions, undefined);
    },
  },
  {
    name: '`redactPII: true` replaces all entities by tags',
    run: async (product) => {
      const { markdown = '', metadata } = await expectSuccess(product, { ...LETTER, options: { redactPII: true } });
      for (const words of Object.values(BY_ENTITY)) assert.ok(!markdown.includes(words), `${words}: ${markdown}`);
      assert.match(markdown, /<EMAIL>/);
      assert.ok((metadata.piiRedactions?.EMAIL ?? 0) >= 1);
    },
  },
  {
    name: '`redactPII: {}` returns the same Markdown as `redactPII: true`',
    run: async (product) => {
      const [one, other] = await Promise.all(
        [true, {}].map((redactPII) => expectSuccess(product, { ...LETTER, options: { redactPII } })),
      );
      assert.equal(one?.markdown, other?.markdown);
    },
  },
  {
    name: '`replaceStyle: tag` writes `<EMAIL>`',
    run: async (product) =>
      assert.match(
        (
          await expectSuccess(product, {
            ...LETTER,
            options: { redactPII: { entities: ['EMAIL'], replaceStyle: 'tag' } },
          })
        ).markdown ?? '',
        /at <EMAIL> or/,
      ),
  },
  {
    name: '`replaceStyle: mask` replaces characters by `*`',
    run: async (product) => {
      const { markdown = '' } = await expectSuccess(product, {
        ...LETTER,
        options: { redactPII: { entities: ['EMAIL'], replaceStyle: 'mask' } },
      });
      assert.match(markdown.replaceAll('\\*', '*'), /at \*{5,} or/);
    },
  },
  {
    name: '`replaceStyle: remove` deletes the text',
    run: async (product) => {
      const { markdown = '' } = await expectSuccess(product, {
        ...LETTER,
        options: { redactPII: { entities: ['EMAIL'], replaceStyle: 'remove' } },
      });
      assert.match(markdown, /Gonzalez at +or call/);
      assert.doesNotMatch(markdown, /example\.com|<EMAIL>|\*\*\*/);
    },
  },
  {
    name: 'redacts markdown, html, links, images, summary and metadata',
    run: async (product) => {
      const upload = htmlPage(
        `<main><h1>Letter of maria.gonzalez@example.com</h1><p>${TEXT}</p><p><a href="https://example.com/u/maria.gonzalez@example.com">Profile</a><img alt="maria.gonzalez@example.com" src="https://example.com/maria.gonzalez@example.com.png"></p></main>`,
        '<title>maria.gonzalez@example.com</title><meta name="description" content="Mail maria.gonzalez@example.com"><meta name="author" content="maria.gonzalez@example.com">',
      );
      const formats = ['markdown', 'html', 'links', 'images', 'summary'];
      const data = await expectSuccess(product, {
        ...upload,
        options: { formats, redactPII: { entities: ['EMAIL'] } },
      });
      assert.doesNotMatch(JSON.stringify(data), /maria\.gonzalez@/);
      for (const format of formats) assert.ok(format in data, format);
    },
  },
  {
    name: 'redacts the file name in `metadata.sourceURL` and `metadata.url`',
    run: async (product) => {
      const { metadata } = await expectSuccess(product, {
        ...LETTER,
        fileName: 'letter of maria.gonzalez@example.com.html',
        options: { redactPII: { entities: ['EMAIL'] } },
      });
      assert.equal(metadata.url, metadata.sourceURL);
      assert.match(metadata.sourceURL, /^letter of (?:<|%3C)EMAIL(?:>|%3E)/);
    },
  },
  {
    name: 'redacts pages and blocks of a PDF',
    run: async (product) => {
      const file = await pdf([
        { title: 'Letter', lines: ['Contact maria.gonzalez@example.com', 'Nothing private stands here.'] },
      ]);
      const data = await expectSuccess(product, {
        file,
        fileName: 'letter.pdf',
        options: { redactPII: true, parsers: [{ type: 'pdf', pages: true, blocks: true }] },
      });
      assert.doesNotMatch(JSON.stringify(data), /maria\.gonzalez/);
      assert.match(data.pages?.[0]?.markdown ?? '', /<EMAIL>/);
      assert.ok(data.blocks?.[0]?.items.some((item) => item.content.includes('<EMAIL>')));
    },
  },
  {
    name: 'redacts the title of a PDF in the metadata',
    run: async (product) => {
      const file = await pdf([{ lines: ['Plain words.'] }], { title: 'For maria.gonzalez@example.com' });
      const data = await expectSuccess(product, { file, fileName: 'letter.pdf', options: { redactPII: true } });
      assert.doesNotMatch(JSON.stringify(data), /maria\.gonzalez/);
    },
  },
  ...['rawHtml', { type: 'rawHtml' }].map(
    (format): ContractCase => ({
      name: `returns 400 for redactPII with rawHtml (${JSON.stringify(format)})`,
      run: async (product) => {
        const body = await expectError(
          product,
          { ...LETTER, options: { formats: ['markdown', format], redactPII: true } },
          400,
          'BAD_REQUEST',
        );
        assert.match(body.error, /rawHtml/);
      },
    }),
  ),
  {
    name: 'accepts `redactPII: false` with rawHtml',
    run: async (product) =>
      assert.equal(
        (await expectSuccess(product, { ...LETTER, options: { formats: ['rawHtml'], redactPII: false } })).rawHtml,
        LETTER.file,
      ),
  },
  {
    name: 'redacts cells of a CSV file',
    run: async (product) => {
      const { markdown = '' } = await expectSuccess(product, {
        file: 'name,mail\nAnna,anna@example.com\nBob,bob@example.org\n',
        fileName: 'mails.csv',
        options: { redactPII: { entities: ['EMAIL'] } },
      });
      assert.equal([...markdown.matchAll(/<EMAIL>/g)].length, 2, markdown);
      assert.doesNotMatch(markdown, /@example/);
    },
  },
];
