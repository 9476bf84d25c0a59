// Tests that a CSV file of the largest size is converted in a process with little memory, because neither its text nor its table is kept.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import { convertWithin } from '#test/harness/limited-conversion.ts';

/** MiB of memory of the process. A started process uses 60, and the file is 50. The strings of its cells would need 500. */
const MEMORY_MIB = 240;
const ROW = '1234,2026-11-22,"Harbour, north","say ""hi""",Tromsø,-7.25\n';
const ROW_MARKDOWN = '| 1234 | 2026-11-22 | Harbour, north | say "hi" | Tromsø | -7.25 |';
const BACKSLASH = 0x5c;

test('converts a CSV file of the largest size to Markdown and HTML in a process with little memory', async () => {
  const row = Buffer.from(ROW);
  const rows = Math.floor(REQUEST_LIMITS.fileBytes / row.length);
  const bytes = Buffer.alloc(rows * row.length, row);
  let head = '';
  let escapes = 0;
  let size = 0;
  await convertWithin(
    {
      queue: 'csv',
      module: new URL('./worker.ts', import.meta.url),
      memoryMiB: MEMORY_MIB,
      file: { name: 'large.csv', bytes },
      container: 'text',
      fields: ['markdown', 'html'],
    },
    (part) => {
      if (head.length < 1_000) head += Buffer.from(part).toString('utf8');
      size += part.length;
      // The file contains no backslash, so each one starts an escape of JSON.
      for (let at = part.indexOf(BACKSLASH); at >= 0; at = part.indexOf(BACKSLASH, at + 1)) escapes++;
    },
  );
  assert.ok(head.startsWith(`{"markdown":${JSON.stringify(ROW_MARKDOWN).slice(0, -1)}\\n| --- |`), head.slice(0, 300));
  assert.ok(size > 3 * bytes.length, `${size} bytes`);
  // Each row of each table has two escaped quotes. The Markdown has a line end per row, and the HTML one more.
  assert.equal(escapes, rows * 3 + rows * 3 + 1);
});
