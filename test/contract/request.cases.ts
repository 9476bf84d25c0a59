// Checks which multipart bodies, file names and file formats are accepted (docs/api.md, "Parts").
import assert from 'node:assert/strict';
import { Agent, request as httpRequest } from 'node:http';
import { BOUNDARY, multipart, parse, send, sendParts, successData } from '../harness/client.ts';
import { html, pdf, rtf, sample, WORDS } from '../harness/documents.ts';
import { type ContractCase, expectErrorThenServing, expectServing, expectSuccess, SMALL_CSV } from './contract-case.ts';

const FILE = { name: 'file', body: SMALL_CSV.file, fileName: 'boats.csv', contentType: 'text/csv' };

export const cases: ContractCase[] = [
  {
    name: 'parses a request that has only the `file` part',
    run: async (product) =>
      assert.match(successData(await sendParts(product, [FILE])).markdown ?? '', /seventeen herons/),
  },
  {
    name: 'accepts `options` with content type application/json',
    run: async (product) => {
      const data = await expectSuccess(product, {
        ...SMALL_CSV,
        options: { formats: ['html'] },
        optionsType: 'application/json',
      });
      assert.ok(data.html?.includes('<table') && data.markdown === undefined);
    },
  },
  {
    name: 'uses the defaults for `options` of `{}`',
    run: async (product) =>
      assert.deepEqual(Object.keys(await expectSuccess(product, { ...SMALL_CSV, options: '{}' })).sort(), [
        'markdown',
        'metadata',
      ]),
  },
  {
    name: 'accepts `options` before `file` and without a content type, as both SDKs send it',
    run: async (product) =>
      assert.ok((await expectSuccess(product, { ...SMALL_CSV, options: { formats: ['html'] } })).html),
  },
  {
    name: 'accepts `options` after `file`',
    run: async (product) => {
      const data = await expectSuccess(product, { ...SMALL_CSV, options: { formats: ['html'] }, fileFirst: true });
      assert.ok(data.html);
      assert.equal(data.markdown, undefined);
    },
  },
  {
    name: 'accepts `options` with a file name and with a charset in its content type',
    run: async (product) => {
      const answer = await sendParts(product, [
        FILE,
        {
          name: 'options',
          body: '{"formats":["html"]}',
          fileName: 'blob',
          contentType: 'application/json; charset=utf-8',
        },
      ]);
      assert.equal(answer.status, 200, answer.text);
      assert.match(answer.text, /<table/);
    },
  },
  {
    name: 'accepts a file name in raw UTF-8',
    run: async (product) =>
      assert.equal(
        (await expectSuccess(product, { ...SMALL_CSV, fileName: 'Bootsgröße 船.csv' })).metadata.sourceURL,
        'Bootsgröße 船.csv',
      ),
  },
  {
    name: 'accepts a file name in `filename*` (RFC 5987)',
    run: async (product) => {
      const disposition = `Content-Disposition: form-data; name="file"; filename*=UTF-8''Bootsgr%C3%B6%C3%9Fe%20%E8%88%B9.csv`;
      const answer = await sendParts(product, [{ ...FILE, disposition }]);
      assert.equal(answer.status, 200, answer.text);
      assert.match(answer.text, /"sourceURL":"Bootsgröße 船\.csv"/);
    },
  },
  ...['../../etc/passwd.csv', '/etc/passwd.csv', 'C:\\\\temp\\\\boats.csv', '..\\\\..\\\\boats.csv'].map(
    (fileName): ContractCase => ({
      name: `never uses the file name as a path (${fileName})`,
      run: async (product) => {
        const answer = await parse(product, { ...SMALL_CSV, fileName });
        if (answer.status === 400)
          await expectErrorThenServing(product, Promise.resolve(answer), 400, 'BAD_REQUEST', /name/i);
        else
          assert.doesNotMatch(
            (await expectSuccess(product, { ...SMALL_CSV, fileName })).metadata.sourceURL,
            /[\\/]|\.\.\W/,
          );
        await expectServing(product);
      },
    }),
  ),
  {
    name: 'detects the format by the extension in upper or lower case',
    run: async (product) =>
      assert.match(
        (await expectSuccess(product, { ...SMALL_CSV, fileName: 'BOATS.CsV', contentType: 'application/octet-stream' }))
          .markdown ?? '',
        /\| *Petrel *\| *42 *\|/,
      ),
  },
  {
    name: 'detects the format by the content type of the part when there is no extension',
    run: async (product) =>
      assert.equal(
        (await expectSuccess(product, { ...SMALL_CSV, fileName: 'boats', contentType: 'text/csv' })).metadata
          .contentType,
        'text/csv',
      ),
  },
  {
    name: 'detects a PDF named .docx by its content',
    run: async (product) => {
      const data = await expectSuccess(product, {
        file: await pdf([{ lines: ['Quiet water'] }]),
        fileName: 'water.docx',
      });
      assert.match(data.markdown ?? '', /Quiet water/);
      assert.equal(data.metadata.contentType, 'application/pdf');
    },
  },
  {
    name: 'detects RTF named .doc by its content',
    run: async (product) =>
      assert.match(
        (await expectSuccess(product, { file: rtf(), fileName: 'report.doc' })).markdown ?? '',
        /seventeen herons/,
      ),
  },
  {
    name: 'detects HTML named .doc by its content',
    run: async (product) =>
      assert.match(
        (await expectSuccess(product, { file: html(), fileName: 'report.doc' })).markdown ?? '',
        /seventeen herons/,
      ),
  },
  {
    name: 'detects a DOCX named .pdf by its content',
    run: async (product) => {
      const { bytes } = await sample('.docx');
      const data = await expectSuccess(product, { file: bytes, fileName: 'report.pdf' });
      for (const words of WORDS) assert.ok(data.markdown?.includes(words), words);
    },
  },
  {
    name: 'accepts a quoted boundary, a preamble, an epilogue and header names in any case (RFC 2046, 5.1.1)',
    run: async (product) => {
      const boundary = "b'()+_,-./:=? z";
      const body = `ignored preamble\r\n--${boundary}\r\ncontent-disposition: FORM-DATA; NAME="file"; FileName="boats.csv"\r\nCONTENT-TYPE: text/csv\r\n\r\n${SMALL_CSV.file}\r\n--${boundary}--\r\nignored epilogue`;
      const answer = await send(product, {
        body,
        headers: { 'content-type': `Multipart/Form-Data; charset=utf-8; boundary="${boundary}"` },
      });
      assert.match(successData(answer).markdown ?? '', /seventeen herons/);
    },
  },
  {
    name: 'parses a file with lines that look like a boundary',
    run: async (product) => {
      const data = await expectSuccess(product, {
        file: `a,b\r\n--not-the-boundary,1\r\n--${BOUNDARY.slice(0, -1)},2\r\n`,
        fileName: 'lines.csv',
      });
      assert.match(data.markdown ?? '', /not-the-boundary/);
      assert.ok(data.markdown?.includes(BOUNDARY.slice(0, -1)));
    },
  },
  {
    name: 'parses a chunked body that arrives in chunks of one byte',
    run: async (product) => {
      const { body, contentType } = multipart([FILE]);
      const chunks = (async function* () {
        for (const byte of body) yield Uint8Array.of(byte);
      })();
      assert.match(
        successData(await send(product, { body: chunks, headers: { 'content-type': contentType } })).markdown ?? '',
        /seventeen herons/,
      );
    },
  },
  {
    name: 'serves several requests over one connection, also after a 400',
    run: async (product) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const { body, contentType } = multipart([FILE]);
      const post = (payload: Buffer) =>
        new Promise<number>((resolve, reject) => {
          const headers = {
            authorization: `Bearer ${product.key}`,
            'content-type': contentType,
            'content-length': payload.length,
          };
          const request = httpRequest(`${product.url}/v2/parse`, { method: 'POST', agent, headers }, (response) => {
            response.resume();
            response.on('end', () => resolve(response.statusCode ?? 0));
          });
          request.on('error', reject);
          request.end(payload);
        });
      try {
        assert.equal(await post(body), 200);
        assert.equal(await post(multipart([{ ...FILE, fileName: 'notes.xyz' }]).body), 400);
        assert.equal(await post(body), 200);
      } finally {
        agent.destroy();
      }
    },
  },
];
