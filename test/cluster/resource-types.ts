// The resource types of the Prometheus operator and the Gateway API, so that the API server judges manifests of operators that are not there.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { attempt, kubectl, run } from './command.ts';

interface Module {
  path: string;
  folder: string;
  /** Whether a file of the folder is one of the types that the chart makes. */
  wanted: RegExp;
  /** One of its types, to see whether they are there already. */
  type: string;
}
const MODULES: readonly Module[] = [
  {
    path: 'github.com/prometheus-operator/prometheus-operator@v0.87.1',
    folder: 'example/prometheus-operator-crd',
    wanted: /_(servicemonitors|podmonitors|prometheusrules)\.yaml$/,
    type: 'servicemonitors.monitoring.coreos.com',
  },
  {
    path: 'sigs.k8s.io/gateway-api@v1.4.0',
    folder: 'config/crd/standard',
    wanted: /_httproutes\.yaml$/,
    type: 'httproutes.gateway.networking.k8s.io',
  },
];

/** Adds those that are missing, from the operators' own Go modules. */
export async function installResourceTypes(): Promise<void> {
  for (const { path, folder, wanted, type } of MODULES) {
    if ((await attempt('kubectl', ['get', 'crd', type])).code === 0) continue;
    const { Dir } = JSON.parse(await run('go', ['mod', 'download', '-json', path])) as { Dir: string };
    const files = (await readdir(join(Dir, folder))).filter((name) => wanted.test(name));
    await kubectl('apply', '--server-side', ...files.flatMap((name) => ['-f', join(Dir, folder, name)]));
    await kubectl('wait', '--for=condition=Established', `crd/${type}`, '--timeout=60s');
  }
}
