// Sends requests from a pod, because only requests inside the cluster go through the Service and the NetworkPolicies.
import { spawn } from 'node:child_process';
import { kubectl, run } from './command.ts';
import { imageOf } from './images.ts';

/** Result of a request. */
export interface Reply {
  /** 0 if there was no response. */
  status: number;
  text: string;
  ms: number;
}

/** Functions for scripts in the pod: `send` posts a file that `putFiles` wrote, `connect` tries a TCP connection. */
const PRELUDE = `
import { readFile } from 'node:fs/promises';
const send = async ({ url, key, name, options, timeoutMs = 310000 }) => {
  const started = Date.now();
  try {
    const form = new FormData();
    if (options) form.append('options', JSON.stringify(options));
    form.append('file', new Blob([await readFile('/tmp/' + name)]), name);
    const answer = await fetch(url + '/v2/parse', { method: 'POST', headers: { authorization: 'Bearer ' + key }, body: form, signal: AbortSignal.timeout(timeoutMs) });
    return { status: answer.status, text: await answer.text(), ms: Date.now() - started };
  } catch (error) {
    return { status: 0, text: String(error) + ' ' + String(error.cause ?? ''), ms: Date.now() - started };
  }
};
const connect = async (host, port) => {
  const net = await import('node:net');
  return new Promise((resolve) => {
    const socket = net.connect({ host, port, timeout: 3000 });
    const end = (result) => { socket.destroy(); resolve(result); };
    socket.on('connect', () => end('open')).on('timeout', () => end('timeout')).on('error', (error) => end(error.code ?? 'error'));
  });
};
`;

export class ClientPod {
  readonly #namespace: string;
  readonly #name: string;

  private constructor(namespace: string, name: string) {
    this.#namespace = namespace;
    this.#name = name;
  }

  /** Starts a pod and waits until it is ready. @param labels of the pod, which NetworkPolicies select by */
  static async start(namespace: string, name = 'client', labels: Record<string, string> = {}): Promise<ClientPod> {
    await run('kubectl', ['apply', '-f', '-'], { input: JSON.stringify(manifest(namespace, name, labels)) });
    await kubectl('wait', '-n', namespace, `pod/${name}`, '--for=condition=Ready', '--timeout=120s');
    return new ClientPod(namespace, name);
  }

  /** Writes files to /tmp of the pod. */
  async putFiles(files: Readonly<Record<string, Uint8Array>>): Promise<void> {
    const script = `import { writeFile } from 'node:fs/promises';
      const chunks = []; for await (const chunk of process.stdin) chunks.push(chunk);
      for (const [name, text] of Object.entries(JSON.parse(Buffer.concat(chunks)))) await writeFile('/tmp/' + name, Buffer.from(text, 'base64'));`;
    const input = JSON.stringify(
      Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')])),
    );
    await run('kubectl', [...this.#exec('-i'), 'node', '--input-type=module', '-e', script], { input });
  }

  /** Runs a script in the pod. @returns what the script returns, which must be serializable as JSON */
  async run<T>(script: string): Promise<T> {
    const text = await run('kubectl', [...this.#exec(), 'node', '--input-type=module', '-e', withPrelude(script)]);
    return JSON.parse(text) as T;
  }

  /** Sends requests one after the other. */
  send(requests: readonly object[]): Promise<Reply[]> {
    return this.run(
      `const replies = []; for (const request of ${JSON.stringify(requests)}) replies.push(await send(request)); return replies;`,
    );
  }

  /**
   * Sends the same request again and again until `stop` is called. `stop` waits for the last responses.
   * @param concurrency requests at the same time
   */
  load(request: object, concurrency: number): { stop(): Promise<Reply[]> } {
    const script = withPrelude(`
      let stopped = false;
      process.stdin.on('data', () => { stopped = true; }).on('end', () => { stopped = true; });
      const replies = [];
      await Promise.all(Array.from({ length: ${concurrency} }, async () => {
        while (!stopped) {
          const { status, text, ms } = await send(${JSON.stringify(request)});
          replies.push({ status, ms, text: status === 200 ? '' : text.slice(0, 300) });
        }
      }));
      process.stdin.destroy();
      return replies;`);
    const child = spawn('kubectl', [...this.#exec('-i'), 'node', '--input-type=module', '-e', script], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
    return {
      async stop() {
        child.stdin.end('stop\n');
        await closed;
        try {
          return JSON.parse(stdout) as Reply[];
        } catch (cause) {
          throw new Error(`the load printed no JSON: ${stdout.slice(0, 500)} ${stderr.slice(0, 1_000)}`, { cause });
        }
      },
    };
  }

  #exec(...flags: string[]): string[] {
    return ['exec', ...flags, '-n', this.#namespace, this.#name, '--'];
  }
}

const withPrelude = (script: string): string =>
  `${PRELUDE}\nconst result = await (async () => { ${script} })();\nprocess.stdout.write(JSON.stringify(result));`;

function manifest(namespace: string, name: string, labels: Record<string, string>): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: { client: name, ...labels } },
    spec: {
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 0,
      securityContext: { runAsNonRoot: true, runAsUser: 10001, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'client',
          image: imageOf('gateway'),
          imagePullPolicy: 'IfNotPresent',
          command: ['sleep', 'infinity'],
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
          volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
        },
      ],
      volumes: [{ name: 'tmp', emptyDir: {} }],
    },
  };
}
