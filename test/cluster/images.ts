// Builds the image of every service under the name that the chart gives it, and puts it where the nodes of the current cluster find it: `npm run images`.
import { readFileSync } from 'node:fs';
import { copyFile, cp, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { SERVICE_NAMES } from '#shared/contract/services.ts';
import { attempt, run } from './command.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BUILD_MS = 1_800_000;

const read = (path: string): unknown => parse(readFileSync(join(ROOT, 'charts/parsemesh', path), 'utf8'));
const chart = read('values.yaml') as { image: { registry: string; repository: string }; nats: { image: string } };
const { appVersion } = read('Chart.yaml') as { appVersion: string };

/** The chart's own, so that it is installed as it is; elsewhere where one is named, to which the images are then pushed. */
const registry = process.env.IMAGE_REGISTRY ?? chart.image.registry;

/** What the chart calls a service's image. */
export const imageOf = (service: string): string => `${registry}/${chart.image.repository}-${service}:${appVersion}`;

/** Values that make the chart ask for these images. */
export const IMAGE_VALUES = { image: { registry } };

/**
 * A program that puts images into a cluster that neither Docker nor a registry reaches: `build REF CONTEXT [options of
 * the builder]`, `bin REF UID /ENTRY FILE`, `debian REF PACKAGES`. Docker builds where none is named.
 */
const tool = process.env.IMAGE_TOOL;

/** How the nodes of a local cluster are handed images that Docker built, by the name of its kubectl context. */
const LOCAL_CLUSTERS: readonly { context: RegExp; load?: (cluster: string, images: readonly string[]) => string[] }[] =
  [
    { context: /^(?:docker-desktop|rancher-desktop|orbstack)$/ },
    { context: /^kind-(.+)$/, load: (name, images) => ['kind', 'load', 'docker-image', '--name', name, ...images] },
    { context: /^(minikube)$/, load: (name, images) => ['minikube', 'image', 'load', '-p', name, ...images] },
  ];

/** The folder of the npm that runs here; where the project's own Node runs it, `npm root -g` names one that is not there. */
async function npmPackage(): Promise<string> {
  const cli = process.env.npm_execpath ?? (await run('sh', ['-c', 'readlink -f "$(command -v npm)"'])).trim();
  return dirname(dirname(await realpath(cli)));
}

/** Debian with this machine's Node 24 and npm: what node:24-bookworm-slim is where there is a registry. */
const LOCAL_BASE = 'localhost/node:24';

async function buildBase(program: string): Promise<void> {
  await run(program, ['debian', 'localhost/debian:12', 'ca-certificates']);
  const context = await mkdtemp(join(tmpdir(), 'parsemesh-base-'));
  try {
    const npm = await npmPackage();
    await copyFile(process.execPath, join(context, 'node'));
    await cp(npm, join(context, 'npm'), { recursive: true });
    await mkdir(join(context, 'certificates'));
    // The builder may sit behind the same proxy as this machine.
    await copyFile('/etc/ssl/certs/ca-certificates.crt', join(context, 'certificates/ca-certificates.crt'));
    await writeFile(
      join(context, 'Dockerfile'),
      [
        'ARG BASE',
        `FROM $\{BASE}`,
        'COPY node /usr/local/bin/node',
        'COPY npm /usr/local/lib/node_modules/npm',
        'COPY certificates /etc/ssl/certs',
        'ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt',
        'RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && node --version && npm --version',
        '',
      ].join('\n'),
    );
    // One layer, because the Debian made from packages has no history, and a builder that keeps layers refuses fewer entries than layers.
    await run(program, ['build', LOCAL_BASE, context, '--squash', '--build-arg', 'BASE=localhost/debian:12']);
  } finally {
    await rm(context, { recursive: true, force: true });
  }
}

async function natsServer(): Promise<string> {
  for (const program of ['nats-server', '/usr/sbin/nats-server']) {
    const found = await attempt('sh', ['-c', `command -v ${program}`]);
    if (found.code === 0) return found.stdout.trim();
  }
  throw new Error('nats-server is not installed');
}

/** What every image is labelled with, and the base that it is built on where one is named. */
async function buildOptions(service: string, base: string | undefined): Promise<string[]> {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const revision = (await attempt('git', ['rev-parse', 'HEAD'], { cwd: ROOT })).stdout.trim();
  return [
    ...['--target', service, '-f', join(ROOT, 'Dockerfile')],
    ...(base === undefined ? [] : ['--build-arg', `BASE=${base}`]),
    ...['--label', `org.opencontainers.image.version=${version}`],
    ...['--label', `org.opencontainers.image.revision=${revision}`],
  ];
}

/** Builds one image after the other (all targets share their layers). */
async function buildEach(
  base: string | undefined,
  build: (image: string, options: string[]) => Promise<unknown>,
): Promise<void> {
  for (const service of SERVICE_NAMES) {
    const started = Date.now();
    await build(imageOf(service), await buildOptions(service, base));
    process.stdout.write(`${imageOf(service)}: ${Math.round((Date.now() - started) / 1_000)} s\n`);
  }
}

/** By a program of the cluster's, with all that such a cluster cannot pull: the base, and NATS. */
async function buildWithTool(program: string): Promise<void> {
  const base = process.env.BASE_IMAGE ?? LOCAL_BASE;
  if (process.env.BASE_IMAGE === undefined) await buildBase(program);
  await run(program, ['bin', chart.nats.image, '10001', '/nats-server', await natsServer()]);
  await buildEach(base, (image, options) =>
    run(program, ['build', image, ROOT, '--layers', ...options], { timeoutMs: BUILD_MS }),
  );
}

/**
 * By Docker, and on to the nodes.
 * @throws Error, before anything is built, where nothing is known of how they come by images
 */
async function buildWithDocker(): Promise<void> {
  const context = (await attempt('kubectl', ['config', 'current-context'])).stdout.trim();
  const local = LOCAL_CLUSTERS.find((cluster) => cluster.context.test(context));
  const pushes = process.env.IMAGE_REGISTRY !== undefined;
  if (!local && !pushes)
    throw new Error(
      `the cluster of kubectl's context ${JSON.stringify(context)} is no local one (minikube, kind, Docker Desktop) whose nodes take images from here: set IMAGE_REGISTRY to a registry that you and they reach`,
    );
  await buildEach(process.env.BASE_IMAGE, (image, options) =>
    run('docker', ['build', '-t', image, ...options, ROOT], { env: { DOCKER_BUILDKIT: '1' }, timeoutMs: BUILD_MS }),
  );
  const images = SERVICE_NAMES.map(imageOf);
  if (pushes) for (const image of images) await run('docker', ['push', image], { timeoutMs: BUILD_MS });
  else if (local?.load) {
    const [program = '', ...args] = local.load(local.context.exec(context)?.[1] ?? '', images);
    await run(program, args, { timeoutMs: BUILD_MS });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await (tool === undefined ? buildWithDocker() : buildWithTool(tool));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  }
}
