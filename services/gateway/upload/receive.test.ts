// Multipart bodies as clients really send them, and as hostile ones do: what is taken in, what is refused and with which words.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
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

test('parts come in any order, options with or without a content type, or as a blob', async () => {
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

test('unknown parts are ignored, and not without number', async () => {
  const extra: Part = { name: 'note', body: 'x' };
  successData(await sendParts(gateway, [extra, file, { ...extra, fileName: 'x.bin' }]));
  const many = Array.from({ length: REQUEST_LIMITS.parts }, () => extra);
  assert.match(errorBody(await sendParts(gateway, [...many, file]), 400, 'BAD_REQUEST').error, /more than 16 parts/);
  errorBody(await sendParts(gateway, [{ name: 'n'.repeat(101), body: 'x' }, file]), 400, 'BAD_REQUEST');
});

test('a request without a usable file says so', async () => {
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

test('a body that is not valid multipart form-data is called that', async () => {
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

test('options that cannot be read are refused before the file is', async () => {
  const deep = `{"formats":${'['.repeat(100)}${']'.repeat(100)}}`;
  for (const [text, words] of [
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
      assert.match(errorBody(await sendParts(gateway, parts), 400, 'BAD_REQUEST').error, words);
  }
  const details = errorBody(
    await parse(gateway, { file: html, fileName: 'a.html', options: { nope: 1, timeout: 0 } }),
    400,
    'BAD_REQUEST',
  ).details;
  assert.deepEqual(details?.map((one) => one.path).sort(), ['nope', 'timeout']);
});

test('file names are shown as sent but for paths and controls, and never trusted', async () => {
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

test('without an extension the content type decides; without either the answer lists the kinds', async () => {
  assert.equal(
    successData(await sendParts(gateway, [{ ...file, fileName: 'report' }])).metadata.contentType,
    'text/html',
  );
  const unknown = await sendParts(gateway, [{ ...file, fileName: 'report', contentType: 'application/octet-stream' }]);
  assert.match(errorBody(unknown, 400, 'UNSUPPORTED_FILE_TYPE').error, /\.xlsb/);
  errorBody(await sendParts(gateway, [{ ...file, fileName: 'report.exe' }]), 400, 'UNSUPPORTED_FILE_TYPE');
});

test("the charset that the file's part names goes with the job", async () => {
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

test('a body cut into single bytes is the same body', async () => {
  const { body, contentType } = multipart([
    options('{"formats":["links"]}'),
    { ...file, contentType: 'text/html; charset=koi8-r' },
  ]);
  const drip = async function* () {
    for (const byte of body) yield Buffer.from([byte]);
  };
  const data = successData(await send(gateway, { body: drip(), headers: { 'content-type': contentType } }));
  assert.equal(data.markdown, `${Buffer.byteLength(html)} bytes`);
  assert.equal(job(data).charset, 'koi8-r');
});

/** A multipart body with a file of `size` bytes that is never whole in memory. */
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

test('a file of exactly the limit is taken, one byte more is refused while it streams', async () => {
  const taken = await send(gateway, { body: largeBody(REQUEST_LIMITS.fileBytes), headers: multipartType });
  assert.equal(successData(taken).markdown, `${REQUEST_LIMITS.fileBytes} bytes`);
  const refused = await send(gateway, { body: largeBody(REQUEST_LIMITS.fileBytes + 1), headers: multipartType });
  errorBody(refused, 413, 'PAYLOAD_TOO_LARGE');
  assert.equal(refused.headers.connection, 'close');
});

test('an endless upload is answered and cut, and a length that cannot fit is refused at once', async () => {
  let sent = 0;
  const endless = async function* () {
    for await (const chunk of largeBody(Number.MAX_SAFE_INTEGER)) {
      sent += chunk.length;
      yield chunk;
    }
  };
  errorBody(await send(gateway, { body: endless(), headers: multipartType }), 413, 'PAYLOAD_TOO_LARGE');
  assert.ok(sent < 2 * REQUEST_LIMITS.fileBytes, `${sent} bytes were sent before the answer`);
  const head = `POST /v2/parse HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.key}\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 99999999\r\nExpect: 100-continue\r\n\r\n`;
  const reply = await sendRaw(gateway, head);
  assert.match(reply, /^HTTP\/1\.1 413 /, 'no invitation to send what will be refused');
});

test('who asks before sending is invited once the checks are passed', async () => {
  const { body, contentType } = multipart([file]);
  const head = (key: string): string =>
    `POST /v2/parse HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: ${contentType}\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n`;
  assert.match(await sendRaw(gateway, head('wrong-key')), /^HTTP\/1\.1 401 /);
  const reply = await new Promise<string>((resolve) => {
    let text = '';
    const socket = connect(gateway.gateway.port, '127.0.0.1', () => socket.write(head(gateway.key)));
    socket.on('data', (chunk) => {
      text += chunk;
      if (text === 'HTTP/1.1 100 Continue\r\n\r\n') socket.write(body);
    });
    socket.on('close', () => resolve(text));
  });
  assert.match(reply, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/);
});

test('a stalled upload is answered with 408 and cut, others are not hurt', async (t) => {
  const hasty = await startTestGateway({ uploadLimits: { stallMs: 300 } });
  t.after(() => hasty.stop());
  const { body, contentType } = multipart([file]);
  const head = `POST /v2/parse HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${hasty.key}\r\nContent-Type: ${contentType}\r\nContent-Length: ${body.length}\r\n\r\n`;
  const stalled = sendRaw(hasty, Buffer.concat([Buffer.from(head), body.subarray(0, 40)]));
  successData(await sendParts(hasty, [file]));
  assert.match(await stalled, /^HTTP\/1\.1 408 [\s\S]*Connection: close[\s\S]*"error":"Request Timeout/);
  const large = multipart([{ ...file, body: html + ' '.repeat(2_000_000) }]).body;
  const late = `${head.split('Content-Length')[0]}Content-Length: ${large.length + 1}\r\n\r\n`;
  const reply = await sendRaw(hasty, Buffer.concat([Buffer.from(late), large]));
  assert.match(reply, /^HTTP\/1\.1 408 /, 'the watch outlives times in which the store was the slow one');
});

test('broken chunked encoding and vanishing clients leave a gateway that answers', async () => {
  const head = `POST /v2/parse HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.key}\r\nContent-Type: ${multipartType['content-type']}\r\nTransfer-Encoding: chunked\r\n\r\n`;
  assert.match(await sendRaw(gateway, `${head}5\r\nhello\r\nZZZ\r\n`), /^HTTP\/1\.1 400 /);
  await new Promise<void>((resolve) => {
    const socket = connect(gateway.gateway.port, '127.0.0.1', () => {
      socket.write(`${head}5\r\nhello\r\n`);
      setTimeout(() => socket.resetAndDestroy(), 50);
    });
    socket.on('close', () => resolve());
  });
  successData(await sendParts(gateway, [file]));
});

test('a refused request with its body under way can still be read', async () => {
  for (const key of ['wrong-key', null]) {
    const answer = await send(gateway, { key, body: largeBody(8 * 1024 * 1024), headers: multipartType });
    errorBody(answer, 401, 'UNAUTHORIZED');
    assert.equal(answer.headers.connection, 'close');
  }
});
