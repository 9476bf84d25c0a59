// Tests multipart uploads as real clients and hostile clients send them: what is accepted, and which error a rejected upload gets.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import {
  BOUNDARY,
  errorBody,
  multipart,
  type Part,
  parse,
  send,
  sendParts,
  sendRaw,
  successData,
} from '#test/harness/client.ts';
import { resultOf, until, useFakeClock } from '../testing/clock.ts';
import { startTestGateway, type TestGateway } from '../testing/harness.ts';

let gateway: TestGateway;
before(async () => {
  gateway = await startTestGateway();
});
after(() => gateway.stop());

const html = '<!doctype html><title>x</title><p>Hello';
const file: Part = { name: 'file', body: html, fileName: 'a.html', contentType: 'text/html' };
const options = (body: string | Uint8Array, contentType?: string): Part => ({
  name: 'options',
  body,
  ...(contentType ? { contentType } : {}),
});
const job = (data: { metadata: Record<string, unknown> }) => JSON.parse(String(data.metadata.job));

test('accepts the parts in any order, and options with or without a content type or as a Blob', async () => {
  const wanted = JSON.stringify({ formats: ['html'], onlyMainContent: false, origin: 'Zoë' });
  for (const parts of [
    [options(wanted), file],
    [file, options(wanted)],
    [options(wanted, 'application/json'), file],
    [options(wanted, 'application/json; charset=utf-8'), file],
    [file, options(wanted, 'application/json;charset=UTF-8')],
    [{ ...options(wanted, 'application/json'), fileName: 'blob' }, file],
    [options(wanted, 'application/octet-stream'), file],
  ]) {
    const data = successData(await sendParts(gateway, parts));
    assert.deepEqual(job(data).options.fields, ['html']);
    assert.equal(job(data).options.onlyMainContent, false);
  }
});

describe('returns 400 for a part that is neither `file` nor `options`:', () => {
  const rows: readonly (readonly [name: string, parts: readonly Part[], ...words: string[]])[] = [
    ['an option', [{ name: 'formats', body: 'markdown' }, file], '`formats`', `'options={"formats":["markdown"]}'`],
    ['an option after the file', [file, { name: 'timeout', body: '5000' }], '`timeout`', `'options={"timeout":5000}'`],
    ['a boolean', [{ name: 'only_main_content', body: 'false' }, file], `'options={"onlyMainContent":false}'`],
    ['a value that is invalid', [{ name: 'formats[]', body: 'text' }, file], '`formats[]`', `'options={"formats":[`],
    ['a nested option', [{ name: 'mode', body: 'ocr' }, file], `'options={"parsers":[{"type":"pdf","mode":"ocr"}]}'`],
    ['another name', [{ name: 'url', body: 'https://example.org' }, file], 'no part `url`', 'curl', '-F file=@'],
    ['no name', [{ name: '', body: 'x', disposition: 'Content-Disposition: form-data' }, file], 'no part', 'curl'],
    [
      'a file',
      [{ name: 'upload', body: html, fileName: 'a.html' }],
      '^Missing file upload',
      'the part `upload`',
      '-F file=@',
    ],
    ['a second file', [file, { name: 'upload', body: html, fileName: 'a.html' }], 'one file per request'],
    ['a hundred parts', [...Array.from({ length: 100 }, () => ({ name: 'note', body: 'x' })), file], 'no part `note`'],
    ['a long name', [{ name: 'n'.repeat(101), body: 'x' }, file], 'a part name is longer than 100 bytes'],
  ];
  for (const [name, parts, ...words] of rows)
    test(name, async () => {
      const { error } = errorBody(await sendParts(gateway, [...parts]), 400, 'BAD_REQUEST');
      for (const word of words)
        assert.ok(word.startsWith('^') ? error.startsWith(word.slice(1)) : error.includes(word), `${error}: ${word}`);
      assert.ok(error.length < 1_000);
    });

  test('the message has no content of a field that is a password', async () => {
    const parts = [{ name: 'password', body: 'swordfish' }, file];
    assert.doesNotMatch(errorBody(await sendParts(gateway, parts), 400, 'BAD_REQUEST').error, /swordfish/);
  });
});

test('returns 400 if the file is missing, empty or sent twice, or if the options are sent twice', async () => {
  for (const parts of [
    [],
    [options('{}')],
    [{ name: 'document', body: html, fileName: 'a.html' }],
    [{ name: 'file', body: html }],
    [
      {
        name: 'file',
        body: '',
        disposition: 'Content-Disposition: form-data; name="file"; filename=""',
        contentType: 'application/octet-stream',
      },
    ],
  ] satisfies Part[][])
    assert.match(errorBody(await sendParts(gateway, parts), 400, 'BAD_REQUEST').error, /^Missing file upload/);
  assert.match(errorBody(await sendParts(gateway, [{ ...file, body: '' }]), 400, 'BAD_REQUEST').error, /empty/);
  assert.match(errorBody(await sendParts(gateway, [file, file]), 400, 'BAD_REQUEST').error, /more than one `file`/);
  assert.match(
    errorBody(await sendParts(gateway, [options('{}'), options('{}'), file]), 400, 'BAD_REQUEST').error,
    /more than one `options`/,
  );
});

test('returns 400 with a message about multipart form-data if the body is not valid multipart form-data', async () => {
  const { body } = multipart([file]);
  const attempts: [string | undefined, string | Uint8Array][] = [
    [undefined, body],
    ['application/json', '{}'],
    ['multipart/form-data', body],
    ['multipart/form-data; boundary=""', body],
    ['multipart/mixed; boundary=x', body],
    ['multipart/form-data; boundary=other', body],
    [`multipart/form-data; boundary=${BOUNDARY}`, ''],
    [`multipart/form-data; boundary=${BOUNDARY}`, body.subarray(0, 20)],
    [`multipart/form-data; boundary=${BOUNDARY}`, body.subarray(0, body.length - 12)],
    [`multipart/form-data; boundary=${BOUNDARY}`, `--${BOUNDARY}\r\nbad header line\r\n\r\nx\r\n--${BOUNDARY}--\r\n`],
    [
      `multipart/form-data; boundary=${BOUNDARY}`,
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a\0.html"\r\n\r\nx\r\n--${BOUNDARY}--\r\n`,
    ],
  ];
  for (const [contentType, bytes] of attempts) {
    const answer = await send(gateway, { body: bytes, headers: contentType ? { 'content-type': contentType } : {} });
    assert.match(
      errorBody(answer, 400, 'BAD_REQUEST').error,
      /multipart form-data request is invalid/,
      `${contentType} ${String(bytes).slice(0, 60)}`,
    );
  }
  const encoded = await send(gateway, {
    body,
    headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}`, 'content-encoding': 'gzip' },
  });
  errorBody(encoded, 400, 'BAD_REQUEST');
  const base64: Part = {
    name: 'file',
    body: 'aGk=',
    disposition: 'Content-Transfer-Encoding: base64\r\nContent-Disposition: form-data; name="file"; filename="a.html"',
  };
  assert.match(errorBody(await sendParts(gateway, [base64]), 400, 'BAD_REQUEST').error, /Content-Transfer-Encoding/);
});

test('returns 400 with the reason for options that are not valid, before or after the file', async () => {
  const deep = `{"formats":${'['.repeat(100)}${']'.repeat(100)}}`;
  for (const [text, message] of [
    ['{', /not valid JSON/],
    ['', /not valid JSON/],
    ['[]', /must be a JSON object/],
    ['null', /must be a JSON object/],
    [deep, /nested deeper/],
    ['['.repeat(200_000), /nested deeper/],
    [`{"origin":"${'x'.repeat(REQUEST_LIMITS.optionsBytes)}"}`, /larger than/],
    [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), /UTF-8/],
  ] as [string | Uint8Array, RegExp][]) {
    for (const parts of [
      [options(text), file],
      [file, options(text)],
      [{ ...options(text), fileName: 'o.json' }, file],
    ])
      assert.match(errorBody(await sendParts(gateway, parts), 400, 'BAD_REQUEST').error, message);
  }
  const details = errorBody(
    await parse(gateway, { file: html, fileName: 'a.html', options: { nope: 1, timeout: 0 } }),
    400,
    'BAD_REQUEST',
  ).details;
  assert.deepEqual(details?.map((detail) => detail.path).sort(), ['nope', 'timeout']);
});

test('shows the file name without its path and control characters', async () => {
  const name = async (disposition: string): Promise<unknown> =>
    successData(
      await sendParts(gateway, [
        { ...file, disposition: `Content-Disposition: form-data; name="file"; ${disposition}` },
      ]),
    ).metadata.sourceURL;
  assert.equal(await name('filename="../../etc/report.html"'), 'report.html');
  assert.equal(await name('filename="C:\\\\docs\\\\report.html"'), 'report.html');
  assert.equal(await name('filename="Änderung 日本.HTML"'), 'Änderung 日本.HTML');
  assert.equal(await name("filename*=UTF-8''na%C3%AFve%20file.html"), 'naïve file.html');
  assert.equal(await name("filename*=UTF-8''a%0D%0AX-Evil%3A%201%00.html"), 'aX-Evil: 1.html');
  assert.equal(await name('filename=".."'), 'document.html');
  const long = errorBody(
    await sendParts(gateway, [{ ...file, fileName: `${'n'.repeat(1_025)}.html` }]),
    400,
    'BAD_REQUEST',
  );
  assert.match(long.error, /name is longer/);
});

test('uses the content type if the file has no extension, and lists the extensions if neither is known', async () => {
  assert.equal(
    successData(await sendParts(gateway, [{ ...file, fileName: 'report' }])).metadata.contentType,
    'text/html',
  );
  const unknown = await sendParts(gateway, [{ ...file, fileName: 'report', contentType: 'application/octet-stream' }]);
  assert.match(errorBody(unknown, 400, 'UNSUPPORTED_FILE_TYPE').error, /\.xlsb/);
  errorBody(await sendParts(gateway, [{ ...file, fileName: 'report.exe' }]), 400, 'UNSUPPORTED_FILE_TYPE');
});

test('passes the charset parameter of the file part on to the converter', async () => {
  for (const contentType of [
    'text/html; charset=windows-1251',
    'text/html;charset="Windows-1251"',
    'text/html; x=y; CHARSET=windows-1251',
  ])
    assert.equal(
      job(
        successData(
          await sendParts(gateway, [options('{}', 'application/json; charset=utf-8'), { ...file, contentType }]),
        ),
      ).charset,
      'windows-1251',
    );
  assert.equal(
    job(successData(await sendParts(gateway, [options('{}', 'application/json; charset=utf-8'), file]))).charset,
    undefined,
  );
});

test('accepts a body that arrives byte by byte', async () => {
  const { body, contentType } = multipart([
    options('{"formats":["links"]}'),
    { ...file, contentType: 'text/html; charset=koi8-r' },
  ]);
  const byteByByte = async function* () {
    for (const byte of body) yield Buffer.from([byte]);
  };
  const data = successData(await send(gateway, { body: byteByByte(), headers: { 'content-type': contentType } }));
  assert.equal(data.markdown, `${Buffer.byteLength(html)} bytes`);
  assert.equal(job(data).charset, 'koi8-r');
});

/** A multipart body with a file of `size` bytes, generated in chunks. */
async function* largeBody(size: number): AsyncGenerator<Buffer> {
  const chunk = Buffer.alloc(256 * 1024, 0x20);
  yield Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.html"\r\n\r\n`);
  const head = Buffer.from(html);
  yield head;
  for (let left = size - head.length; left > 0; left -= chunk.length)
    yield chunk.subarray(0, Math.min(left, chunk.length));
  yield Buffer.from(`\r\n--${BOUNDARY}--\r\n`);
}
const multipartType = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };

test('accepts a file of exactly the size limit, and returns 413 for one byte more', async () => {
  const accepted = await send(gateway, { body: largeBody(REQUEST_LIMITS.fileBytes), headers: multipartType });
  assert.equal(successData(accepted).markdown, `${REQUEST_LIMITS.fileBytes} bytes`);
  const rejected = await send(gateway, { body: largeBody(REQUEST_LIMITS.fileBytes + 1), headers: multipartType });
  errorBody(rejected, 413, 'PAYLOAD_TOO_LARGE');
  assert.equal(rejected.headers.connection, 'close');
});

const sendUntilClosed = (target: TestGateway, bytes: string | Uint8Array): Promise<string> => sendRaw(target, bytes);

const requestHead = (lines: readonly string[]): string =>
  `POST /v2/parse HTTP/1.1\r\nHost: x\r\n${lines.join('\r\n')}\r\n\r\n`;

/** Opens a connection to the gateway. `received` returns the data that has arrived so far. */
function openConnection(target: TestGateway) {
  const socket = connect(target.gateway.port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  const closed = new Promise<string>((resolve) => socket.on('close', () => resolve(received)));
  return { socket, received: () => received, closed };
}

test('returns 413 for an endless upload while it still arrives', async () => {
  let sent = 0;
  const endless = async function* () {
    for await (const chunk of largeBody(Number.MAX_SAFE_INTEGER)) {
      sent += chunk.length;
      yield chunk;
    }
  };
  errorBody(await send(gateway, { body: endless(), headers: multipartType }), 413, 'PAYLOAD_TOO_LARGE');
  assert.ok(sent < 2 * REQUEST_LIMITS.fileBytes, `${sent} bytes were sent before the response`);
});

test('returns 413 without "100 Continue" if the Content-Length is above the limit', async () => {
  const head = requestHead([
    `Authorization: Bearer ${gateway.key}`,
    'Content-Type: multipart/form-data; boundary=x',
    'Content-Length: 99999999',
    'Expect: 100-continue',
  ]);
  assert.match(await sendUntilClosed(gateway, head), /^HTTP\/1\.1 413 /);
});

test('sends "100 Continue" only after the checks that need no body', async () => {
  const { body, contentType } = multipart([file]);
  const head = (key: string): string =>
    requestHead([
      `Authorization: Bearer ${key}`,
      `Content-Type: ${contentType}`,
      `Content-Length: ${body.length}`,
      'Expect: 100-continue',
      'Connection: close',
    ]);
  assert.match(await sendUntilClosed(gateway, head('wrong-key')), /^HTTP\/1\.1 401 /);
  const { socket, received, closed } = openConnection(gateway);
  socket.write(head(gateway.key));
  await until(() => received() === 'HTTP/1.1 100 Continue\r\n\r\n');
  socket.write(body);
  assert.match(await closed, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/);
});

const STALL_MS = 300;
const TIMEOUT_RESPONSE = /HTTP\/1\.1 408 [\s\S]*Connection: close[\s\S]*"error":"Request Timeout/;

test('returns 408 for a stalled upload and closes its connection, while other uploads succeed', async (t) => {
  const own = await startTestGateway({ uploadLimits: { stallMs: STALL_MS } });
  t.after(() => own.stop());
  const clock = useFakeClock(t);
  const { body, contentType } = multipart([file]);
  const { socket, received, closed } = openConnection(own);
  socket.write(
    requestHead([
      `Authorization: Bearer ${own.key}`,
      `Content-Type: ${contentType}`,
      `Content-Length: ${body.length}`,
      'Expect: 100-continue',
    ]),
  );
  // The stall timer starts when the gateway is ready for the body.
  await until(() => received().includes('100 Continue'));
  socket.write(body.subarray(0, 40));
  successData(await sendParts(own, [file]));
  await clock.advance(STALL_MS);
  assert.match(await resultOf(closed, 'the connection is closed'), TIMEOUT_RESPONSE);
});

test('returns 408 for an upload that stalls after the store has slowed it down', async (t) => {
  const own = await startTestGateway({ uploadLimits: { stallMs: STALL_MS } });
  t.after(() => own.stop());
  const { body } = multipart([{ ...file, body: html + ' '.repeat(2_000_000) }]);
  const head = requestHead([
    `Authorization: Bearer ${own.key}`,
    `Content-Type: ${multipartType['content-type']}`,
    `Content-Length: ${body.length + 1}`,
  ]);
  assert.match(await sendUntilClosed(own, Buffer.concat([Buffer.from(head), body])), TIMEOUT_RESPONSE);
});

test('keeps answering after a malformed chunked body and after a connection reset', async () => {
  const lines = [
    `Authorization: Bearer ${gateway.key}`,
    `Content-Type: ${multipartType['content-type']}`,
    'Transfer-Encoding: chunked',
  ];
  const malformed = `${requestHead(lines)}5\r\nhello\r\nZZZ\r\n`;
  assert.match(await sendUntilClosed(gateway, malformed), /^HTTP\/1\.1 400 /);
  const { socket, received, closed } = openConnection(gateway);
  socket.write(requestHead([...lines, 'Expect: 100-continue']));
  await until(() => received().includes('100 Continue'));
  socket.write('5\r\nhello\r\n', () => socket.resetAndDestroy());
  await closed;
  successData(await sendParts(gateway, [file]));
});

test('a client that is rejected while it sends its body can still read the response', async () => {
  for (const key of ['wrong-key', null]) {
    const answer = await send(gateway, { key, body: largeBody(8 * 1024 * 1024), headers: multipartType });
    errorBody(answer, 401, 'UNAUTHORIZED');
    assert.equal(answer.headers.connection, 'close');
  }
});
