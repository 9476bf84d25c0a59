// Installs the resource types of the Prometheus operator and the Gateway API, so that the API server can validate manifests that use them.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { attempt, kubectl, run, waitFor } from './command.ts';

interface Module {
  path: string;
  folder: string;
  /** Files of the types that the chart uses. */
  files: RegExp;
  /** One of the types, to check whether they are installed. */
  type: string;
}
const MODULES: readonly Module[] = [
  {
    path: 'github.com/prometheus-operator/prometheus-operator@v0.87.1',
    folder: 'example/prometheus-operator-crd',
    files: /_(servicemonitors|podmonitors|prometheusrules)\.yaml$/,
    type: 'servicemonitors.monitoring.coreos.com',
  },
  {
    path: 'sigs.k8s.io/gateway-api@v1.4.0',
    folder: 'config/crd/standard',
    files: /_httproutes\.yaml$/,
    type: 'httproutes.gateway.networking.k8s.io',
  },
];

/** Installs missing types from the Go modules of their projects. */
export async function installResourceTypes(): Promise<void> {
  for (const { path, folder, files, type } of MODULES) {
    if ((await attempt('kubectl', ['get', 'crd', type])).code === 0) continue;
    const { Dir } = JSON.parse(await run('go', ['mod', 'download', '-json', path])) as { Dir: string };
    const names = (await readdir(join(Dir, folder))).filter((name) => files.test(name));
    await kubectl('apply', '--server-side', ...names.flatMap((name) => ['-f', join(Dir, folder, name)]));
    // `kubectl wait` fails at once if the new type has no status yet.
    await waitFor(`the type ${type}`, 60, async () => {
      const wait = await attempt('kubectl', ['wait', '--for=condition=Established', `crd/${type}`, '--timeout=5s']);
      return wait.code === 0;
    });
  }
}
