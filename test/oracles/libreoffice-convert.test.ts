// Holds our native office readers to each other: a document that LibreOffice carried over into another format must still say the same words here.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { after, describe, test } from 'node:test';
import { convertWithOptions } from 'libreoffice-convert';
import { closeLibreOffice } from '#services/office/libreoffice/soffice.ts';
import { notedPptx } from '#test/harness/documents.ts';
import { htmlOf, outlineOf, wordsOf } from './meaning.ts';
import { officeMarkdown } from './our-way.ts';
import { variedDocx } from './varied-docx.ts';

/** Where libreoffice-convert looks on Linux. */
const INSTALLED = ['/usr/bin/libreoffice', '/usr/bin/soffice', '/opt/libreoffice/program/soffice'].some(existsSync);
const skip = INSTALLED || process.env.CI ? false : 'LibreOffice is not installed';

const carryOver = (bytes: Buffer, fileName: string, to: string) =>
  new Promise<Buffer>((resolve, reject) =>
    convertWithOptions(bytes, to, undefined, { fileName }, (error, data) => (error ? reject(error) : resolve(data))),
  );

const fixture = (path: string) => () => readFile(new URL(`../../fixtures/${path}`, import.meta.url));

interface Row {
  name: string;
  fileName: string;
  bytes: () => Buffer | Promise<Buffer>;
  to: string;
  /** What is spelled otherwise, on both sides before they are compared, with the reason. */
  spelled?: readonly [pattern: RegExp, text: string, reason: string];
}

const ROWS: readonly Row[] = [
  {
    name: 'docx/report.docx',
    fileName: 'report.docx',
    bytes: fixture('docx/report.docx'),
    to: 'odt',
    spelled: [/\$[^$]+\$/g, '', 'LibreOffice without its Math part drops formulas'],
  },
  { name: 'odt/report.odt', fileName: 'report.odt', bytes: fixture('odt/report.odt'), to: 'docx' },
  { name: 'doc/report.doc', fileName: 'report.doc', bytes: fixture('doc/report.doc'), to: 'odt' },
  { name: 'rtf/report.rtf', fileName: 'report.rtf', bytes: fixture('rtf/report.rtf'), to: 'odt' },
  {
    name: 'xlsx/counts.xlsx',
    fileName: 'counts.xlsx',
    bytes: fixture('xlsx/counts.xlsx'),
    to: 'ods',
    spelled: [
      /2024-05-06/g,
      '5/6/2024',
      'a date in the format of the place: ours is ISO, LibreOffice writes down the one of its locale',
    ],
  },
  { name: 'ods/counts.ods', fileName: 'counts.ods', bytes: fixture('ods/counts.ods'), to: 'xlsx' },
  { name: 'pptx/talk.pptx', fileName: 'talk.pptx', bytes: fixture('pptx/talk.pptx'), to: 'odp' },
  { name: 'odp/talk.odp', fileName: 'talk.odp', bytes: fixture('odp/talk.odp'), to: 'pptx' },
  { name: 'slides with notes and a hidden one', fileName: 'noted.pptx', bytes: notedPptx, to: 'odp' },
  { name: 'a varied document', fileName: 'varied.docx', bytes: () => variedDocx(3), to: 'odt' },
];

describe('a document says the same after LibreOffice carried it over', { skip }, () => {
  after(closeLibreOffice);
  for (const { name, fileName, bytes, to, spelled } of ROWS)
    test(`${name} to ${to}`, async () => {
      const file = await bytes();
      const carried = await carryOver(file, fileName, to);
      const markdowns = [await officeMarkdown(carried, `carried.${to}`), await officeMarkdown(file, fileName)];
      const [after = '', before = ''] = markdowns.map((text) =>
        htmlOf(spelled ? text.replace(spelled[0], spelled[1]) : text),
      );
      assert.ok(wordsOf(before).length > 4, 'there is something to compare');
      assert.deepEqual(wordsOf(after), wordsOf(before), spelled?.[2]);
      assert.deepEqual(outlineOf(after), outlineOf(before));
    });
});
