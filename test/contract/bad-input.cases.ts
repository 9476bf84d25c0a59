// Checks that each kind of invalid request gets the documented 4xx and that the server keeps serving (docs/api.md, "Errors").
import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { BOUNDARY, errorBody, multipart, parse, send, sendParts, sendRaw } from '../harness/client.ts';
import { docx, zip } from '../harness/documents.ts';
import {
  type ContractCase,
  expectError,
  expectErrorThenServing,
  expectServing,
  htmlPage,
  SMALL_CSV,
} from './contract-case.ts';

const FILE = { name: 'file', body: SMALL_CSV.file, fileName: 'boats.csv', contentType: 'text/csv' };
const OPTIONS = { name: 'options', body: '{"formats":["markdown"]}', contentType: 'application/json' };

export const cases: ContractCase[] = [
  {
    name: 'returns 400 for a JSON body instead of multipart',
    run: (product) =>
      expectErrorThenServing(
        product,
        send(product, { body: '{}', headers: { 'content-type': 'application/json' } }),
        400,
        'BAD_REQUEST',
        /multipart/i,
      ),
  },
  {
    name: 'returns 400 for a request without a body and without a content type',
    run: (product) => expectErrorThenServing(product, send(product, {}), 400, 'BAD_REQUEST', /multipart/i),
  },
  {
    name: 'returns 400 for a multipart content type without a boundary',
    run: (product) =>
      expectErrorThenServing(
        product,
        send(product, { body: 'x', headers: { 'content-type': 'multipart/form-data' } }),
        400,
        'BAD_REQUEST',
        /multipart/i,
      ),
  },
  {
    name: 'returns 400 for a multipart body that does not contain its boundary',
    run: (product) =>
      expectErrorThenServing(
        product,
        send(product, {
          body: 'no boundary here',
          headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
        }),
        400,
        'BAD_REQUEST',
        /multipart|Missing file/i,
      ),
  },
  {
    name: 'returns 400 with "multipart form-data request" in the message for a truncated multipart body',
    run: (product) => {
      const { body, contentType } = multipart([FILE], { end: false });
      return expectErrorThenServing(
        product,
        send(product, { body: body.subarray(0, body.length - 20), headers: { 'content-type': contentType } }),
        400,
        'BAD_REQUEST',
        /multipart form-data request/i,
      );
    },
  },
  {
    name: 'returns 400 for a part whose headers are not terminated',
    run: (product) =>
      expectErrorThenServing(
        product,
        send(product, {
          body: `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"`,
          headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
        }),
        400,
        'BAD_REQUEST',
        /multipart/i,
      ),
  },
  {
    name: 'keeps serving after a client disconnects in the middle of an upload',
    run: async (product) => {
      const { body, contentType } = multipart([FILE]);
      const head = `POST /v2/parse HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${product.key}\r\nContent-Type: ${contentType}\r\nContent-Length: ${body.length + 1000}\r\n\r\n`;
      await sendRaw(product, Buffer.concat([Buffer.from(head), body.subarray(0, body.length / 2)]), {
        disconnectAfterMs: 200,
      });
      await expectServing(product);
    },
  },
  {
    name: 'returns 400 "Missing file upload" when there is no `file` part',
    run: (product) =>
      expectErrorThenServing(product, sendParts(product, [OPTIONS]), 400, 'BAD_REQUEST', /Missing file upload/),
  },
  {
    name: 'returns 400 when the file part has a name other than `file`',
    run: (product) =>
      expectErrorThenServing(product, sendParts(product, [{ ...FILE, name: 'document' }]), 400, 'BAD_REQUEST', /file/i),
  },
  {
    name: 'returns 400 when `file` is a text field without a file name',
    run: (product) =>
      expectErrorThenServing(
        product,
        sendParts(product, [{ name: 'file', body: 'a,b\n1,2\n' }]),
        400,
        'BAD_REQUEST',
        /file/i,
      ),
  },
  {
    name: 'returns 400 for two `file` parts',
    run: (product) =>
      expectErrorThenServing(product, sendParts(product, [FILE, FILE]), 400, 'BAD_REQUEST', /one|file/i),
  },
  {
    name: 'returns 400 for two `options` parts',
    run: (product) =>
      expectErrorThenServing(product, sendParts(product, [OPTIONS, FILE, OPTIONS]), 400, 'BAD_REQUEST', /options/i),
  },
  {
    name: 'returns 400 for an empty file',
    run: (product) =>
      expectErrorThenServing(
        product,
        parse(product, { file: '', fileName: 'boats.csv' }),
        400,
        'BAD_REQUEST',
        /empty/i,
      ),
  },
  ...(['not json', '{"formats":', '', '\u0000'] as const).map(
    (options): ContractCase => ({
      name: `returns 400 for options that are not JSON (${JSON.stringify(options)})`,
      run: (product) =>
        expectErrorThenServing(product, parse(product, { ...SMALL_CSV, options }), 400, 'BAD_REQUEST', /options/i),
    }),
  ),
  ...(['[]', '"markdown"', '7', 'null', 'true'] as const).map(
    (options): ContractCase => ({
      name: `returns 400 for options that are not a JSON object (${options})`,
      run: (product) =>
        expectErrorThenServing(product, parse(product, { ...SMALL_CSV, options }), 400, 'BAD_REQUEST', /object/i),
    }),
  ),
  {
    name: 'returns 400 for options nested 100,000 levels deep',
    run: (product) =>
      expectErrorThenServing(
        product,
        parse(product, { ...SMALL_CSV, options: `{"formats":${'['.repeat(100_000)}${']'.repeat(100_000)}}` }),
        400,
        'BAD_REQUEST',
        /options|formats/i,
      ),
  },
  {
    name: 'returns 400 for options larger than the size limit',
    run: (product) =>
      expectErrorThenServing(
        product,
        parse(product, { ...SMALL_CSV, options: { origin: 'x'.repeat(300_000) } }),
        400,
        'BAD_REQUEST',
        /options/i,
      ),
  },
  {
    name: 'returns 400 for options with the field `__proto__`',
    run: (product) =>
      expectErrorThenServing(
        product,
        parse(product, { ...SMALL_CSV, options: '{"__proto__":{"formats":["html"]}}' }),
        400,
        'BAD_REQUEST',
        /__proto__|unknown/i,
      ),
  },
  ...(['.png', '.zip', '.exe', '.json', '.xml', '.tex'] as const).map(
    (extension): ContractCase => ({
      name: `returns 400 UNSUPPORTED_FILE_TYPE with the list of extensions for ${extension}`,
      run: (product) =>
        expectErrorThenServing(
          product,
          parse(product, { file: 'plain words', fileName: `notes${extension}` }),
          400,
          'UNSUPPORTED_FILE_TYPE',
          /\.pdf.*\.csv|\.csv.*\.pdf/s,
        ),
    }),
  ),
  {
    name: 'returns 400 UNSUPPORTED_FILE_TYPE with the list of extensions when extension and content type are both unknown',
    run: (product) =>
      expectErrorThenServing(
        product,
        parse(product, { file: 'plain words', fileName: 'notes', contentType: 'application/octet-stream' }),
        400,
        'UNSUPPORTED_FILE_TYPE',
        /\.pdf/,
      ),
  },
  ...(['.pdf', '.docx', '.doc', '.xlsx', '.pptx', '.epub', '.odt'] as const).map(
    (extension): ContractCase => ({
      name: `returns 422 DOCUMENT_CORRUPT for a corrupt PNG named ${extension}`,
      run: async (product) => {
        const file = Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), Buffer.alloc(400, 7)]);
        const answer = await parse(product, { file, fileName: `picture${extension}` });
        errorBody(answer, 422, 'DOCUMENT_CORRUPT');
        await expectServing(product);
      },
    }),
  ),
  {
    name: 'returns 400 or 422 for a ZIP archive named .docx that is not an Office document',
    run: async (product) => {
      const answer = await parse(product, {
        file: zip([{ name: 'readme.txt', content: 'hello' }]),
        fileName: 'archive.docx',
      });
      assert.ok(answer.status === 400 || answer.status === 422, answer.text);
      await expectServing(product);
    },
  },
  {
    name: 'returns 200 or 400 for a file name that is only a path or only an extension',
    run: async (product) => {
      for (const fileName of ['../', '..', '/', '.csv']) {
        const answer = await parse(product, { ...SMALL_CSV, fileName });
        assert.ok(answer.status === 200 || answer.status === 400, `${fileName}: ${answer.text}`);
      }
      await expectServing(product);
    },
  },
  {
    name: 'returns 400 for a file name of 5,000 characters',
    run: (product) =>
      expectErrorThenServing(
        product,
        parse(product, { ...SMALL_CSV, fileName: `${'x'.repeat(5000)}.csv` }),
        400,
        'BAD_REQUEST',
        /name/i,
      ),
  },
  {
    name: 'returns 400 for a request with a hundred unknown parts',
    run: (product) =>
      expectErrorThenServing(
        product,
        sendParts(product, [
          ...Array.from({ length: 100 }, (_, index) => ({ name: `field${index}`, body: 'x' })),
          FILE,
        ]),
        400,
        'BAD_REQUEST',
        /part/i,
      ),
  },
  {
    name: 'returns no NUL byte of the file name in the response',
    run: async (product) => {
      const answer = await parse(product, { ...SMALL_CSV, fileName: 'boats\u0000.csv' });
      assert.ok(answer.status === 200 || answer.status === 400, answer.text);
      assert.doesNotMatch(answer.text, /\\u0000/);
      await expectServing(product);
    },
  },
  {
    name: 'returns 422 DOCUMENT_CORRUPT for a truncated .docx',
    run: async (product) => {
      const complete = docx({ title: 'T', paragraphs: ['P'], table: [] });
      await expectError(
        product,
        { file: complete.subarray(0, complete.length / 2), fileName: 'half.docx' },
        422,
        'DOCUMENT_CORRUPT',
      );
      await expectServing(product);
    },
  },
  {
    name: 'returns 200 or 422 for HTML with 10,000 nested elements',
    run: async (product) => {
      const answer = await parse(product, htmlPage(`${'<div>'.repeat(10_000)}deep words`));
      assert.ok(answer.status === 200 || answer.status === 422, answer.text.slice(0, 300));
      await expectServing(product);
    },
  },
  {
    name: 'returns 400 for a gzip-encoded request body',
    run: async (product) => {
      const { body, contentType } = multipart([FILE]);
      const answer = await send(product, {
        body: gzipSync(body),
        headers: { 'content-type': contentType, 'content-encoding': 'gzip' },
      });
      errorBody(answer, 400, 'BAD_REQUEST');
      await expectServing(product);
    },
  },
  {
    name: 'keeps serving after bytes that are not HTTP and after a header that is too large',
    run: async (product) => {
      await sendRaw(product, '\u0000\u0001\u0002 not http\r\n\r\n');
      await sendRaw(product, `GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(100_000)}\r\n\r\n`).catch(() => '');
      await expectServing(product);
    },
  },
  {
    name: 'returns 400 for the field `constructor` inside a format object',
    run: (product) =>
      expectErrorThenServing(
        product,
        parse(product, { ...SMALL_CSV, options: '{"formats":[{"type":"markdown","constructor":{"x":1}}]}' }),
        400,
        'BAD_REQUEST',
        /constructor|unknown/i,
      ),
  },
];
