// A pod from which a test sends requests, since only inside the cluster does a request go through the Service and the NetworkPolicies.
import { spawn } from 'node:child_process';
import { kubectl, run } from './command.ts';
import { imageOf } from './images.ts';

/** What a request sent from the desk came to. */
export interface Reply {
  /** 0 where there was no answer at all. */
  status: number;
  text: string;
  ms: number;
}

/** JavaScript that runs in the desk's pod: `send(file)` posts one of the files that `put` left there. */
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
    const end = (what) => { socket.destroy(); resolve(what); };
    socket.on('connect', () => end('open')).on('timeout', () => end('shut')).on('error', (error) => end(error.code ?? 'error'));
  });
};
`;

export class Desk {
  readonly namespace: string;
  readonly name: string;

  private constructor(namespace: string, name: string) {
    this.namespace = namespace;
    this.name = name;
  }

  /** @param labels of the pod, by which NetworkPolicies know it */
  static async open(namespace: string, name = 'desk', labels: Record<string, string> = {}): Promise<Desk> {
    await run('kubectl', ['apply', '-f', '-'], { input: JSON.stringify(manifest(namespace, name, labels)) });
    await kubectl('wait', '-n', namespace, `pod/${name}`, '--for=condition=Ready', '--timeout=120s');
    return new Desk(namespace, name);
  }

  /** Leaves files under /tmp of the pod. */
  async put(files: Readonly<Record<string, Uint8Array>>): Promise<void> {
    const script = `import { writeFile } from 'node:fs/promises';
      const chunks = []; for await (const chunk of process.stdin) chunks.push(chunk);
      for (const [name, text] of Object.entries(JSON.parse(Buffer.concat(chunks)))) await writeFile('/tmp/' + name, Buffer.from(text, 'base64'));`;
    const input = JSON.stringify(
      Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')])),
    );
    await run('kubectl', [...this.#exec('-i'), 'node', '--input-type=module', '-e', script], { input });
  }

  /** Runs a script in the pod that ends in `return` of something that JSON can say. */
  async run<T>(script: string): Promise<T> {
    const text = await run('kubectl', [...this.#exec(), 'node', '--input-type=module', '-e', wrapped(script)]);
    return JSON.parse(text) as T;
  }

  /** Sends files one after the other. */
  send(requests: readonly object[]): Promise<Reply[]> {
    return this.run(
      `const replies = []; for (const request of ${JSON.stringify(requests)}) replies.push(await send(request)); return replies;`,
    );
  }

  /**
   * Keeps sending until told to stop; every request is answered before `stop` resolves.
   * @param lanes requests at once
   */
  load(request: object, lanes: number): { stop(): Promise<Reply[]> } {
    const script = wrapped(`
      let stopped = false;
      process.stdin.on('data', () => { stopped = true; }).on('end', () => { stopped = true; });
      const replies = [];
      await Promise.all(Array.from({ length: ${lanes} }, async () => {
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
          throw new Error(`the load said no JSON: ${stdout.slice(0, 500)} ${stderr.slice(0, 1_000)}`, { cause });
        }
      },
    };
  }

  async close(): Promise<void> {
    await kubectl('delete', 'pod', this.name, '-n', this.namespace, '--ignore-not-found', '--now');
  }

  #exec(...flags: string[]): string[] {
    return ['exec', ...flags, '-n', this.namespace, this.name, '--'];
  }
}

const wrapped = (script: string): string =>
  `${PRELUDE}\nconst result = await (async () => { ${script} })();\nprocess.stdout.write(JSON.stringify(result));`;

function manifest(namespace: string, name: string, labels: Record<string, string>): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: { desk: name, ...labels } },
    spec: {
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 0,
      securityContext: { runAsNonRoot: true, runAsUser: 10001, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'desk',
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
