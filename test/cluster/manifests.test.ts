// Tests that chart, Dockerfile, skaffold and kustomize list the services of shared/contract/services.ts, and that the values of the chart fit the limits of the code.
import assert from 'node:assert/strict';
import { glob, readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { parse, parseAllDocuments } from 'yaml';
import { REQUEST_LIMITS, TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import { QUEUES, queuesOf, SERVICE_NAMES, WORKER_NAMES } from '#shared/contract/services.ts';
import { environmentSchema } from '#shared/runtime/config.ts';
import { documentedValues } from '../docs/chart.ts';
import { replaceBlock, serviceLists } from './service-lists.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CHART = 'charts/parsemesh';
const text = (path: string): Promise<string> => readFile(`${ROOT}${path}`, 'utf8');

interface Service {
  concurrency?: number | null;
  drainSeconds?: number;
  resources?: { limits?: { memory?: string } };
  autoscaling?: { jobsPerReplica?: number };
}
interface Values {
  defaults: Required<Service>;
  services: Record<string, Service>;
  keys: { selector: string };
}
const values: Values = parse(await text(`${CHART}/values.yaml`));
const schema: object = JSON.parse(await text(`${CHART}/values.schema.json`));
const names = Object.keys(values.services).sort();

test('every service of shared/contract/services.ts has a folder under services/, and no other folder exists', async () => {
  const entries = await readdir(`${ROOT}services`, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  assert.deepEqual(folders.sort(), [...SERVICE_NAMES].sort(), 'folders under services/, shared/contract/services.ts');
});

test('the chart has settings for every service of shared/contract/services.ts, and for no other', () => {
  const missing = SERVICE_NAMES.filter((name) => !names.includes(name));
  assert.deepEqual(missing, [], 'add these to `services` in charts/parsemesh/values.yaml, with requests and limits');
  assert.deepEqual(names, [...SERVICE_NAMES].sort(), 'remove the others from charts/parsemesh/values.yaml');
});

for (const [path, generated] of await serviceLists())
  test(`${path} lists the services of shared/contract/services.ts`, async () => {
    assert.equal(await text(path), generated, 'run `npm run k8s` and commit the result');
  });

test('the generator fails if a file has no markers for its list', () => {
  assert.equal(
    replaceBlock('a\n  # BEGIN x\n  old\n  # END x\nb', 'x', ['new']),
    'a\n  # BEGIN x\n  new\n  # END x\nb',
  );
  assert.throws(() => replaceBlock('# BEGIN x\n', 'x', []), /no lines `# BEGIN x` and `# END x`/);
});

test('the images start with the commands of `npm run service` and `npm start`', async () => {
  const entries = [...(await text('Dockerfile')).matchAll(/^ENTRYPOINT (\[.*\])$/gm)].map(([, entry = '']) => {
    const [entrypoint, ...args] = JSON.parse(entry) as string[];
    assert.equal(entrypoint, '/usr/local/bin/parsemesh');
    return ['node', ...args].join(' ');
  });
  assert.match(await text('services/entrypoint.sh'), /^exec \/usr\/bin\/tini -- node "\$@"/m);
  const { scripts } = JSON.parse(await text('package.json')) as { scripts: { service: string; start: string } };
  assert.deepEqual(entries, [scripts.service, scripts.start]);
});

interface ComposeService {
  image: string;
  build?: { target: string };
  networks: readonly string[];
  read_only?: boolean;
  cap_drop?: readonly string[];
  security_opt?: readonly string[];
  mem_limit?: string;
  ports?: readonly string[];
  environment?: Record<string, string | null>;
}
const compose: { services: Record<string, ComposeService>; networks: { mesh: { internal?: boolean } } } = parse(
  await text('compose.yaml'),
  { merge: true },
);

test('compose.yaml runs every service with its own image, and the same NATS version and limits as the chart', async () => {
  assert.deepEqual(Object.keys(compose.services).sort(), ['nats', ...SERVICE_NAMES].sort());
  for (const name of SERVICE_NAMES) assert.equal(compose.services[name]?.build?.target, name);
  const { nats } = parse(await text(`${CHART}/values.yaml`)) as {
    nats: { image: string; jetstream: { memoryStorage: string; fileStorage: string } };
  };
  assert.equal(compose.services.nats?.image, `${nats.image}-alpine`);
  const config = await text('compose.nats.conf');
  assert.match(config, new RegExp(`max_memory_store: ${nats.jetstream.memoryStorage}\\n`));
  assert.match(config, new RegExp(`max_file_store: ${nats.jetstream.fileStorage}\\n`));
});

test('each container of compose.yaml has a memory limit, a read-only root and no privileges, and only the gateway leaves the internal network', () => {
  assert.equal(compose.networks.mesh.internal, true);
  for (const [name, service] of Object.entries(compose.services)) {
    assert.equal(service.read_only, true, name);
    assert.deepEqual(service.cap_drop, ['ALL'], name);
    assert.deepEqual(service.security_opt, ['no-new-privileges:true'], name);
    assert.match(service.mem_limit ?? '', /^\d+[mg]$/, name);
    assert.deepEqual(service.networks, name === 'gateway' ? ['mesh', 'edge'] : ['mesh'], name);
    assert.equal(service.ports !== undefined, name === 'gateway', name);
  }
});

test('compose.yaml sets only environment variables of the configuration', () => {
  const known = Object.keys(environmentSchema.shape);
  for (const [name, { environment }] of Object.entries(compose.services))
    assert.deepEqual(
      Object.keys(environment ?? {}).filter((variable) => !known.includes(variable)),
      [],
      name,
    );
});

const validate = new Ajv({ strict: true, allowUnionTypes: true, allErrors: true }).compile(schema);
const schemaErrors = (candidate: unknown): string[] =>
  validate(candidate) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);

test('values.yaml and every file of values under ci/ satisfy the schema', async () => {
  assert.deepEqual(schemaErrors(values), []);
  let combinations = 0;
  for await (const path of glob(`${CHART}/ci/*-values.yaml`, { cwd: ROOT })) {
    combinations++;
    assert.deepEqual(schemaErrors(parse(await text(path))), [], basename(path));
  }
  assert.ok(combinations >= 9, `${combinations} combinations`);
});

const INVALID: readonly (readonly [what: string, values: object])[] = [
  ['an unknown value', { replicas: 2 }],
  ['an unknown service', { services: { word: {} } }],
  ['a misspelled setting of a service', { services: { pdf: { replica: 2 } } }],
  ['an unknown kind of autoscaler', { defaults: { autoscaling: { kind: 'vpa' } } }],
  ['a number of pods as text', { services: { ocr: { replicas: '2' } } }],
  ['a port out of range', { service: { port: 70_000 } }],
  ['memory that is not a quantity', { nats: { jetstream: { memoryStorage: 'much' } } }],
  ['a variable name with a dash', { defaults: { env: { 'LOG-LEVEL': 'info' } } }],
  ['an endpoint without a scheme', { llm: { baseUrl: 'models.example.com' } }],
  ['a key selector that is not `label=value`', { keys: { selector: 'api-key' } }],
];
for (const [what, candidate] of INVALID)
  test(`the schema rejects ${what}`, () => assert.notDeepEqual(schemaErrors(candidate), []));

test('every value of the chart has a description', async () => {
  const { values: documented, bare } = documentedValues(await text(`${CHART}/values.yaml`));
  assert.deepEqual(
    bare.filter((path) => !path.startsWith('services.')),
    [],
  );
  assert.ok(documented.length > 100);
});

/** Converts a quantity such as `4Gi` to MiB. */
function mebibytes(quantity: string): number {
  const [, number, unit] = /^(\d+)(Mi|Gi)$/.exec(quantity) ?? [];
  assert.ok(number !== undefined, `${quantity} must be a quantity in Mi or Gi`);
  return Number(number) * (unit === 'Gi' ? 1024 : 1);
}

/** Memory of a worker's process, without its isolated processes. */
const PARENT_MIB = 512;
for (const name of WORKER_NAMES)
  test(`the memory limit of ${name} pods is enough for all their parallel conversions at the limit of one conversion`, () => {
    const service = { ...values.defaults, ...values.services[name] };
    const memory = service.resources.limits?.memory;
    assert.ok(memory, `set services.${name}.resources.limits.memory in charts/parsemesh/values.yaml`);
    const limit = mebibytes(memory);
    const jobs = (service.concurrency ?? 1) + TRANSPORT_LIMITS.spareSlots;
    const needed = jobs * queuesOf(name).reduce((sum, queue) => sum + QUEUES[queue].memoryMiB, 0) + PARENT_MIB;
    assert.ok(
      limit >= needed,
      `the limit is ${limit} MiB, but ${needed} MiB may be used: the kernel would kill the pod instead of one conversion`,
    );
  });

test('the autoscaler adds a pod when all pods are busy and a job waits', () => {
  for (const [name, service] of Object.entries(values.services)) {
    const concurrency = service.concurrency === undefined ? values.defaults.concurrency : service.concurrency;
    if (name === 'gateway' || concurrency === null) continue;
    const jobs = service.autoscaling?.jobsPerReplica ?? values.defaults.autoscaling.jobsPerReplica ?? Infinity;
    assert.ok(
      jobs <= concurrency,
      `${name}: with ${jobs} jobs per pod, ${concurrency} running jobs never start another pod`,
    );
  }
});

test('the drain time of pods is longer than the longest allowed request timeout', () => {
  for (const [name, service] of Object.entries(values.services)) {
    const seconds = service.drainSeconds ?? values.defaults.drainSeconds;
    assert.ok(seconds * 1_000 > REQUEST_LIMITS.timeoutMaxMs, name);
  }
});

test('the chart sets only environment variables of the configuration', async () => {
  const known = new Set([
    ...Object.keys(environmentSchema.shape),
    'HOME',
    'TMPDIR',
    'KEYS_SOURCE',
    'KEYS_NAMESPACE',
    'KEYS_SELECTOR',
  ]);
  const service = await text(`${CHART}/templates/_service.tpl`);
  const set = [...service.matchAll(/(?:set \$env|dict|^ {2}|["\d] )\s*"([A-Z][A-Z_]+)" /gm)].map(
    (match) => match[1] ?? '',
  );
  assert.ok(set.includes('HOST') && set.includes('KEYS_SOURCE'), `variables that were found: ${set.join(' ')}`);
  assert.deepEqual(
    set.filter((name) => !known.has(name)),
    [],
  );
});

test('the chart and the gateway use the same label for keys', () => {
  assert.equal(values.keys.selector, environmentSchema.shape.KEYS_SELECTOR.parse(undefined));
});

test('the chart has the version of the product', async () => {
  const chart = parse(await text(`${CHART}/Chart.yaml`)) as { appVersion: string };
  const { version } = JSON.parse(await text('package.json')) as { version: string };
  assert.equal(chart.appVersion, version);
});

test('the kustomize base runs every service, and the patches of the overlays target existing resources', async () => {
  const manifests = parseAllDocuments(await text('k8s/base/parsemesh.yaml')).map((document) => document.toJS());
  const deployments = manifests.filter((manifest) => manifest.kind === 'Deployment');
  assert.deepEqual(
    deployments.map((manifest) => manifest.metadata.labels['app.kubernetes.io/component']).sort(),
    names,
  );
  const kinds = new Map(manifests.map((manifest) => [`${manifest.kind}/${manifest.metadata.name}`, manifest]));
  for await (const path of glob('k8s/overlays/*/kustomization.yaml', { cwd: ROOT })) {
    const overlay = parse(await text(path)) as {
      patches?: { target: { kind: string; name?: string } }[];
      images?: { name: string }[];
    };
    for (const { target } of overlay.patches ?? [])
      if (target.name !== undefined && !/[.*|]/.test(target.name))
        assert.ok(kinds.has(`${target.kind}/${target.name}`), `${path}: ${target.kind}/${target.name}`);
  }
});
