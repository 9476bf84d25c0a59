// Loaded before each test file: makes a file fail by name if something stays open after its tests, instead of blocking the run.
import { after } from 'node:test';

/** Time for the tests of a file to close what they have opened. */
const CLOSING_MS = 120_000;

// The process that starts the files can load this module too, and has no tests.
if (process.env.NODE_TEST_CONTEXT?.startsWith('child'))
  after(() => {
    setTimeout(() => {
      const open = process.getActiveResourcesInfo().join(', ');
      console.error(`the tests of ${process.argv[1]} have ended, but these resources are still open: ${open}`);
      process.exit(1);
    }, CLOSING_MS).unref();
  });
