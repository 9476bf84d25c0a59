// Fixture of report.test.ts: a test file that throws when it is loaded.
throw new Error('the file does not load');
