// Runs the commands and programs that a page of the documentation shows, so that the page cannot differ from what works.
import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { marked } from 'marked';
import type { Product } from './product.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The URL and the key that the pages show. */
const SHOWN_URL = 'http://127.0.0.1:8080';
const SHOWN_KEY = 'fc-your-key';
const COMMAND_TIMEOUT_MS = 600_000;

export interface CodeBlock {
  /** The heading of level 2 above the block; empty before the first one. */
  section: string;
  /** `sh` for commands. */
  language: string;
  /** The name after the language. The reader saves such a block as a file. */
  fileName: string | undefined;
  text: string;
}

/** Returns the code blocks of a Markdown page, in order. @param path from the root of the repository */
export async function codeBlocks(path: string): Promise<CodeBlock[]> {
  const blocks: CodeBlock[] = [];
  let section = '';
  marked.walkTokens(marked.lexer(await readFile(join(ROOT, path), 'utf8')), (token) => {
    if (token.type === 'heading' && token.depth === 2) section = token.text;
    if (token.type !== 'code') return;
    const [language = '', fileName] = (token.lang ?? '').split(' ');
    blocks.push({ section, language, fileName, text: token.text });
  });
  return blocks;
}

/** Returns the commands of a shell block. A backslash at the end of a line continues the command. */
export const commandsOf = ({ text }: CodeBlock): string[] =>
  text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '');

/** Returns the shell command of a page that starts like this. @throws Error if the page has none */
export async function commandThatStarts(path: string, start: string): Promise<string> {
  const commands = (await codeBlocks(path)).filter(({ language }) => language === 'sh').flatMap(commandsOf);
  const found = commands.find((command) => command.startsWith(start));
  if (found === undefined) throw new Error(`${path} has no command that starts with ${start}`);
  return found;
}

/** Replaces the URL and the key that a page shows by those of a started product. */
export const withServer = (text: string, { url, key }: Pick<Product, 'url' | 'key'>): string =>
  text.replaceAll(SHOWN_URL, url).replaceAll(SHOWN_KEY, key);

interface CommandOptions {
  product: Pick<Product, 'url' | 'key'>;
  /** The current folder of the commands. */
  folder: string;
  /** Folders that come first in PATH. */
  path?: readonly string[];
  variables?: Record<string, string>;
}

/** The commands need a network that this machine does not have. */
export class OfflineError extends Error {
  override readonly name = 'OfflineError';
}

/**
 * Saves the blocks that have a file name, and runs the blocks of commands in one shell, which stops at the first error.
 * @returns what the commands print
 * @throws OfflineError; Error with the output if a command fails
 */
export async function runBlocks(blocks: readonly CodeBlock[], options: CommandOptions): Promise<string> {
  const { product, folder } = options;
  for (const { fileName, text } of blocks) {
    if (fileName === undefined) continue;
    await mkdir(dirname(join(folder, fileName)), { recursive: true });
    await writeFile(join(folder, fileName), withServer(text, product));
  }
  const commands = blocks.filter(({ language }) => language === 'sh').map(({ text }) => withServer(text, product));
  return runShell(commands.join('\n'), options);
}

/** The environment of commands: that of this process, so that npm and pip find its proxy and registry, without settings of a client. */
export function commandEnvironment(folder: string, path: readonly string[] = []): Record<string, string | undefined> {
  return {
    ...process.env,
    // npm and pip use what they downloaded before, so that a second run needs no network.
    npm_config_cache: join(ROOT, 'node_modules/.cache/npm'),
    npm_config_prefix: join(folder, 'global'),
    npm_config_prefer_offline: 'true',
    npm_config_fetch_retries: '1',
    npm_config_fetch_retry_mintimeout: '1000',
    npm_config_update_notifier: 'false',
    npm_config_fund: 'false',
    npm_config_audit: 'false',
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
    PYTHONDONTWRITEBYTECODE: '1',
    FIRECRAWL_API_URL: undefined,
    FIRECRAWL_API_KEY: undefined,
    PATH: [...path, join(folder, 'global/bin'), dirname(process.execPath), process.env.PATH ?? ''].join(':'),
  };
}

function runShell(script: string, { folder, path = [], variables = {} }: CommandOptions): Promise<string> {
  const env = { ...commandEnvironment(folder, path), ...variables };
  return new Promise((resolve, reject) => {
    const shell = spawn('bash', ['-euo', 'pipefail', '-c', script], {
      cwd: folder,
      env,
      timeout: COMMAND_TIMEOUT_MS,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    let errors = '';
    shell.stdout.on('data', (chunk) => {
      output += chunk;
    });
    shell.stderr.on('data', (chunk) => {
      errors += chunk;
    });
    shell.on('error', reject);
    shell.on('close', (code) => {
      if (code === 0) resolve(output);
      else if (
        /^npm (error|ERR!).*(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENOTCACHED|ETIMEDOUT|CERT)|No matching distribution found/m.test(
          errors,
        )
      )
        reject(new OfflineError(`a package cannot be downloaded: ${errors.trim().split('\n').at(-1)}`));
      else
        reject(new Error(`the commands end with ${code}\n${script}\n--- output:\n${output}\n--- errors:\n${errors}`));
    });
  });
}
