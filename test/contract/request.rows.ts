// SPEC 2.1 and the request half of DECISIONS: parts, names and kinds that must be taken.
import assert from 'node:assert/strict';
import { Agent, request as httpRequest } from 'node:http';
import { BOUNDARY, multipart, parse, send, sendParts, successData } from '../harness/client.ts';
import { html, pdf, rtf, sample, WORDS } from '../harness/documents.ts';
import { badInput, goesOn, parsed, type Row, SMALL_CSV } from './row.ts';

const FILE = { name: 'file', body: SMALL_CSV.file, fileName: 'boats.csv', contentType: 'text/csv' };

export const rows: Row[] = [
  {
    name: '2.1 `file`: the bytes of the file, alone, are enough',
    run: async (product) => assert.match((await parsed(product, SMALL_CSV)).markdown ?? '', /seventeen herons/),
  },
  {
    name: '2.1 `options`: a text part with content type application/json',
    run: async (product) => {
      const data = await parsed(product, {
        ...SMALL_CSV,
        options: { formats: ['html'] },
        optionsType: 'application/json',
      });
      assert.ok(data.html?.includes('<table') && data.markdown === undefined);
    },
  },
  {
    name: '2.1 `options`: `{}` is every default',
    run: async (product) =>
      assert.deepEqual(Object.keys(await parsed(product, { ...SMALL_CSV, options: {} })).sort(), [
        'markdown',
        'metadata',
      ]),
  },
  {
    name: 'DECISIONS parts in any order: options first without a part content type, as both SDKs send it',
    run: async (product) => assert.ok((await parsed(product, { ...SMALL_CSV, options: { formats: ['html'] } })).html),
  },
  {
    name: 'DECISIONS parts in any order: file first, options after it',
    run: async (product) => {
      const data = await parsed(product, { ...SMALL_CSV, options: { formats: ['html'] }, fileFirst: true });
      assert.ok(data.html);
      assert.equal(data.markdown, undefined);
    },
  },
  {
    name: 'DECISIONS options with a charset in its content type, and as a file-like part with a filename',
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
    name: 'DECISIONS filenames: raw UTF-8',
    run: async (product) =>
      assert.equal(
        (await parsed(product, { ...SMALL_CSV, fileName: 'Bootsgröße 船.csv' })).metadata.sourceURL,
        'Bootsgröße 船.csv',
      ),
  },
  {
    name: 'DECISIONS filenames: RFC 5987 `filename*`',
    run: async (product) => {
      const disposition = `Content-Disposition: form-data; name="file"; filename*=UTF-8''Bootsgr%C3%B6%C3%9Fe%20%E8%88%B9.csv`;
      const answer = await sendParts(product, [{ ...FILE, disposition }]);
      assert.equal(answer.status, 200, answer.text);
      assert.match(answer.text, /"sourceURL":"Bootsgröße 船\.csv"/);
    },
  },
  ...['../../etc/passwd.csv', '/etc/passwd.csv', 'C:\\\\temp\\\\boats.csv', '..\\\\..\\\\boats.csv'].map(
    (fileName): Row => ({
      name: `DECISIONS filenames: never used as a path (${fileName})`,
      run: async (product) => {
        const answer = await parse(product, { ...SMALL_CSV, fileName });
        if (answer.status === 400) await badInput(product, Promise.resolve(answer), 400, 'BAD_REQUEST', /name/i);
        else
          assert.doesNotMatch((await parsed(product, { ...SMALL_CSV, fileName })).metadata.sourceURL, /[\\/]|\.\.\W/);
        await goesOn(product);
      },
    }),
  ),
  {
    name: 'DECISIONS kind: the extension decides, whatever its case',
    run: async (product) =>
      assert.match(
        (await parsed(product, { ...SMALL_CSV, fileName: 'BOATS.CsV', contentType: 'application/octet-stream' }))
          .markdown ?? '',
        /\| *Petrel *\| *42 *\|/,
      ),
  },
  {
    name: 'DECISIONS kind: no extension, the part content type decides',
    run: async (product) =>
      assert.equal(
        (await parsed(product, { ...SMALL_CSV, fileName: 'boats', contentType: 'text/csv' })).metadata.contentType,
        'text/csv',
      ),
  },
  {
    name: 'DECISIONS kind: the content wins over a wrong extension (a PDF called .docx)',
    run: async (product) => {
      const data = await parsed(product, { file: await pdf([{ lines: ['Quiet water'] }]), fileName: 'water.docx' });
      assert.match(data.markdown ?? '', /Quiet water/);
      assert.equal(data.metadata.contentType, 'application/pdf');
    },
  },
  {
    name: 'DECISIONS kind: the content wins over a wrong extension (RTF called .doc)',
    run: async (product) =>
      assert.match((await parsed(product, { file: rtf(), fileName: 'report.doc' })).markdown ?? '', /seventeen herons/),
  },
  {
    name: 'DECISIONS kind: the content wins over a wrong extension (HTML called .doc)',
    run: async (product) =>
      assert.match(
        (await parsed(product, { file: html(), fileName: 'report.doc' })).markdown ?? '',
        /seventeen herons/,
      ),
  },
  {
    name: 'DECISIONS kind: the content wins over a wrong extension (DOCX called .pdf)',
    run: async (product) => {
      const { bytes } = await sample('.docx');
      const data = await parsed(product, { file: bytes, fileName: 'report.pdf' });
      for (const words of WORDS) assert.ok(data.markdown?.includes(words), words);
    },
  },
  {
    name: '2.1 multipart/form-data: a quoted boundary, a preamble, an epilogue, and unusual case of names (RFC 2046, 5.1.1)',
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
    name: '2.1 multipart/form-data: a file whose bytes look like a boundary',
    run: async (product) => {
      const data = await parsed(product, {
        file: `a,b\r\n--not-the-boundary,1\r\n--${BOUNDARY.slice(0, -1)},2\r\n`,
        fileName: 'lines.csv',
      });
      assert.match(data.markdown ?? '', /not-the-boundary/);
      assert.ok(data.markdown?.includes(BOUNDARY.slice(0, -1)));
    },
  },
  {
    name: '2.1 a body without a length, in chunks of one byte',
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
    name: 'several requests over one connection, also after a refused one',
    run: async (product) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const { body, contentType } = multipart([FILE]);
      const ask = (payload: Buffer) =>
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
        assert.equal(await ask(body), 200);
        assert.equal(await ask(multipart([{ ...FILE, fileName: 'notes.txt' }]).body), 400);
        assert.equal(await ask(body), 200);
      } finally {
        agent.destroy();
      }
    },
  },
];
