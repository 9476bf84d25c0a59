// Checks mail messages that were written by hand from the RFCs: headers, charsets, bodies, quotes, reports, signatures and hostile files.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { RenderOptions } from '#shared/contract/jobs.ts';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { renderRecord } from '#shared/document/render.ts';
import { convertMail } from './mail.ts';

const OPTIONS: RenderOptions = {
  fields: ['markdown', 'html', 'links', 'images'],
  includeTags: [],
  excludeTags: [],
  onlyMainContent: true,
  blockAds: true,
  removeBase64Images: true,
  pdf: { mode: 'auto', pages: false, blocks: false, pageMarkers: false },
};
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

function convert(message: string | Buffer, options: Partial<RenderOptions> = {}) {
  const bytes = typeof message === 'string' ? Buffer.from(message.replace(/\r?\n/g, '\r\n'), 'latin1') : message;
  const given = { ...OPTIONS, ...options };
  const { fields, metadata, warnings } = renderRecord(
    convertMail({ bytes, fileName: 'a.eml', extension: '.eml' }, given),
    given,
  );
  return { ...fields, metadata, warnings };
}

const utf8 = (text: string): string => Buffer.from(text).toString('latin1');
const multipart = (type: string, parts: readonly string[], boundary = 'b') =>
  `Content-Type: multipart/${type}; boundary="${boundary}"\n\n${parts.map((part) => `--${boundary}\n${part}\n`).join('')}--${boundary}--\n`;
const HTML = 'Content-Type: text/html\n\n';
const TEXT = 'Content-Type: text/plain\n\n';

const bodies: [what: string, message: string, markdown: string][] = [
  ['a message without MIME', 'Subject: Hi\n\nOne\nTwo\n', '# Hi\n\nOne\\\nTwo'],
  ['folded, unknown and duplicate fields', 'X-A: 1\nSubject: One\n two\nSubject: Other\n\nx', '# One two\n\nx'],
  [
    'encoded words: adjacent, in two charsets, divided inside a character, with a language',
    'Subject: =?utf-8?Q?bl=C3?=\n =?utf-8?Q?=A5b=C3=A6r?= =?iso-8859-1*no?q?_p=E5?= and =?UTF-8?B?5pel5pys?=\n\nx',
    '# blåbær på and 日本\n\nx',
  ],
  [
    'an ISO-2022-JP word that is divided between two words',
    'Subject: =?iso-2022-jp?B?GyRCRnxLXA==?= =?iso-2022-jp?B?OGwbKEI=?=\n\nx',
    '# 日本語\n\nx',
  ],
  ['raw Latin-1 in a header', 'Subject: bl\xe5b\xe6r\n\nx', '# blåbær\n\nx'],
  ['raw UTF-8 in a header', `Subject: ${utf8('blåbær')}\n\nx`, '# blåbær\n\nx'],
  ['what is not an encoded word', 'Subject: =?utf-8?X?abc?= =?nope\n\nx', '# =?utf-8?X?abc?= =?nope\n\nx'],
  [
    'addresses: quotes, comments, groups, routes, encoded names',
    'From: "Berg, Ada \\"A\\"" <ada@x.example>, kim@x.example (Kim (the) Second)\nTo: Crew: bo@x.example, =?utf-8?q?J=C3=B8rn?= <@relay:j@x.example>;, Undisclosed:;\nCc: a . b @ x.example\n\nx',
    '**From:** Berg, Ada "A" \\<ada@x.example>, Kim (the) Second \\<kim@x.example>\\\n**To:** Crew: bo@x.example, Jørn \\<j@x.example>, Undisclosed\\\n**Cc:** a.b@x.example\n\nx',
  ],
  ['UTF-8 that is declared as ASCII', `Content-Type: text/plain; charset=us-ascii\n\n${utf8('på øya')}`, 'på øya'],
  ['Latin-1 without a charset', 'Subject: a\n\np\xe5 \xf8ya', '# a\n\npå øya'],
  ['cp850', 'Content-Type: text/plain; charset=cp850\n\nbl\x86b', 'blåb'],
  ['UTF-7', 'Content-Type: text/plain; charset=utf-7\n\nbl+AOU-b', 'blåb'],
  [
    'quoted-printable with soft breaks',
    'Content-Transfer-Encoding: quoted-printable\nContent-Type: text/plain; charset=utf-8\n\nbl=C3=A5=\nb=C3=A6r =3D x  \n',
    'blåbær = x',
  ],
  [
    'base64 in padded pieces with other characters',
    'Content-Transfer-Encoding: BASE64\nSubject: a\n\nT25l\n!! IA==\nVHdv\n',
    '# a\n\nOne Two',
  ],
  [
    'flowed text with quotes, stuffed spaces and a signature (RFC 3676)',
    'Content-Type: text/plain; format=flowed\n\nA line that \nflows.\n\n> quoted and \n> flowed\n>> deeper\n\n >not a quote\n\n-- \nAda',
    'A line that flows.\n\n> quoted and flowed\n>\n> > deeper\n\n\\>not a quote\n\n\\--\\\nAda',
  ],
  [
    'flowed text with delsp=yes',
    'Content-Type: text/plain; format=flowed; delsp=yes\n\nzusammen \ngesetzt',
    'zusammengesetzt',
  ],
  [
    'quoted replies',
    'Subject: a\n\nOn Monday Bo wrote:\n> One\n> > Two\n\nYes',
    '# a\n\nOn Monday Bo wrote:\n\n> One\n>\n> > Two\n\nYes',
  ],
  ['HTML instead of its alternative', multipart('alternative', [`${TEXT}plain`, `${HTML}<p><b>html</b>`]), '**html**'],
  ['text if the HTML is empty', multipart('alternative', [`${TEXT}plain`, HTML]), 'plain'],
  ['layout tables of HTML', `${HTML}<table><tr><td><h2>Offer</h2><p>Buy</p></td></tr></table>`, '## Offer\n\nBuy'],
  [
    'HTML without hidden text, scripts and styles',
    `${HTML}<style>p{}</style><div style="display:none">preview</div><p>shown<script>x()</script>`,
    'shown',
  ],
  [
    'all text parts of a mixed message',
    multipart('mixed', [`${TEXT}one`, `${HTML}<p>two`, `${TEXT}three`]),
    'one\n\ntwo\n\nthree',
  ],
  [
    'attachments with names of RFC 2231, encoded words and no name',
    multipart('mixed', [
      `${TEXT}body`,
      `Content-Type: application/pdf\nContent-Disposition: attachment; filename*0*=utf-8''bl%C3%A5; filename*1*=b%C3%A6r; filename*2=" 1.pdf"\nContent-Transfer-Encoding: base64\n\nJVBERi0=`,
      'Content-Type: text/csv; name="=?iso-8859-1?q?m=E5l?=.csv"\nContent-Disposition: attachment\n\na,b',
      'Content-Type: application/ms-tnef; name=winmail.dat\n\nTNEF',
      'Content-Type: application/x-thing\n\nabc',
    ]),
    'body\n\n## Attachments\n\n- blåbær 1.pdf (application/pdf, 5 bytes)\n- mål.csv (text/csv, 3 bytes)\n- winmail.dat (application/ms-tnef, 4 bytes)\n- unnamed (application/x-thing, 3 bytes)',
  ],
  [
    'a forwarded message with its own attachment, and a digest',
    `Subject: Fwd\n${multipart('mixed', [
      `${TEXT}see below`,
      `Content-Type: message/rfc822\nContent-Disposition: attachment\n\nSubject: Inner\nFrom: bo@x.example\n${multipart('mixed', [`${TEXT}inner body`, 'Content-Type: image/png; name=a.png\n\nPNG'], 'c')}`,
      multipart('digest', ['\nSubject: Digested\n\nshort'], 'd'),
    ])}`,
    '# Fwd\n\nsee below\n\n---\n\n## Inner\n\n**From:** bo@x.example\n\ninner body\n\n### Attachments\n\n- a.png (image/png, 3 bytes)\n\n---\n\n## Digested\n\nshort',
  ],
  [
    'a read receipt (RFC 8098)',
    multipart('report; report-type=disposition-notification', [
      `${TEXT}Your message was read.`,
      'Content-Type: message/disposition-notification\n\nReporting-UA: x\nDisposition: manual-action; displayed',
      'Content-Type: text/rfc822-headers\n\nSubject: Original',
    ]),
    'Your message was read.\n\n```\nReporting-UA: x\nDisposition: manual-action; displayed\n```\n\n```\nSubject: Original\n```',
  ],
  [
    'a PGP-signed message without its signature',
    multipart('signed; protocol="application/pgp-signature"', [
      `${TEXT}signed words`,
      'Content-Type: application/pgp-signature\n\n-----BEGIN PGP SIGNATURE-----',
    ]),
    'signed words',
  ],
  [
    'a multipart without its last boundary',
    `Content-Type: multipart/mixed; boundary=b\n\n--b\n${TEXT}cut off`,
    'cut off',
  ],
  ['a multipart without any boundary', 'Content-Type: multipart/mixed\n\nplain words', 'plain words'],
  [
    'a boundary that begins like another one',
    multipart('mixed', [multipart('mixed', [`${TEXT}inner`], 'b1'), `${TEXT}outer`]),
    'inner\n\nouter',
  ],
  ['a mailbox line before the header', 'From ada@x.example Mon May  6 07:08:09 2024\nSubject: a\n\nx', '# a\n\nx'],
  ['a header without a body', 'Subject: only\nFrom: a@x.example', '# only\n\n**From:** a@x.example'],
];
for (const [what, message, markdown] of bodies)
  test(`reads ${what}`, () => {
    assert.equal(convert(message).markdown, markdown);
    assert.equal(convert(Buffer.from(message, 'latin1')).markdown, markdown, 'with line feeds only');
  });

test('the metadata has the subject, the people and the date in ISO 8601', () => {
  const { metadata } = convert(
    'Subject: S\nFrom: Ada <ada@x.example>\nTo: b@x.example, c@x.example\nDate: Mon, 6 May 2024 07:08:09 +0200 (CEST)\n\nx',
  );
  assert.deepEqual(metadata, {
    title: 'S',
    author: 'Ada',
    from: ['Ada <ada@x.example>'],
    to: ['b@x.example', 'c@x.example'],
    publishedTime: '2024-05-06T05:08:09.000Z',
  });
  const dates: [string, string | undefined][] = [
    ['6 May 24 07:08 EST', '2024-05-06T12:08:00.000Z'],
    ['Thu, 31 Dec 1998 23:59:60 GMT', '1998-12-31T23:59:59.000Z'],
    ['Mon,  6  May  2024  07:08:09  -0000', '2024-05-06T07:08:09.000Z'],
    ['yesterday', undefined],
    ['99 May 2024 07:08:09 +0000', undefined],
  ];
  for (const [date, iso] of dates) assert.equal(convert(`Date: ${date}\n\nx`).metadata.publishedTime, iso, date);
});

test('shows pictures of the message where the HTML refers to them, and lists the others', () => {
  const message = multipart('related; start="<root>"', [
    `Content-Type: image/png; name=logo.png\nContent-ID: <logo@x>\nContent-Transfer-Encoding: base64\n\n${PIXEL}`,
    `Content-ID: <root>\n${HTML}<p>Hi <img src="cid:logo%40x" alt="Logo"> <img src="cid:gone"></p>`,
    `Content-Type: image/png; name=other.png\nContent-ID: <other>\nContent-Transfer-Encoding: base64\n\n${PIXEL}`,
  ]);
  const list = `\n\n## Attachments\n\n- other.png (image/png, ${Buffer.from(PIXEL, 'base64').length} bytes)`;
  assert.equal(convert(message).markdown, `Hi ![Logo]()${list}`);
  assert.equal(
    convert(message, { removeBase64Images: false }).markdown,
    `Hi ![Logo](data:image/png;base64,${PIXEL})${list}`,
  );
});

test('reads signed S/MIME messages, and refuses encrypted ones', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parsemesh-smime-'));
  try {
    const run = (...args: string[]) =>
      execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
    run('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', 'key.pem', '-out', 'cert.pem', '-subj', '/CN=x');
    writeFileSync(join(folder, 'body'), `${TEXT}Signed words\n`.replaceAll('\n', '\r\n'));
    const sign = ['cms', '-sign', '-in', 'body', '-signer', 'cert.pem', '-inkey', 'key.pem', '-subject', 'S'];
    for (const options of [['-nodetach'], ['-nodetach', '-stream'], []])
      assert.equal(convert(run(...sign, ...options)).markdown, '# S\n\nSigned words', options.join(' '));
    run('cms', '-encrypt', '-in', 'body', '-subject', 'S', '-out', 'encrypted.eml', 'cert.pem');
    assert.throws(() => convert(readFileSync(join(folder, 'encrypted.eml'))), { code: 'DOCUMENT_ENCRYPTED' });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('refuses encrypted PGP messages, and lists an encrypted part', () => {
  const armour = '-----BEGIN PGP MESSAGE-----\n\nabc\n-----END PGP MESSAGE-----';
  const encrypted = multipart(
    'encrypted',
    [
      'Content-Type: application/pgp-encrypted\n\nVersion: 1',
      `Content-Type: application/octet-stream; name=encrypted.asc\n\n${armour}`,
    ],
    'e',
  );
  assert.throws(() => convert(encrypted), { code: 'DOCUMENT_ENCRYPTED', status: 422 });
  assert.throws(() => convert(`${TEXT}${armour}`), { code: 'DOCUMENT_ENCRYPTED' });
  assert.match(
    convert(multipart('mixed', [`${TEXT}open`, encrypted])).markdown ?? '',
    /^open\n\n## Attachments\n\n- encrypted\.asc/,
  );
});

test('refuses a file that is not a message', () => {
  for (const file of ['', 'just words', '\n\n\n', '\0\0\0'])
    assert.throws(() => convert(file), { code: 'DOCUMENT_CORRUPT', status: 422 });
});

test('reads 10,000 parts and 100 levels, and refuses more than the limits', () => {
  const parts = (count: number) =>
    `Content-Type: multipart/mixed; boundary=b\n\n${`--b\n${TEXT}word\n`.repeat(count)}--b--`;
  assert.equal(convert(parts(10_000)).markdown?.match(/word/g)?.length, 10_000);
  const nested = (levels: number) => {
    let message = `${TEXT}deep words\n`;
    for (let level = levels; level > 0; level--) message = multipart('mixed', [message], `b${level}x`);
    return message;
  };
  assert.equal(convert(nested(100)).markdown, 'deep words');
  const messages = (levels: number) =>
    `${'Subject: s\nContent-Type: message/rfc822\n\n'.repeat(levels)}Subject: last\n\ndeep words`;
  assert.match(convert(messages(5)).markdown ?? '', /###### last\n\ndeep words$/);
  assert.match(convert(messages(100)).markdown ?? '', /Attachments\n\n- s \(message\/rfc822, [\d.]+ KB\)$/);
  const refused = (message: string) =>
    assert.throws(() => convert(message), { code: 'DOCUMENT_TOO_COMPLEX', status: 422 });
  refused(parts(DOCUMENT_LIMITS.mailParts + 1));
  refused(nested(DOCUMENT_LIMITS.mailDepth + 1));
  refused(`Subject: ${'x'.repeat(10_000_000)}\n\nbody`);
  refused(`${'X-A: b\n'.repeat(500_000)}\nbody`);
  refused(`${TEXT}${'x'.repeat(DOCUMENT_LIMITS.mailTextLength + 1)}`);
});

test('reads hostile headers and boundaries in linear time', () => {
  const boundary = `Content-Type: multipart/mixed; boundary=b\n\n${'--b'.repeat(2_500_000)}`;
  assert.ok(typeof convert(boundary).markdown === 'string');
  for (const piece of ['(', ')', '"', '<', '\\', '=?utf-8?q?', '=?utf-8?q?a?= ', ', ', ':', ';', '(('])
    for (const field of ['To', 'Subject', 'Content-Type: text/plain;x', 'Date'])
      convert(`${field}: ${piece.repeat(Math.floor(500_000 / piece.length))}\n\nx`);
  convert(`${TEXT}${'>'.repeat(1_000_000)}`);
  convert(`${TEXT}${'> '.repeat(500_000)}`);
  convert(`Content-Type: text/plain; format=flowed\n\n${'a \n'.repeat(500_000)}`);
  convert(`Content-Transfer-Encoding: base64\nSubject: a\n\n${'!!!=@'.repeat(1_000_000)}`);
});
