// Starts a real Prometheus with the chart's rules that scrapes the processes of a test.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../harness/ports.ts';
import { ruleFiles, ruleTests } from './chart-queries.ts';

const run = promisify(execFile);
const SCRAPE_SECONDS = 2;
const STARTUP_MS = 30_000;

/** A process to scrape. */
export interface Target {
  /** Base URL of its operations endpoints: `http://host:port`. */
  opsUrl: string;
  /** Labels that the service discovery of a cluster would add. */
  labels: Record<string, string>;
}

/** One series in the result of an instant query. */
export interface Series {
  metric: Record<string, string>;
  value: number;
}

interface RuleState {
  name: string;
  health: string;
  lastError?: string;
  state?: string;
}

export interface Prometheus {
  /** Replaces the targets. */
  scrape(targets: readonly Target[]): Promise<void>;
  query(expr: string): Promise<Series[]>;
  rules(): Promise<RuleState[]>;
  labelValues(label: string, match: string): Promise<string[]>;
  /** Scrape errors of the current targets. */
  scrapeErrors(): Promise<string[]>;
  stop(): Promise<void>;
}

/** Checks and tests the chart's rules with promtool. @returns its output @throws Error if a rule or a test fails */
export async function checkRules(): Promise<string> {
  const checked = await run('promtool', ['check', 'rules', '--lint=all', '--lint-fatal', ...(await ruleFiles())]);
  const tested = await run('promtool', ['test', 'rules', ...(await ruleTests())]);
  return `${checked.stdout}${tested.stdout}${tested.stderr}`;
}

/** Checks names and help texts of a scrape with promtool. @returns the lines of its output */
export async function checkMetrics(text: string): Promise<string[]> {
  const child = spawn('promtool', ['check', 'metrics'], { stdio: ['pipe', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  child.stdin.end(text);
  await once(child, 'close');
  return output.split('\n').filter((line) => line !== '');
}

/** Starts Prometheus with its data in `folder`. @throws Error with its output if it does not start */
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
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => {
    output = `${output}${chunk.toString()}`.slice(-4_000);
  });
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', (error) => {
      output += error.message;
      resolve();
    });
  });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const url = `http://127.0.0.1:${port}`;

  const get = async <Data>(path: string, parameters: Record<string, string> = {}): Promise<Data> => {
    const response = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(parameters)}`);
    const body = (await response.json()) as { status: string; error?: string; data: Data };
    if (body.status !== 'success') throw new Error(`${path} ${JSON.stringify(parameters)}: ${body.error}`);
    return body.data;
  };

  const limit = Date.now() + STARTUP_MS;
  while ((await fetch(`${url}/-/ready`).catch(() => undefined))?.status !== 200) {
    if (child.exitCode !== null || Date.now() > limit) {
      kill();
      throw new Error(`prometheus did not start: ${output}`);
    }
    await sleep(100);
  }

  return {
    async scrape(newTargets) {
      const groups = newTargets.map(({ opsUrl, labels }) => ({ targets: [new URL(opsUrl).host], labels }));
      await writeFile(`${targets}.new`, JSON.stringify(groups));
      await rename(`${targets}.new`, targets);
    },
    async query(expr) {
      const { result } = await get<{ result: { metric: Record<string, string>; value: [number, string] }[] }>('query', {
        query: expr,
      });
      return result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
    },
    async rules() {
      const { groups } = await get<{ groups: { rules: RuleState[] }[] }>('rules');
      return groups.flatMap(({ rules }) => rules);
    },
    labelValues: (label, match) => get<string[]>(`label/${label}/values`, { 'match[]': match }),
    async scrapeErrors() {
      const { activeTargets } = await get<{ activeTargets: { labels: Record<string, string>; lastError: string }[] }>(
        'targets',
      );
      return activeTargets.flatMap(({ labels, lastError }) => (lastError ? [`${labels.pod}: ${lastError}`] : []));
    },
    async stop() {
      child.kill('SIGTERM');
      await exited;
      process.off('exit', kill);
    },
  };
}
