// Generates the lists of services in the deployment files from the table of services; `npm run k8s` writes them.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { queuesOf, SERVICE_NAMES, WORKER_NAMES, WORKER_SERVICES } from '#shared/contract/services.ts';
import { natsUsers, renderAccounts } from './nats-accounts.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): Promise<string> => readFile(join(ROOT, path), 'utf8');

/**
 * Replaces the lines between `# BEGIN name` and `# END name`. The lines get the indentation of the first marker.
 * @throws Error if a marker is missing
 */
export function replaceBlock(text: string, name: string, lines: readonly string[]): string {
  const block = new RegExp(`^( *)# BEGIN ${name}\\b.*\\n(?:.*\\n)*? *# END ${name}$`, 'm').exec(text);
  if (!block) throw new Error(`the file has no lines \`# BEGIN ${name}\` and \`# END ${name}\``);
  const [found, indent = ''] = block;
  const begin = found.slice(0, found.indexOf('\n'));
  const content = [...lines, `# END ${name}`].map((line) => (line === '' ? '' : indent + line));
  return text.replace(found, () => [begin, ...content].join('\n'));
}

/**
 * One build target for each service. A stage `NAME-system`, if it exists, contains what the service needs beside its files.
 */
function dockerTargets(dockerfile: string): string[] {
  return [...WORKER_NAMES, 'gateway'].flatMap((name, index) => {
    const system = new RegExp(`^FROM .* AS ${name}-system$`, 'm').test(dockerfile) ? `${name}-system` : 'system';
    return [
      ...(index === 0 ? [] : ['']),
      `FROM ${system} AS ${name}`,
      `COPY --from=files /images/${name}/packages ./`,
      `COPY --from=files /images/${name}/app ./`,
      `LABEL org.opencontainers.image.title="parsemesh-${name}"`,
      ...(name === 'gateway' ? ['EXPOSE 8080'] : []),
      `CMD ["${name}"]`,
    ];
  });
}

function skaffold(text: string): string {
  const artifacts = SERVICE_NAMES.map(
    (name) => `- {image: parsemesh-${name}, docker: {dockerfile: Dockerfile, target: ${name}}}`,
  );
  const images = SERVICE_NAMES.map(
    (name) => `services.${name}.image: '{{.IMAGE_FULLY_QUALIFIED_parsemesh_${name.replaceAll('-', '_')}}}'`,
  );
  return replaceBlock(replaceBlock(text, 'artifacts', artifacts), 'images', images);
}

function valuesSchema(text: string): string {
  const schema = JSON.parse(text) as { properties: { services: { properties: object } } };
  schema.properties.services.properties = Object.fromEntries(
    SERVICE_NAMES.map((name) => [name, { $ref: '#/definitions/service' }]),
  );
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}

function productionImages(version: string): string[] {
  return SERVICE_NAMES.map(
    (name) => `- {name: parsemesh-${name}, newName: registry.example.com/parsemesh-${name}, newTag: ${version}}`,
  );
}

interface ChartService {
  concurrency?: number;
  resources?: { limits?: { memory?: string } };
}
interface ChartValues {
  defaults: ChartService;
  services: Readonly<Record<string, ChartService>>;
}

/** The worker services of compose.yaml, with the concurrency and the memory limits of the chart. */
function composeWorkers(values: ChartValues): string[] {
  return WORKER_NAMES.flatMap((name) => {
    const { concurrency, resources } = { ...values.defaults, ...values.services[name] };
    // Compose writes 5Gi as 5g.
    const memory = resources?.limits?.memory?.replace(/([GM])i$/, (unit) => unit.charAt(0).toLowerCase());
    return [
      `${name}:`,
      '  <<: *service',
      `  image: parsemesh-${name}`,
      `  build: {context: ., target: ${name}}`,
      `  mem_limit: ${memory}`,
      '  environment:',
      '    <<: *environment',
      ...queuesOf(name).map((queue) => `    ${queue.toUpperCase()}_CONCURRENCY: '${concurrency}'`),
      ...WORKER_SERVICES[name].variables.map((variable) => `    ${variable}:`),
      '',
    ];
  }).slice(0, -1);
}

/** The Secret of each NATS user, with a publicly known password. */
function developmentUsers(): string[] {
  return [...natsUsers.keys()].map((user) => {
    const url = `nats://${user}:development@parsemesh-nats.parsemesh.svc.cluster.local:4222`;
    return `- {name: parsemesh-nats-${user}, literals: [password=development, 'url=${url}']}`;
  });
}

/** Path and text of every file with a generated list. */
export async function serviceLists(): Promise<ReadonlyMap<string, string>> {
  const { version } = JSON.parse(await read('package.json')) as { version: string };
  const dockerfile = await read('Dockerfile');
  const development = 'k8s/overlays/dev/kustomization.yaml';
  const production = 'k8s/overlays/production/kustomization.yaml';
  const chart = parse(await read('charts/parsemesh/values.yaml')) as ChartValues;
  return new Map([
    ['compose.yaml', replaceBlock(await read('compose.yaml'), 'services', composeWorkers(chart))],
    ['Dockerfile', replaceBlock(dockerfile, 'services', dockerTargets(dockerfile))],
    ['charts/parsemesh/files/nats-accounts.conf', renderAccounts()],
    ['skaffold.yaml', skaffold(await read('skaffold.yaml'))],
    ['charts/parsemesh/values.schema.json', valuesSchema(await read('charts/parsemesh/values.schema.json'))],
    [development, replaceBlock(await read(development), 'users', developmentUsers())],
    [production, replaceBlock(await read(production), 'images', productionImages(version))],
  ]);
}
