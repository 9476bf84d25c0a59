// Defines a test case of the page, and a visit: one browser window that records everything that must not happen.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core';
import type { Product } from '../harness/product.ts';

export interface BrowserCase {
  /** One sentence about the page. */
  name: string;
  run(visit: Visit): Promise<void>;
}

/** Longest wait for a condition. It only ends what hangs. */
const WAIT_MS = 60_000;

const CHROMIUM = process.env.CHROMIUM_PATH ?? 'chromium';

/** Why the browser tests are skipped, or false if they run. In CI, a missing Chromium is a failure. */
export function browserSkipReason(): string | false {
  if (process.env.CI) return false;
  const { error } = spawnSync(CHROMIUM, ['--version'], { stdio: 'ignore' });
  return error ? 'SKIPPED: chromium is not installed (apt-get install chromium), so the page was not tested' : false;
}

/** Starts Chromium without a window. */
export function startBrowser(): Promise<Browser> {
  const which = spawnSync('sh', ['-c', `command -v ${CHROMIUM}`], { encoding: 'utf8' });
  // Chromium's own sandbox does not start for root, which containers use.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath: which.stdout.trim(), args });
}

interface VisitOptions {
  theme?: 'light' | 'dark';
  width?: number;
  height?: number;
}

/** A window with an empty storage. */
export class Visit {
  readonly product: Product;
  readonly context: BrowserContext;
  readonly page: Page;
  readonly #problems: string[] = [];
  #expected: RegExp | undefined;

  private constructor(product: Product, context: BrowserContext, page: Page) {
    this.product = product;
    this.context = context;
    this.page = page;
    page.setDefaultTimeout(WAIT_MS);
    page.on('pageerror', (error) => this.#problems.push(`exception: ${error.message}`));
    page.on('console', (message) => {
      // Chromium reports the status of each response that is an error. The page shows it to the user.
      const isStatus = message.text().startsWith('Failed to load resource: the server responded with a status of 4');
      if (['error', 'warning'].includes(message.type()) && !isStatus)
        this.#problems.push(`console ${message.type()}: ${message.text()} (${message.location().url})`);
    });
    page.on('request', (request) => {
      if (!/^(?:blob|data):/.test(request.url()) && new URL(request.url()).origin !== product.url)
        this.#problems.push(`request to another origin: ${request.url()}`);
    });
    page.on('dialog', (dialog) => {
      this.#problems.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
  }

  static async create(browser: Browser, product: Product, options: VisitOptions = {}): Promise<Visit> {
    const context = await browser.newContext({
      viewport: { width: options.width ?? 1280, height: options.height ?? 800 },
      colorScheme: options.theme ?? 'light',
      reducedMotion: 'reduce',
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    return new Visit(product, context, await context.newPage());
  }

  /** Opens the page. @param key of the API; the default is the key of the product; null: none */
  async open(key: string | null = this.product.key): Promise<void> {
    await this.page.goto(`${this.product.url}/${key === null ? '' : `#key=${key}`}`);
    // The entities come from the server, so the script has run when they are there.
    await this.page.locator('#entities input').first().waitFor({ state: 'attached' });
  }

  /** Chooses a file and sends it. */
  async parse(name: string, content: Uint8Array | string): Promise<void> {
    await this.page.setInputFiles('#file', { name, mimeType: '', buffer: Buffer.from(content) });
    await this.page.click('#parse');
  }

  /** Waits for a result. */
  async result(): Promise<void> {
    await this.page.locator('#result-title').waitFor();
  }

  tab(name: string): Locator {
    return this.page.getByRole('tab', { name }).first();
  }

  /** Waits until the expression is true in the page. Playwright's own wait needs `eval`, which the policy of the page forbids. */
  async until(expression: string): Promise<void> {
    const limit = Date.now() + WAIT_MS;
    while (!(await this.page.evaluate(expression))) {
      if (Date.now() > limit) assert.fail(`never true: ${expression}`);
      await pause(20);
    }
  }

  /** Problems that match are part of the case. */
  expectProblems(pattern: RegExp): void {
    this.#expected = pattern;
  }

  /** The text of the element that has the focus, or its label, or its id. */
  focused(): Promise<string> {
    return this.page.evaluate(
      '(({ activeElement: e }) => e === document.body ? "body" : e.getAttribute("aria-label") ?? (e.id || e.textContent))(document)',
    );
  }

  /** Asserts that nothing went wrong in the background, and closes the window. */
  async close(): Promise<void> {
    await this.context.close();
    assert.deepEqual(
      this.#problems.filter((problem) => !this.#expected?.test(problem)),
      [],
    );
  }
}
