// Requests that a caller with a valid key may send to keep the event loop of a gateway busy.
import { randomBytes } from 'node:crypto';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import { BOUNDARY, parse, send, sendParts } from '../harness/client.ts';
import type { GatewayReady } from './gateway-process.ts';

const BYTES = REQUEST_LIMITS.optionsBytes - 1_000;
const MiB = 1024 * 1024;
const members = (count: number, name: (index: number) => string, value: unknown): Record<string, unknown> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [name(index), value]));
const list = <T>(count: number, item: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => item(i));
const nested = (depth: number, wide: number): unknown =>
  depth === 0 ? 0 : list(depth === 1 ? wide : 1, () => nested(depth - 1, wide));

type Send = (gateway: GatewayReady) => Promise<unknown>;
const html = '<p>text';
const withOptions =
  (options: string | object): Send =>
  (gateway) =>
    parse(gateway, { file: html, fileName: 'a.html', options });
const withSchema = (schema: object): Send => withOptions({ formats: [{ type: 'json', schema }] });
const get =
  (path: string, headers: Record<string, string> = {}): Send =>
  (gateway) =>
    send(gateway, { method: 'GET', path, headers });

const OPTIONS: Readonly<Record<string, string | object>> = {
  '20,000 unknown fields': members(20_000, (index) => `f${index}`, 1),
  '4,000 unknown fields of 60 characters': members(4_000, (index) => `${'onlyMainConten'.repeat(4)}${index}`, 1),
  '20,000 unknown fields near a name': members(14_000, (index) => `timeou${index}`, 1),
  '18,000 unsupported options': `{${list(18_000, () => '"mobile":true').join(',')}}`,
  '10,000 unsupported formats': { formats: list(12_000, () => 'screenshot') },
  'a long near miss of an enum value': { proxy: 'basic'.repeat(50_000) },
  '60,000 items of formats': { formats: list(60_000, (index) => index % 10) },
  '60,000 selectors': { includeTags: list(60_000, () => 'p') },
  'long selectors': { includeTags: list(190, () => 'a>'.repeat(249)) },
  '10,000 parsers': { parsers: list(10_000, () => ({ type: 'pdf', x: 1 })) },
  '20,000 headers': { headers: members(16_000, (index) => `h${index}`, 1) },
  'wide and deep lists': { formats: nested(60, 100_000) },
  'a deep object': `{"headers":${'{"a":'.repeat(60)}1${'}'.repeat(60)}}`,
  '250 KB of opening brackets': '['.repeat(BYTES),
  '250 KB of line feeds': '\n'.repeat(BYTES),
  '250 KB of quotes': '"'.repeat(BYTES),
  '250 KB of escapes': `{"a":"${'\\u0041'.repeat(40_000)}`,
  '120,000 numbers and a fault at the end': `{"formats":[${'1,'.repeat(120_000)}x]}`,
  '40,000 members and a fault at the end': `{${list(20_000, (index) => `"k${index}":1`).join(',')},}`,
  'spaces before a fault': `{"a":1${' '.repeat(BYTES)}x`,
  'long page ranges': { parsers: [{ type: 'pdf', pages: list(250, (index) => `${index}-`).join(',') }] },
  'long languages': { language: 'eng+'.repeat(250) },
};

const SCHEMAS: Readonly<Record<string, object>> = {
  'an enum of 19,000 objects': {
    $schema: 'http://json-schema.org/draft-07/schema#',
    enum: list(19_000, (a) => ({ a })),
  },
  '20 lists of 900 numbers': { anyOf: list(10, () => ({ enum: list(900, (index) => index) })) },
  '9,000 properties': { properties: members(4_900, (index) => `p${index}`, { type: 'string' }) },
};

const REQUESTS: Readonly<Record<string, Send>> = {
  '/page with 60 scripts': async (gateway) => {
    const { text } = await send(gateway, { method: 'GET', path: '/' });
    const files = [...text.matchAll(/\/page\/[\w./-]+/g)].map(([path]) => path);
    for (const path of files) await send(gateway, { method: 'GET', path });
  },
  '/openapi.json': get('/openapi.json', { 'accept-encoding': 'br' }),
  '/metrics': get('/metrics', { 'accept-encoding': 'gzip' }),
  'a long Accept header': get('/v2/parse/formats', { accept: `${'a/b;q=0.1,'.repeat(1_400)}text/markdown` }),
  'an Accept header at the limit': (gateway) =>
    parse(gateway, {
      file: html,
      fileName: 'a.html',
      headers: { accept: 'a/b,'.repeat(240), 'accept-encoding': 'a,'.repeat(490) },
    }),
  '12 KB of cookies': get('/v2/parse/formats', { cookie: 'a=b; '.repeat(2_400) }),
  'a long path': get(`/${'a/'.repeat(6_000)}`),
  '16 parts with 32 headers each': (gateway) =>
    sendParts(
      gateway,
      list(16, (index) => ({
        name: `p${index}`,
        body: 'x',
        disposition: `Content-Disposition: form-data; name="file"; filename="${'a'.repeat(900)}.html"\r\n${list(30, (line) => `X-${line}: ${'y'.repeat(400)}`).join('\r\n')}`,
      })),
    ),
  '50 MB that repeat the start of the boundary': (gateway) =>
    parse(gateway, { file: Buffer.alloc(50 * MiB, `\r\n--${BOUNDARY.slice(0, -1)}`), fileName: 'a.html' }),
  '50 MB of random bytes': (gateway) => parse(gateway, { file: randomBytes(50 * MiB), fileName: 'a.html' }),
  'a part in windows-1252 of 250 KB': (gateway) =>
    sendParts(gateway, [
      {
        name: 'options',
        body: `{"origin":"${'\u00e9'.repeat(100_000)}"}`,
        contentType: 'text/plain; charset=windows-1252',
      },
      { name: 'file', body: html, fileName: 'a.html' },
    ]),
  'a long part name': (gateway) => sendParts(gateway, [{ name: 'n'.repeat(12_000), body: 'x' }]),
  'a long file name': (gateway) => parse(gateway, { file: html, fileName: `${'ä'.repeat(6_000)}.html` }),
  'a field of 250 KB': (gateway) => sendParts(gateway, [{ name: 'formats', body: 'x'.repeat(250_000) }]),
  'a response of 64 MB': (gateway) => parse(gateway, { file: html, fileName: 'large.html' }),
  'a response of 64 MB, compressed': (gateway) =>
    parse(gateway, { file: html, fileName: 'large.html', headers: { 'accept-encoding': 'br' } }),
  'a response of 64 MB, as Markdown': (gateway) =>
    parse(gateway, { file: html, fileName: 'large.html', headers: { accept: 'text/markdown' } }),
  'a response of 64 MB, as events': (gateway) =>
    parse(gateway, { file: html, fileName: 'large.html', headers: { accept: 'text/event-stream' } }),
  'PUT /process with 64 MB': (gateway) =>
    send(gateway, { method: 'PUT', path: '/process', body: html, headers: { 'x-filename': 'large.html' } }),
  'PUT /process with 12 KB of options': (gateway) =>
    send(gateway, {
      method: 'PUT',
      path: '/process',
      body: html,
      headers: { 'x-filename': 'a.html', 'x-parse-options': JSON.stringify(members(1_000, (index) => `f${index}`, 1)) },
    }),
};

/** By what is hostile about them. */
export const HOSTILE_REQUESTS: Readonly<Record<string, Send>> = {
  ...Object.fromEntries(Object.entries(OPTIONS).map(([name, options]) => [`options: ${name}`, withOptions(options)])),
  ...Object.fromEntries(Object.entries(SCHEMAS).map(([name, schema]) => [`schema: ${name}`, withSchema(schema)])),
  ...REQUESTS,
};
