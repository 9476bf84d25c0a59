// Loaded before each test file: a file whose tests are over, but which still holds something open, fails by name instead of holding up the run.
import { after } from 'node:test';

/** What a file may take to close what its tests opened. */
const CLOSING_MS = 60_000;

// The process that runs the files, which loads this too, has no tests of its own.
if (process.env.NODE_TEST_CONTEXT?.startsWith('child'))
  after(() => {
    setTimeout(() => {
      const held = process.getActiveResourcesInfo().join(', ');
      console.error(`${process.argv[1]} is over but holds something open: ${held}`);
      process.exit(1);
    }, CLOSING_MS).unref();
  });
