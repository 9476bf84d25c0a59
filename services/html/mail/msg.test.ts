// Checks Outlook messages: people, bodies in HTML, RTF and text, charsets, pictures, embedded messages, attachments and damaged files.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RenderOptions } from '#shared/contract/jobs.ts';
import { renderRecord } from '#shared/document/render.ts';
import { compressedRtf, type MsgContent, msg } from '#test/harness/documents/msg.ts';
import { convertMail } from './mail.ts';
import { decompressRtf, readEncapsulated } from './rtf.ts';

const OPTIONS: RenderOptions = {
  fields: ['markdown'],
  includeTags: [],
  excludeTags: [],
  onlyMainContent: true,
  blockAds: true,
  removeBase64Images: true,
  pdf: { mode: 'auto', pages: false, blocks: false, pageMarkers: false },
};
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

function convert(content: MsgContent | Buffer, options: Partial<RenderOptions> = {}) {
  const given = { ...OPTIONS, ...options };
  const bytes = Buffer.isBuffer(content) ? content : msg(content);
  const { fields, metadata, warnings } = renderRecord(
    convertMail({ bytes, fileName: 'a.msg', extension: '.msg' }, given),
    given,
  );
  return { ...fields, metadata, warnings };
}

const person = (kind: number, name: string, address: string): MsgContent => ({
  properties: { '0C150003': kind, '3001001F': name, '39FE001F': address },
});

test('reads the people, the date and the text of a message', () => {
  const { markdown, metadata } = convert({
    properties: {
      '0037001F': 'Tide tables',
      '0042001F': 'Ada Bø',
      '5D02001F': 'ada@x.example',
      '00390040': new Date('2024-05-06T05:08:09Z'),
      '1000001F': 'Hello 日本,\r\n\r\n> When?\r\n\r\nAt noon.\r\n',
    },
    recipients: [
      person(1, "'Karl'", 'karl@x.example'),
      person(2, 'Kim', '/O=EX/CN=KIM'),
      person(3, 'Hidden', 'h@x.example'),
    ],
  });
  assert.equal(
    markdown,
    '# Tide tables\n\n**From:** Ada Bø \\<ada@x.example>\\\n**To:** Karl \\<karl@x.example>\\\n**Cc:** Kim\\\n**Date:** Mon, 06 May 2024 05:08:09 GMT\n\nHello 日本,\n\n> When?\n\nAt noon.',
  );
  assert.deepEqual(metadata, {
    title: 'Tide tables',
    author: 'Ada Bø',
    from: ['Ada Bø <ada@x.example>'],
    to: ['Karl <karl@x.example>'],
    cc: ['Kim'],
    publishedTime: '2024-05-06T05:08:09.000Z',
  });
});

const ENCAPSULATED = `{\\rtf1\\ansi\\ansicpg1252\\fromhtml1 \\deff0{\\fonttbl{\\f0\\fswiss\\fcharset0 Arial;}{\\f1\\fcharset204 Arial;}}{\\colortbl;\\red0\\green0\\blue0;}
{\\*\\generator Riched20;}\\uc1\\pard\\plain\\htmlrtf \\f0\\fs20\\htmlrtf0
{\\*\\htmltag64 <html>}{\\*\\htmltag96 <body>}{\\*\\htmltag64 <p>}\\htmlrtf {\\htmlrtf0 bl\\'e5b\\'e6r {\\*\\htmltag84 <b>}\\htmlrtf {\\b\\htmlrtf0 bold\\htmlrtf }\\htmlrtf0{\\*\\htmltag92 </b>}{\\f1 \\'cc\\'e8\\'f0} \\u26085?\\u26412? \\{x\\} {\\*\\htmltag84 &nbsp;}\\rquote\\htmlrtf\\par}\\htmlrtf0{\\*\\htmltag72 </p>}{\\*\\mhtmltag64 <ignored>}{\\*\\htmltag104 </body>}{\\*\\htmltag58 </html>}}`;

test('reads the HTML that an RTF body encapsulates', () => {
  const { markdown } = convert({
    properties: { '0037001F': 'R', '1000001F': 'plain', '10090102': compressedRtf(ENCAPSULATED) },
  });
  assert.equal(markdown, '# R\n\nblåbær **bold**Мир 日本 {x} ’');
});

test('reads an RTF body that was text', () => {
  const rtf = "{\\rtf1\\ansi\\ansicpg1251\\fromtext{\\fonttbl{\\f0\\fcharset204 x;}}\\f0 \\'cf\\'f0\\'e8\\par two}";
  assert.equal(convert({ properties: { '10090102': compressedRtf(rtf) } }).markdown, 'При\\\ntwo');
});

test('decompresses references to the dictionary (the example of MS-OXRTFCP, 3.1)', () => {
  const bytes = Buffer.from(
    '2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0',
    'hex',
  );
  assert.equal(decompressRtf(bytes), '{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n');
  assert.equal(decompressRtf(Buffer.from('short')), '');
});

test('prefers the HTML body, decodes it by its code page, and shows its pictures', () => {
  const content: MsgContent = {
    properties: {
      '3FDE0003': 1251,
      '10130102': Buffer.concat([
        Buffer.from('<p>'),
        Buffer.from([0xcc, 0xe8, 0xf0]),
        Buffer.from(' <img src="cid:a1" alt="Logo"></p>'),
      ]),
      '1000001F': 'plain',
    },
    attachments: [
      { properties: { '3707001F': 'logo.png', '3712001F': 'a1', '370E001F': 'image/png', '37010102': PIXEL } },
      { properties: { '3707001F': 'tides.pdf', '37010102': Buffer.alloc(5_000, 1) } },
    ],
  };
  const list = '\n\n## Attachments\n\n- tides.pdf (application/octet-stream, 5.0 KB)';
  assert.equal(convert(content).markdown, `Мир ![Logo]()${list}`);
  assert.match(
    convert(content, { removeBase64Images: false }).markdown ?? '',
    /!\[Logo\]\(data:image\/png;base64,iVBOR/,
  );
});

test('reads strings that are not Unicode by the code page of the message', () => {
  const { markdown } = convert({
    properties: { '3FFD0003': 1251, '0037001E': '\xcc\xe8\xf0', '1000001E': '\xcf\xf0\xe8' },
  });
  assert.equal(markdown, '# Мир\n\nПри');
});

test('shows embedded messages, and lists them below the depth limit', () => {
  const nest = (depth: number): MsgContent => ({
    properties: { '0037001F': `Level ${depth}`, '1000001F': `body ${depth}` },
    ...(depth === 0
      ? {}
      : { attachments: [{ properties: { '37050003': 5, '3001001F': 'inner', '3701000D': nest(depth - 1) } }] }),
  });
  assert.equal(
    convert(nest(2)).markdown,
    '# Level 2\n\nbody 2\n\n---\n\n## Level 1\n\nbody 1\n\n---\n\n### Level 0\n\nbody 0',
  );
  assert.match(convert(nest(20)).markdown ?? '', /- inner \(application\/vnd\.ms-outlook, 0 bytes\)$/);
});

test('reads the content of a signed message', () => {
  const data = Buffer.from(
    'Content-Type: multipart/signed; boundary=b\r\n\r\n--b\r\n\r\nsigned words\r\n--b\r\nContent-Type: application/pkcs7-signature\r\n\r\nx\r\n--b--',
  );
  const attachments = [{ properties: { '3707001F': 'smime.p7m', '37010102': data } }];
  const properties = { '001A001F': 'IPM.Note.SMIME.MultipartSigned', '0037001F': 'S' };
  assert.equal(convert({ properties, attachments }).markdown, '# S\n\nsigned words');
});

test('refuses a container that holds no message', () => {
  const file = msg({ properties: { '0037001F': 'x' } });
  const name = Buffer.from('__properties', 'utf16le');
  for (let at = file.indexOf(name); at >= 0; at = file.indexOf(name)) file.fill('x', at, at + 4);
  assert.throws(() => convert(file), { code: 'UNSUPPORTED_FILE_TYPE', status: 400 });
  assert.throws(() => convert(Buffer.alloc(100)), { code: 'DOCUMENT_CORRUPT' });
});

test('answers every damaged message, also with loops in its directory and its chains', () => {
  const file = msg({
    properties: { '0037001F': 'x', '1000001F': 'words '.repeat(2_000), '10090102': compressedRtf(ENCAPSULATED) },
    recipients: [person(1, 'a', 'a@x.example')],
    attachments: [{ properties: { '3707001F': 'a', '3701000D': { properties: { '0037001F': 'inner' } } } }],
  });
  let state = 7;
  const random = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
  for (let round = 0; round < 600; round++) {
    const damaged = Buffer.from(file);
    for (let changes = 1 + random(6); changes > 0; changes--)
      damaged.writeUInt32LE(random(3) === 0 ? random(0xffffff) : random(40), random(damaged.length / 4) * 4);
    try {
      convert(random(8) === 0 ? damaged.subarray(0, random(damaged.length)) : damaged);
    } catch (error) {
      assert.match(String((error as { code?: string }).code), /^(?:DOCUMENT_|UNSUPPORTED_FILE_TYPE)/);
    }
  }
});

test('reads hostile RTF in linear time, and refuses a size above the limit', () => {
  const bomb = Buffer.alloc(16);
  bomb.writeUInt32LE(0xffffffff, 4);
  bomb.writeUInt32LE(0x75465a4c, 8);
  assert.throws(() => decompressRtf(bomb), { code: 'DOCUMENT_TOO_COMPLEX' });
  for (const piece of ['{', '}', '\\', "\\'e5", '\\u1', '{\\*\\htmltag <b>}', '\\htmlrtf', '\\uc9 \\u1 '])
    assert.equal(typeof readEncapsulated(`{\\rtf1\\fromhtml1 ${piece.repeat(300_000)}`).text, 'string');
});
