// Every way a body can be wrong: each gets its documented 4xx with a message that says what to do, and the server goes on.
import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { BOUNDARY, errorBody, multipart, parse, send, sendParts, sendRaw } from '../harness/client.ts';
import { docx, zip } from '../harness/documents.ts';
import { badInput, goesOn, page, type Row, refused, SMALL_CSV } from './row.ts';

const FILE = { name: 'file', body: SMALL_CSV.file, fileName: 'boats.csv', contentType: 'text/csv' };
const OPTIONS = { name: 'options', body: '{"formats":["markdown"]}', contentType: 'application/json' };

export const rows: Row[] = [
  {
    name: 'bad input: not multipart (JSON body)',
    run: (product) =>
      badInput(
        product,
        send(product, { body: '{}', headers: { 'content-type': 'application/json' } }),
        400,
        'BAD_REQUEST',
        /multipart/i,
      ),
  },
  {
    name: 'bad input: no body and no content type',
    run: (product) => badInput(product, send(product, {}), 400, 'BAD_REQUEST', /multipart/i),
  },
  {
    name: 'bad input: multipart without a boundary',
    run: (product) =>
      badInput(
        product,
        send(product, { body: 'x', headers: { 'content-type': 'multipart/form-data' } }),
        400,
        'BAD_REQUEST',
        /multipart/i,
      ),
  },
  {
    name: 'bad input: multipart whose body has not its boundary',
    run: (product) =>
      badInput(
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
    name: '7.2 400: an invalid multipart body is told to be an invalid multipart form-data request',
    run: (product) => {
      const { body, contentType } = multipart([FILE], { end: false });
      return badInput(
        product,
        send(product, { body: body.subarray(0, body.length - 20), headers: { 'content-type': contentType } }),
        400,
        'BAD_REQUEST',
        /multipart form-data request/i,
      );
    },
  },
  {
    name: 'bad input: a part whose headers never end',
    run: (product) =>
      badInput(
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
    name: 'bad input: the connection ends in the middle of the upload',
    run: async (product) => {
      const { body, contentType } = multipart([FILE]);
      const head = `POST /v2/parse HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${product.key}\r\nContent-Type: ${contentType}\r\nContent-Length: ${body.length + 1000}\r\n\r\n`;
      await sendRaw(product, Buffer.concat([Buffer.from(head), body.subarray(0, body.length / 2)]), 200);
      await goesOn(product);
    },
  },
  {
    name: 'bad input: no file (DECISIONS "Missing file upload")',
    run: (product) => badInput(product, sendParts(product, [OPTIONS]), 400, 'BAD_REQUEST', /Missing file upload/),
  },
  {
    name: 'bad input: the file sent under another name',
    run: (product) =>
      badInput(product, sendParts(product, [{ ...FILE, name: 'document' }]), 400, 'BAD_REQUEST', /file/i),
  },
  {
    name: 'bad input: `file` sent as a text field',
    run: (product) =>
      badInput(product, sendParts(product, [{ name: 'file', body: 'a,b\n1,2\n' }]), 400, 'BAD_REQUEST', /file/i),
  },
  {
    name: 'bad input: two files',
    run: (product) => badInput(product, sendParts(product, [FILE, FILE]), 400, 'BAD_REQUEST', /one|file/i),
  },
  {
    name: 'bad input: two options parts',
    run: (product) => badInput(product, sendParts(product, [OPTIONS, FILE, OPTIONS]), 400, 'BAD_REQUEST', /options/i),
  },
  {
    name: 'bad input: an empty file',
    run: (product) =>
      badInput(product, parse(product, { file: '', fileName: 'boats.csv' }), 400, 'BAD_REQUEST', /empty/i),
  },
  ...(['not json', '{"formats":', '', '\u0000'] as const).map(
    (options): Row => ({
      name: `bad input: options that are not JSON (${JSON.stringify(options)})`,
      run: (product) => badInput(product, parse(product, { ...SMALL_CSV, options }), 400, 'BAD_REQUEST', /options/i),
    }),
  ),
  ...(['[]', '"markdown"', '7', 'null', 'true'] as const).map(
    (options): Row => ({
      name: `bad input: options that are not an object (${options})`,
      run: (product) => badInput(product, parse(product, { ...SMALL_CSV, options }), 400, 'BAD_REQUEST', /object/i),
    }),
  ),
  {
    name: 'bad input: options nested a hundred thousand deep',
    run: (product) =>
      badInput(
        product,
        parse(product, { ...SMALL_CSV, options: `{"formats":${'['.repeat(100_000)}${']'.repeat(100_000)}}` }),
        400,
        'BAD_REQUEST',
        /options|formats/i,
      ),
  },
  {
    name: 'bad input: options larger than the limit',
    run: (product) =>
      badInput(
        product,
        parse(product, { ...SMALL_CSV, options: { origin: 'x'.repeat(300_000) } }),
        400,
        'BAD_REQUEST',
        /options/i,
      ),
  },
  {
    name: 'bad input: options with `__proto__`',
    run: (product) =>
      badInput(
        product,
        parse(product, { ...SMALL_CSV, options: '{"__proto__":{"formats":["html"]}}' }),
        400,
        'BAD_REQUEST',
        /__proto__|unknown/i,
      ),
  },
  ...(['.txt', '.png', '.zip', '.md', '.exe', '.json', '.xml'] as const).map(
    (extension): Row => ({
      name: `bad input: an extension that is not served (${extension}), answered with the list`,
      run: (product) =>
        badInput(
          product,
          parse(product, { file: 'plain words', fileName: `notes${extension}` }),
          400,
          'UNSUPPORTED_FILE_TYPE',
          /\.pdf.*\.csv|\.csv.*\.pdf/s,
        ),
    }),
  ),
  {
    name: 'bad input: no extension and no content type that is known, answered with the list',
    run: (product) =>
      badInput(
        product,
        parse(product, { file: 'plain words', fileName: 'notes', contentType: 'application/octet-stream' }),
        400,
        'UNSUPPORTED_FILE_TYPE',
        /\.pdf/,
      ),
  },
  ...(['.pdf', '.docx', '.doc', '.xlsx', '.pptx', '.epub', '.odt'] as const).map(
    (extension): Row => ({
      name: `bad input: a file that is not what its name says (a PNG called ${extension})`,
      run: async (product) => {
        const file = Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), Buffer.alloc(400, 7)]);
        const answer = await parse(product, { file, fileName: `picture${extension}` });
        assert.equal(answer.status, 400, answer.text);
        await goesOn(product);
      },
    }),
  ),
  {
    name: 'bad input: a ZIP that is no document, called .docx',
    run: async (product) => {
      const answer = await parse(product, {
        file: zip([{ name: 'readme.txt', content: 'hello' }]),
        fileName: 'archive.docx',
      });
      assert.ok(answer.status === 400 || answer.status === 422, answer.text);
      await goesOn(product);
    },
  },
  {
    name: 'bad input: a path alone as filename, and a name that is only an extension',
    run: async (product) => {
      for (const fileName of ['../', '..', '/', '.csv']) {
        const answer = await parse(product, { ...SMALL_CSV, fileName });
        assert.ok(answer.status === 200 || answer.status === 400, `${fileName}: ${answer.text}`);
      }
      await goesOn(product);
    },
  },
  {
    name: 'bad input: a filename of 5000 characters',
    run: (product) =>
      badInput(
        product,
        parse(product, { ...SMALL_CSV, fileName: `${'x'.repeat(5000)}.csv` }),
        400,
        'BAD_REQUEST',
        /name/i,
      ),
  },
  {
    name: 'bad input: a hundred parts',
    run: (product) =>
      badInput(
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
    name: 'bad input: a NUL byte in the filename',
    run: async (product) => {
      const answer = await parse(product, { ...SMALL_CSV, fileName: 'boats\u0000.csv' });
      assert.ok(answer.status === 200 || answer.status === 400, answer.text);
      assert.doesNotMatch(answer.text, /\\u0000/);
      await goesOn(product);
    },
  },
  {
    name: '422 DOCUMENT_CORRUPT: a truncated docx, never a 500',
    run: async (product) => {
      const whole = docx({ title: 'T', paragraphs: ['P'], table: [] });
      await refused(
        product,
        { file: whole.subarray(0, whole.length / 2), fileName: 'half.docx' },
        422,
        'DOCUMENT_CORRUPT',
      );
      await goesOn(product);
    },
  },
  {
    name: 'a page of hostile HTML (ten thousand open elements) is answered, and the server goes on',
    run: async (product) => {
      const answer = await parse(product, page(`${'<div>'.repeat(10_000)}deep words`));
      assert.ok(answer.status === 200 || answer.status === 422, answer.text.slice(0, 300));
      await goesOn(product);
    },
  },
  {
    name: 'bad input: a body that says it is gzip',
    run: async (product) => {
      const { body, contentType } = multipart([FILE]);
      const answer = await send(product, {
        body: gzipSync(body),
        headers: { 'content-type': contentType, 'content-encoding': 'gzip' },
      });
      errorBody(answer, 400, 'BAD_REQUEST');
      await goesOn(product);
    },
  },
  {
    name: 'bad input: raw bytes that are no HTTP, and a header too large: the server goes on',
    run: async (product) => {
      await sendRaw(product, '\u0000\u0001\u0002 not http\r\n\r\n', 1_000);
      await sendRaw(product, `GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(100_000)}\r\n\r\n`, 1_000).catch(
        () => '',
      );
      await goesOn(product);
    },
  },
  {
    name: 'bad input: options that name a prototype, deep in a format',
    run: (product) =>
      badInput(
        product,
        parse(product, { ...SMALL_CSV, options: '{"formats":[{"type":"markdown","constructor":{"x":1}}]}' }),
        400,
        'BAD_REQUEST',
        /constructor|unknown/i,
      ),
  },
];
