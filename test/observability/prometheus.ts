// A real Prometheus on the chart's rules that scrapes processes of a test, as the operator's own would.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../harness/product.ts';
import { ruleFiles, ruleTests } from './queries.ts';

const run = promisify(execFile);
const SCRAPE_SECONDS = 2;
const STARTUP_MS = 30_000;

/** A process to scrape. */
export interface Target {
  /** `http://host:port` of its operations endpoints. */
  opsUrl: string;
  /** What a cluster's discovery would say of it. */
  labels: Record<string, string>;
}

/** One series of an instant query. */
export interface Series {
  metric: Record<string, string>;
  value: number;
}

export interface RuleState {
  name: string;
  health: string;
  lastError?: string;
  state?: string;
}

export interface Prometheus {
  /** Scrapes these from now on, instead of the ones before. */
  scrape(targets: readonly Target[]): Promise<void>;
  query(expr: string): Promise<Series[]>;
  rules(): Promise<RuleState[]>;
  labelValues(label: string, match: string): Promise<string[]>;
  /** Faults of the targets that are scraped now. */
  scrapeErrors(): Promise<string[]>;
  stop(): Promise<void>;
}

/** Debian's promtool over the chart's rules. @returns what it said. @throws Error where a rule or a rule's test fails */
export async function checkRules(): Promise<string> {
  const checked = await run('promtool', ['check', 'rules', '--lint=all', '--lint-fatal', ...(await ruleFiles())]);
  const tested = await run('promtool', ['test', 'rules', ...(await ruleTests())]);
  return `${checked.stdout}${tested.stdout}${tested.stderr}`;
}

/** promtool's opinion of a scrape's names and help texts. @returns its complaints */
export async function checkMetrics(text: string): Promise<string[]> {
  const child = spawn('promtool', ['check', 'metrics'], { stdio: ['pipe', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  child.stdin.end(text);
  await once(child, 'close');
  return said.split('\n').filter((line) => line !== '');
}

/** Starts it in a folder of its own. @throws Error with its own words where it does not come up */
export async function startPrometheus(folder: string): Promise<Prometheus> {
  await mkdir(folder, { recursive: true });
  const port = await freePort();
  const targets = join(folder, 'targets.json');
  await writeFile(targets, '[]');
  const config = {
    global: { scrape_interval: `${SCRAPE_SECONDS}s`, scrape_timeout: `${SCRAPE_SECONDS}s`, evaluation_interval: '2s' },
    rule_files: await ruleFiles(),
    scrape_configs: [{ job_name: 'parsemesh', file_sd_configs: [{ files: [targets], refresh_interval: '2s' }] }],
  };
  // JSON is YAML.
  await writeFile(join(folder, 'prometheus.yml'), JSON.stringify(config));
  const child = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = `${said}${chunk.toString()}`.slice(-4_000);
  });
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', (error) => {
      said += error.message;
      resolve();
    });
  });
  const end = (): void => void child.kill('SIGKILL');
  process.once('exit', end);
  const url = `http://127.0.0.1:${port}`;

  const ask = async <Data>(path: string, parameters: Record<string, string> = {}): Promise<Data> => {
    const response = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(parameters)}`);
    const body = (await response.json()) as { status: string; error?: string; data: Data };
    if (body.status !== 'success') throw new Error(`${path} ${JSON.stringify(parameters)}: ${body.error}`);
    return body.data;
  };

  const limit = Date.now() + STARTUP_MS;
  while ((await fetch(`${url}/-/ready`).catch(() => undefined))?.status !== 200) {
    if (child.exitCode !== null || Date.now() > limit) {
      end();
      throw new Error(`prometheus did not come up: ${said}`);
    }
    await sleep(100);
  }

  return {
    async scrape(wanted) {
      const groups = wanted.map(({ opsUrl, labels }) => ({ targets: [new URL(opsUrl).host], labels }));
      await writeFile(`${targets}.new`, JSON.stringify(groups));
      await rename(`${targets}.new`, targets);
    },
    async query(expr) {
      const { result } = await ask<{ result: { metric: Record<string, string>; value: [number, string] }[] }>('query', {
        query: expr,
      });
      return result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
    },
    async rules() {
      const { groups } = await ask<{ groups: { rules: RuleState[] }[] }>('rules');
      return groups.flatMap(({ rules }) => rules);
    },
    labelValues: (label, match) => ask<string[]>(`label/${label}/values`, { 'match[]': match }),
    async scrapeErrors() {
      const { activeTargets } = await ask<{ activeTargets: { labels: Record<string, string>; lastError: string }[] }>(
        'targets',
      );
      return activeTargets.flatMap(({ labels, lastError }) => (lastError ? [`${labels.pod}: ${lastError}`] : []));
    },
    async stop() {
      child.kill('SIGTERM');
      await exited;
      process.off('exit', end);
    },
  };
}
