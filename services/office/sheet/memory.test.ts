// Tests that a large workbook is converted in a process with little memory, because its cells are not JavaScript objects.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { largeWorkbook } from '#test/bench/large-documents.ts';
import { convertWithin } from '#test/harness/limited-conversion.ts';

const ROWS = 150_000;
/** MiB of memory of the process. A started process uses 90. Objects for these cells would need 200 more. */
const MEMORY_MIB = 190;
const BACKSLASH = 0x5c;

test(`converts a workbook of ${ROWS} rows with a shared string each in a process with little memory`, async () => {
  const { name, bytes } = largeWorkbook('unique', ROWS);
  let head = '';
  let lineEnds = 0;
  await convertWithin(
    {
      queue: 'office',
      module: new URL('../worker.ts', import.meta.url),
      memoryMiB: MEMORY_MIB,
      file: { name, bytes },
      container: 'zip',
      fields: ['markdown'],
    },
    (part) => {
      if (head.length < 1_000) head += Buffer.from(part).toString('utf8');
      for (let at = part.indexOf(BACKSLASH); at >= 0; at = part.indexOf(BACKSLASH, at + 1)) lineEnds++;
    },
  );
  assert.match(
    head.slice(0, 200),
    /^\{"markdown":"## Log\\n\\n\| [a-z ]+ 0 \| [\d.]+ \| \d{4}-\d\d-\d\d \| [a-z ]+ \d+ \|\\n\|/,
  );
  // The heading, a blank line and the rule of the table.
  assert.equal(lineEnds, ROWS - 1 + 3);
});
