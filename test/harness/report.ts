// Turns the events of Node's test runner into the output of `npm test`: failures and a summary, or every test.
import { relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

interface TestEvent {
  name: string;
  /** Where `test` is called. */
  file?: string;
  line?: number;
  nesting: number;
  details: { duration_ms: number; type?: string; error?: Error & { failureType?: string } };
  skip?: string | boolean;
  todo?: string | boolean;
}

/** The events of `run` from node:test that the report needs. It ignores the others. */
export type RunEvent =
  | { type: 'test:enqueue' | 'test:dequeue' | 'test:plan'; data: unknown }
  | { type: 'test:start'; data: Pick<TestEvent, 'name' | 'nesting'> }
  | { type: 'test:pass' | 'test:fail' | 'test:complete'; data: TestEvent }
  | { type: 'test:stdout' | 'test:stderr'; data: { file: string; message: string } }
  | { type: 'test:diagnostic'; data: { file?: string; nesting: number; message: string } }
  | { type: 'test:summary'; data: { file?: string; success: boolean } };

interface ReportOptions {
  /** Absolute paths of the test files. */
  files: readonly string[];
  /** The folder that paths are printed relative to. */
  root: string;
  /** Print every test and everything that the files write. */
  verbose?: boolean;
}

const SLOWEST = 10;
/** Different reasons of skipped tests that are printed. */
const SKIP_REASONS = 10;
const ERROR_LINES = 60;
/** The last lines of a failed file's output that are printed. */
const OUTPUT_LINES = 60;
const OUTPUT_CHARACTERS = 64 * 1024;
const NO_TESTS = 'the file has no tests, or its process exited before they ended';

function lastLines(text: string, count: number): string {
  const lines = text.trimEnd().split('\n');
  const left = lines.length - count;
  return left <= 0 ? lines.join('\n') : [`... ${left} lines before`, ...lines.slice(-count)].join('\n');
}

const indent = (text: string, by = '    '): string => text.replace(/^(?=.)/gm, by);

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

function formatDuration(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

export class Report {
  readonly #files: ReadonlySet<string>;
  readonly #root: string;
  readonly #rootUrl: string;
  readonly #verbose: boolean;
  readonly #started = performance.now();
  /** Names of the suites and tests that are open, by nesting. */
  readonly #path: string[] = [];
  readonly #outputs = new Map<string, string>();
  readonly #durations = new Map<string, number>();
  /** Files that have reported the end of their tests, or a failure of the file. */
  readonly #ended = new Set<string>();
  readonly #failures: string[] = [];
  readonly #skipReasons = new Map<string, number>();
  #passed = 0;
  #failed = 0;
  #skipped = 0;
  #cancelled = 0;

  constructor({ files, root, verbose = false }: ReportOptions) {
    this.#files = new Set(files);
    this.#root = root;
    this.#rootUrl = pathToFileURL(root).href.replace(/\/?$/, '/');
    this.#verbose = verbose;
  }

  /** Tests that failed or were cancelled, and files that failed themselves. */
  get failed(): number {
    return this.#failed;
  }

  /** Takes one event. @returns the text to print now */
  add(event: RunEvent): string {
    switch (event.type) {
      case 'test:start':
        this.#path.length = event.data.nesting;
        this.#path.push(event.data.name);
        return '';
      case 'test:stdout':
      case 'test:stderr':
        return this.#keepOutput(event.data.file, event.data.message);
      case 'test:complete':
        if (this.#isFile(event.data)) this.#durations.set(event.data.file ?? '', event.data.details.duration_ms);
        return '';
      case 'test:pass':
        return this.#pass(event.data);
      case 'test:fail':
        return this.#fail(event.data);
      case 'test:summary':
        return event.data.file === undefined ? '' : this.#endFile(event.data.file, event.data.success);
      case 'test:diagnostic':
        return this.#diagnose(event.data);
      default:
        return '';
    }
  }

  /** @returns the failures that only the end shows, and the summary. Its last line has the form `1 passed, 0 failed, 2 skipped` */
  end(): string {
    let text = this.#files.size === 0 ? this.#failFile('.', 'no test file matches') : '';
    for (const file of this.#files) if (!this.#ended.has(file)) text += this.#failFile(file, NO_TESTS);
    const skipped = this.#skipped > 0 ? `, ${this.#skipped} skipped` : '';
    const lines = [
      ...this.#slowestFiles(),
      ...this.#skippedTests(),
      ...(this.#failures.length > 0 ? ['Failed:', ...this.#failures.map((one) => `  ${one}`)] : []),
      ...(this.#cancelled > 0
        ? [`Cancelled because their suite failed or timed out: ${plural(this.#cancelled, 'test')}`]
        : []),
      `${plural(this.#files.size, 'file')} in ${formatDuration(performance.now() - this.#started)}`,
      `${this.#passed} passed, ${this.#failed} failed${skipped}`,
    ];
    return `${text}${lines.join('\n')}\n`;
  }

  /** Whether the event is about a complete file, which the runner reports like a test whose name is the path. */
  #isFile({ name, file, nesting }: TestEvent): boolean {
    return nesting === 0 && file !== undefined && (name === file || name === relative(this.#root, file));
  }

  #pass(test: TestEvent): string {
    // A file with tests is only reported if it fails.
    if (this.#isFile(test)) return this.#failFile(test.file ?? '', NO_TESTS);
    const isSkipped =
      (test.skip !== undefined && test.skip !== false) || (test.todo !== undefined && test.todo !== false);
    if (isSkipped) {
      this.#skipped++;
      const reason = String(test.skip ?? test.todo);
      this.#skipReasons.set(reason, (this.#skipReasons.get(reason) ?? 0) + 1);
    } else if (test.details.type !== 'suite') this.#passed++;
    return this.#verbose ? this.#line(isSkipped ? '﹣' : '✔', test) : '';
  }

  #fail(test: TestEvent): string {
    const { error, type } = test.details;
    if (this.#isFile(test)) return this.#failFile(test.file ?? '', 'the file failed outside of its tests');
    const bySubtest = error?.failureType === 'subtestsFailed';
    if (type === 'suite' && bySubtest) return '';
    this.#failed++;
    if (bySubtest) return '';
    if (error?.failureType === 'cancelledByParent') {
      this.#cancelled++;
      return '';
    }
    const place = `${this.#relative(test.file ?? '')}:${test.line ?? 0}`;
    const name = [...this.#path.slice(0, test.nesting), test.name].join(' > ');
    this.#failures.push(`${place} ${name}`);
    return `✖ ${place}\n  ${name}\n${indent(this.#describeError(error))}\n\n`;
  }

  #failFile(file: string, reason: string): string {
    this.#ended.add(file);
    this.#failed++;
    const place = this.#relative(file);
    this.#failures.push(place);
    return `✖ ${place}\n${indent(reason)}\n${this.#outputOf(file)}\n`;
  }

  #endFile(file: string, success: boolean): string {
    this.#ended.add(file);
    const output = success ? '' : this.#outputOf(file);
    this.#outputs.delete(file);
    return output;
  }

  #keepOutput(file: string, message: string): string {
    if (this.#verbose) return message;
    this.#outputs.set(file, `${this.#outputs.get(file) ?? ''}${message}`.slice(-OUTPUT_CHARACTERS));
    return '';
  }

  /** A file's diagnostics name, for example, an error that was thrown after its test had passed. */
  #diagnose({ file, nesting, message }: { file?: string; nesting: number; message: string }): string {
    if (this.#verbose) return `${'  '.repeat(nesting)}ℹ ${message}\n`;
    return file === undefined ? '' : this.#keepOutput(file, `${message}\n`);
  }

  #outputOf(file: string): string {
    const output = this.#outputs.get(file);
    this.#outputs.delete(file);
    if (!output?.trim()) return '';
    return `  output of ${this.#relative(file)}:\n${indent(lastLines(output, OUTPUT_LINES), '  | ')}\n\n`;
  }

  /** The message and the assertion's diff, then the stack without the frames of Node. */
  #describeError(error: Error | undefined): string {
    const cause = error?.cause instanceof Error ? error.cause : error;
    const text = cause?.stack ?? cause?.message ?? 'failed without an error';
    const lines = text
      .replaceAll(this.#rootUrl, '')
      .split('\n')
      .filter((line) => !/^\s+at .*node:/.test(line));
    const left = lines.length - ERROR_LINES;
    return left <= 0 ? lines.join('\n') : [...lines.slice(0, ERROR_LINES), `... ${left} more lines`].join('\n');
  }

  #line(mark: string, { name, nesting, details }: TestEvent): string {
    return `${'  '.repeat(nesting)}${mark} ${name} (${details.duration_ms.toFixed(0)} ms)\n`;
  }

  #slowestFiles(): string[] {
    const slowest = [...this.#durations].sort(([, a], [, b]) => b - a).slice(0, SLOWEST);
    if (slowest.length === 0) return [];
    return [
      'Slowest files:',
      ...slowest.map(([file, ms]) => `  ${(ms / 1_000).toFixed(1).padStart(6)} s  ${this.#relative(file)}`),
    ];
  }

  #skippedTests(): string[] {
    if (this.#skipReasons.size === 0) return [];
    const reasons = [...this.#skipReasons].sort(([, a], [, b]) => b - a);
    const left = reasons.length - SKIP_REASONS;
    return [
      'Skipped:',
      ...reasons.slice(0, SKIP_REASONS).map(([reason, count]) => `  ${count}  ${reason}`),
      ...(left > 0 ? [`  ... and for ${left} more reasons`] : []),
    ];
  }

  #relative(file: string): string {
    return relative(this.#root, file.startsWith('file:') ? fileURLToPath(file) : file);
  }
}
