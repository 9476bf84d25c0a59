// Generates the lists of services in the deployment files from the table of services; `npm run k8s` writes them.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { QUEUE_NAMES, SERVICE_NAMES } from '#shared/contract/services.ts';

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
 * One build target for each service. A stage `NAME-system`, if it exists, contains the Debian packages that the service needs.
 * The gateway is last, because Docker builds the last target by default.
 */
function dockerTargets(dockerfile: string): string[] {
  return [...QUEUE_NAMES, 'gateway'].flatMap((name, index) => {
    const system = new RegExp(`^FROM .* AS ${name}-system$`, 'm').test(dockerfile) ? `${name}-system` : 'system';
    return [
      ...(index === 0 ? [] : ['']),
      `FROM ${system} AS ${name}`,
      'COPY --from=packages /app/node_modules ./node_modules',
      'COPY --from=source /app ./',
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

/** Path and text of every file with a generated list. */
export async function serviceLists(): Promise<ReadonlyMap<string, string>> {
  const { version } = JSON.parse(await read('package.json')) as { version: string };
  const dockerfile = await read('Dockerfile');
  const production = 'k8s/overlays/production/kustomization.yaml';
  return new Map([
    ['Dockerfile', replaceBlock(dockerfile, 'services', dockerTargets(dockerfile))],
    ['skaffold.yaml', skaffold(await read('skaffold.yaml'))],
    ['charts/parsemesh/values.schema.json', valuesSchema(await read('charts/parsemesh/values.schema.json'))],
    [production, replaceBlock(await read(production), 'images', productionImages(version))],
  ]);
}
