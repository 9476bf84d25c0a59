// Tests our office readers against each other: a document that LibreOffice converts to another format must have the same words.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { convertWithOptions } from 'libreoffice-convert';
import { closeLibreOffice } from '#services/office/libreoffice/soffice.ts';
import { notedPptx } from '#test/harness/documents.ts';
import { markdownToHtml, outlineOf, wordsOf } from './html-comparison.ts';
import { type LibreOfficeListener, startLibreOfficeListener } from './libreoffice-listener.ts';
import { officeMarkdown } from './office-markdown.ts';
import { randomDocx } from './random-docx.ts';

/** The installed program, where libreoffice-convert looks for it on Linux. */
const SOFFICE = ['/usr/bin/libreoffice', '/usr/bin/soffice', '/opt/libreoffice/program/soffice'].find(existsSync);
const skip = SOFFICE !== undefined || process.env.CI ? false : 'LibreOffice is not installed';

const convertWithLibreOffice = (program: string, bytes: Buffer, fileName: string, to: string) =>
  new Promise<Buffer>((resolve, reject) =>
    convertWithOptions(bytes, to, undefined, { fileName, sofficeBinaryPaths: [program] }, (error, data) =>
      error ? reject(error) : resolve(data),
    ),
  );

const fixture = (path: string) => () => readFile(new URL(`../../fixtures/${path}`, import.meta.url));

interface Conversion {
  name: string;
  fileName: string;
  bytes: () => Buffer | Promise<Buffer>;
  to: string;
  /** A replacement in both texts before they are compared, with its reason. */
  replacement?: readonly [pattern: RegExp, text: string, reason: string];
}

const CONVERSIONS: readonly Conversion[] = [
  {
    name: 'docx/report.docx',
    fileName: 'report.docx',
    bytes: fixture('docx/report.docx'),
    to: 'odt',
    replacement: [/\$[^$]+\$/g, '', 'LibreOffice drops formulas when its Math component is not installed'],
  },
  { name: 'odt/report.odt', fileName: 'report.odt', bytes: fixture('odt/report.odt'), to: 'docx' },
  { name: 'doc/report.doc', fileName: 'report.doc', bytes: fixture('doc/report.doc'), to: 'odt' },
  { name: 'rtf/report.rtf', fileName: 'report.rtf', bytes: fixture('rtf/report.rtf'), to: 'odt' },
  {
    name: 'xlsx/counts.xlsx',
    fileName: 'counts.xlsx',
    bytes: fixture('xlsx/counts.xlsx'),
    to: 'ods',
    replacement: [
      /2024-05-06/g,
      '5/6/2024',
      'a date in the default format of the locale: we write ISO 8601, LibreOffice the format of its own locale',
    ],
  },
  { name: 'ods/counts.ods', fileName: 'counts.ods', bytes: fixture('ods/counts.ods'), to: 'xlsx' },
  { name: 'pptx/talk.pptx', fileName: 'talk.pptx', bytes: fixture('pptx/talk.pptx'), to: 'odp' },
  { name: 'odp/talk.odp', fileName: 'talk.odp', bytes: fixture('odp/talk.odp'), to: 'pptx' },
  { name: 'slides with notes and a hidden slide', fileName: 'noted.pptx', bytes: notedPptx, to: 'odp' },
  ...(
    [
      ['odt/report.odt', ['fodt', 'ott']],
      ['ods/counts.ods', ['fods', 'ots']],
      ['odp/talk.odp', ['fodp', 'otp']],
      ['doc/report.doc', ['dotx']],
      ['xls/counts.xls', ['xltx', 'xlt']],
      ['odp/talk.odp', ['potx', 'ppsx']],
    ] as const
  ).flatMap(([path, targets]) =>
    targets.map(
      (to): Conversion => ({ name: path, fileName: path.slice(path.indexOf('/') + 1), bytes: fixture(path), to }),
    ),
  ),
  { name: 'a random document', fileName: 'random.docx', bytes: () => randomDocx(3), to: 'odt' },
];

describe('documents that LibreOffice converts', { skip }, () => {
  let listener: LibreOfficeListener | undefined;
  before(async () => {
    assert.ok(SOFFICE, 'LibreOffice is installed');
    listener = await startLibreOfficeListener(SOFFICE);
  });
  after(async () => {
    await listener?.close();
    await closeLibreOffice();
  });
  for (const { name, fileName, bytes, to, replacement } of CONVERSIONS)
    test(`${name} has the same words and outline after a conversion to ${to}`, async () => {
      const file = await bytes();
      const converted = await convertWithLibreOffice(listener?.program ?? '', file, fileName, to);
      const markdowns = [await officeMarkdown(converted, `converted.${to}`), await officeMarkdown(file, fileName)];
      const [after = '', before = ''] = markdowns.map((text) =>
        markdownToHtml(replacement ? text.replace(replacement[0], replacement[1]) : text),
      );
      assert.ok(wordsOf(before).length > 4, 'the document must have words to compare');
      assert.deepEqual(wordsOf(after), wordsOf(before), replacement?.[2]);
      assert.deepEqual(outlineOf(after), outlineOf(before));
    });
});
