// Writes the generated deployment files (`npm run k8s`): the lists of services, and the kustomize base as Helm renders it from the chart.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments, stringify } from 'yaml';
import { helm } from './command.ts';
import { serviceLists } from './service-lists.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CHART = join(ROOT, 'charts/parsemesh');

interface Manifest {
  metadata: { labels: Record<string, string> };
}

async function render(...flags: string[]): Promise<string[]> {
  const text = await helm(
    'template',
    'parsemesh',
    CHART,
    '-n',
    'parsemesh',
    '-f',
    join(ROOT, 'k8s/values.yaml'),
    ...flags,
  );
  return parseAllDocuments(text).flatMap((document) => {
    const manifest: Manifest | null = document.toJS();
    if (manifest === null) return [];
    // These manifests are not managed by Helm.
    delete manifest.metadata.labels['helm.sh/chart'];
    manifest.metadata.labels['app.kubernetes.io/managed-by'] = 'kustomize';
    return [stringify(manifest, { lineWidth: 0 })];
  });
}

/** Path and text of every rendered file. */
export async function renderKustomize(): Promise<ReadonlyMap<string, string>> {
  const base = await render();
  const scaled = await render(
    '--set',
    'defaults.autoscaling.kind=keda',
    '--set',
    'services.gateway.autoscaling.minReplicas=2',
  );
  const autoscalers = scaled.filter((text) => /^kind: (HorizontalPodAutoscaler|ScaledObject)$/m.test(text));
  const file = (first: string, texts: readonly string[]): string => `# ${first}\n${texts.join('---\n')}`;
  return new Map([
    ['k8s/base/parsemesh.yaml', file('The chart as `npm run k8s` renders it.', base)],
    [
      'k8s/overlays/production/autoscalers.yaml',
      file("The chart's autoscalers as `npm run k8s` renders them.", autoscalers),
    ],
  ]);
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  // Write the lists first, because one of them is in the schema with which Helm validates the values of the chart.
  for (const generate of [serviceLists, renderKustomize])
    for (const [path, text] of await generate()) await writeFile(join(ROOT, path), text);
