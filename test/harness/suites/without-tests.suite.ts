// Fixture of report.test.ts: a test file without a test.
export {};
