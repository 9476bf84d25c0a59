// Tests the JSON of records whose texts are written piece by piece.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DOCUMENT_LIMITS } from '../contract/limits.ts';
import type { StreamedTexts } from './document.ts';
import { streamedRecord } from './streamed-record.ts';
import { escapeJson, joinPieces, jsonString, type TextPieces } from './text-pieces.ts';

const textsOf = (markdown: () => TextPieces, html: () => TextPieces = () => [], references = ''): StreamedTexts => ({
  markdown,
  html,
  references: () => references,
});

const recordOf = (texts: StreamedTexts, fields: Parameters<typeof streamedRecord>[1]['fields']) =>
  JSON.parse(Buffer.concat([...streamedRecord(texts, { fields })]).toString('utf8')) as unknown;

describe('streamed records', () => {
  test('have the requested fields in their order, and no others', () => {
    const texts = textsOf(
      () => ['# a'],
      () => ['<p>', '"é😀\n"', '</p>'],
    );
    assert.deepEqual(recordOf(texts, ['html', 'summary', 'markdown', 'rawHtml']), {
      html: '<p>"é😀\n"</p>',
      markdown: '# a',
      rawHtml: '<p>"é😀\n"</p>',
    });
    assert.deepEqual(recordOf(texts, ['summary']), {});
    assert.deepEqual(recordOf(texts, []), {});
  });

  test('list links and images from the HTML of the references', () => {
    const html = '<a href="https://a.example/b">b</a><a href="javascript:x()">x</a><img src="https://a.example/c.png">';
    assert.deepEqual(
      recordOf(
        textsOf(
          () => [],
          () => [],
          html,
        ),
        ['links', 'images'],
      ),
      {
        links: ['https://a.example/b'],
        images: ['https://a.example/c.png'],
      },
    );
    assert.deepEqual(
      recordOf(
        textsOf(() => []),
        ['links', 'images'],
      ),
      { links: [], images: [] },
    );
  });
});

describe('texts in pieces', () => {
  const text = 'plain "quoted" \\ back\u0000\u001f\n\t\r\b\f é日😀\u2028';
  const pieces = (): TextPieces => [text, Buffer.from(escapeJson(text)), '', Buffer.alloc(0), text];

  test('are the same as JSON and as a string, whether they are strings or escaped bytes', () => {
    assert.equal(JSON.parse(Buffer.concat([...jsonString(pieces())]).toString('utf8')), text.repeat(3));
    assert.equal(joinPieces(pieces()), text.repeat(3));
  });

  test('are written in chunks that do not grow with the text', () => {
    const piece = 'x'.repeat(50_000);
    function* many(): TextPieces {
      for (let i = 0; i < 400; i++) yield i % 2 === 0 ? piece : Buffer.from(piece);
    }
    let size = 0;
    for (const chunk of jsonString(many())) {
      assert.ok(chunk.length < 1 << 20, `${chunk.length} bytes`);
      size += chunk.length;
    }
    assert.equal(size, 400 * 50_000 + 2);
  });

  test('throw DOCUMENT_TOO_COMPLEX above the length of a field', () => {
    const piece = Buffer.alloc(1 << 20, 'x');
    function* endless(): TextPieces {
      for (;;) yield piece;
    }
    let size = 0;
    assert.throws(
      () => {
        for (const chunk of jsonString(endless())) size += chunk.length;
      },
      { code: 'DOCUMENT_TOO_COMPLEX' },
    );
    assert.throws(() => joinPieces(endless()), { code: 'DOCUMENT_TOO_COMPLEX' });
    assert.ok(size <= DOCUMENT_LIMITS.fieldLength + 1, `${size} bytes were written`);
  });
});
