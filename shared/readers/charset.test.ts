// Checks the detected charset and the decoded text, one row for each rule.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import iconv from 'iconv-lite';
import { decodeText, decodeToUtf8 } from './charset.ts';

const NORWEGIAN = 'Åse Ødegård bor i Tromsø og spiser blåbær på en lørdag. Været er fint – sier «hun».';
const RUSSIAN = 'Съешь же ещё этих мягких французских булок, да выпей чаю. Широкая электрификация южных губерний.';
const JAPANESE = 'これは日本語の文章です。吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。';

const cases: [
  what: string,
  bytes: Uint8Array,
  options: Parameters<typeof decodeText>[1],
  text: string,
  charset: string,
][] = [
  ['UTF-8 with a byte order mark', iconv.encode(NORWEGIAN, 'utf8', { addBOM: true }), {}, NORWEGIAN, 'utf-8'],
  ['UTF-8', Buffer.from(NORWEGIAN), {}, NORWEGIAN, 'utf-8'],
  ['UTF-16LE with a byte order mark', iconv.encode(NORWEGIAN, 'utf-16le', { addBOM: true }), {}, NORWEGIAN, 'utf-16le'],
  ['UTF-16BE without a byte order mark', iconv.encode(NORWEGIAN, 'utf-16be'), {}, NORWEGIAN, 'utf-16be'],
  [
    'by a byte order mark, which has priority over a wrong label',
    iconv.encode('é', 'utf8', { addBOM: true }),
    { charset: 'latin1' },
    'é',
    'utf-8',
  ],
  ['by a declared label', iconv.encode('Łódź', 'windows-1250'), { charset: 'CP1250' }, 'Łódź', 'windows-1250'],
  ['by a label that only iconv-lite supports', iconv.encode('é', 'cp437'), { charset: 'cp437' }, 'é', 'cp437'],
  ['UTF-8 if the label is unknown', Buffer.from('é'), { charset: 'nonsense-9' }, 'é', 'utf-8'],
  ['punctuation of windows-1252', Buffer.from([0x93, 0x92, 0x94]), {}, '“’”', 'windows-1252'],
  ['windows-1252 if only the last byte is not ASCII', Buffer.from('caf\xe9', 'latin1'), {}, 'café', 'windows-1252'],
  [
    'by a meta element',
    iconv.encode(`<meta charset=koi8-r>${RUSSIAN}`, 'koi8-r'),
    { markup: true },
    `<meta charset=koi8-r>${RUSSIAN}`,
    'koi8-r',
  ],
  [
    'by an XML declaration',
    iconv.encode('<?xml version="1.0" encoding="ISO-8859-2"?>ž', 'iso-8859-2'),
    { markup: true },
    '<?xml version="1.0" encoding="ISO-8859-2"?>ž',
    'iso-8859-2',
  ],
  [
    'UTF-8 if ASCII text declares UTF-16',
    Buffer.from('<meta charset="utf-16">é'),
    { markup: true },
    '<meta charset="utf-16">é',
    'utf-8',
  ],
  ['Russian in windows-1251 by a guess', iconv.encode(RUSSIAN, 'windows-1251'), {}, RUSSIAN, 'windows-1251'],
  ['Japanese in Shift_JIS by a guess', iconv.encode(JAPANESE, 'shift_jis'), {}, JAPANESE, 'shift_jis'],
  [
    'short Russian in KOI8-R',
    iconv.encode('Съешь же ещё мягких булок', 'koi8-r'),
    {},
    'Съешь же ещё мягких булок',
    'koi8-r',
  ],
  [
    'short Polish',
    iconv.encode('Łódź;zażółć gęślą jaźń', 'windows-1250'),
    {},
    'Łódź;zażółć gęślą jaźń',
    'windows-1250',
  ],
  ['short Greek', iconv.encode('Γειά σου Κόσμε', 'windows-1253'), {}, 'Γειά σου Κόσμε', 'windows-1253'],
  ['short Norwegian', Buffer.from('Åse Ødegård;Tromsø;7,25', 'latin1'), {}, 'Åse Ødegård;Tromsø;7,25', 'windows-1252'],
  [
    'short Chinese',
    iconv.encode('这是一个测试文件，包含中文字符', 'gb18030'),
    {},
    '这是一个测试文件，包含中文字符',
    'gb18030',
  ],
  ['an empty file', new Uint8Array(0), {}, '', 'utf-8'],
];

const LARGE = `${NORWEGIAN}日本語😀`.repeat(2_000);
const wrongUtf8 = Buffer.from(LARGE);
wrongUtf8[100_000] = 0xff;
cases.push(
  ['a large text in UTF-8', Buffer.from(LARGE), {}, LARGE, 'utf-8'],
  ['a large text in UTF-16', Buffer.from(`\ufeff${LARGE}`, 'utf16le'), {}, LARGE, 'utf-16le'],
  [
    'a large text in a charset of iconv-lite',
    iconv.encode('é'.repeat(100_000), 'cp437'),
    { charset: 'cp437' },
    'é'.repeat(100_000),
    'cp437',
  ],
  [
    'UTF-8 with a wrong byte if UTF-8 is declared',
    wrongUtf8,
    { charset: 'utf-8' },
    new TextDecoder().decode(wrongUtf8),
    'utf-8',
  ],
  [
    'UTF-8 with a wrong byte after a byte order mark',
    Buffer.concat([Buffer.from('\ufeff'), wrongUtf8]),
    {},
    new TextDecoder().decode(wrongUtf8),
    'utf-8',
  ],
);

for (const [what, bytes, options, text] of cases)
  test(`decodes in chunks: ${what}`, () => {
    const chunks = decodeToUtf8(bytes, options);
    for (const time of ['first', 'second']) assert.equal(Buffer.concat([...chunks()]).toString('utf8'), text, time);
    for (const chunk of chunks()) assert.ok(chunk.length <= 256 * 1024);
  });
for (const [what, bytes, options, text, charset] of cases)
  test(`decodes ${what}`, () => assert.deepEqual(decodeText(bytes, options), { text, charset }));
