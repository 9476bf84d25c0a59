// Runs `npm run images`: builds the image of each service with its name in the chart and makes it available to the nodes of the cluster.
import { readFileSync } from 'node:fs';
import { copyFile, cp, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { SERVICE_NAMES, type ServiceName } from '#shared/contract/services.ts';
import { IMAGE_LIMIT_MB, layerBytes } from '../images/docker.ts';
import { attempt, run } from './command.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BUILD_MS = 1_800_000;

const read = (path: string): unknown => parse(readFileSync(join(ROOT, 'charts/parsemesh', path), 'utf8'));
const chart = read('values.yaml') as { image: { registry: string; repository: string }; nats: { image: string } };
const { appVersion } = read('Chart.yaml') as { appVersion: string };

/** The registry of the chart, or IMAGE_REGISTRY, to which the images are pushed. */
const registry = process.env.IMAGE_REGISTRY ?? chart.image.registry;

/** Name of the image of a service in the chart. */
export const imageOf = (service: string): string => `${registry}/${chart.image.repository}-${service}:${appVersion}`;

/** Values with which the chart uses these images. */
export const IMAGE_VALUES = { image: { registry } };

/**
 * IMAGE_TOOL is a program that builds images for a cluster without Docker and without a registry. Its commands are `build REF CONTEXT
 * [options of the builder]`, `bin REF UID /ENTRY FILE` and `debian REF PACKAGES`. Without it, Docker builds the images.
 */
const tool = process.env.IMAGE_TOOL;

/** Commands that load images of the local Docker into the nodes of a local cluster, by the name of its kubectl context. */
const LOCAL_CLUSTERS: readonly { context: RegExp; load?: (cluster: string, images: readonly string[]) => string[] }[] =
  [
    { context: /^(?:docker-desktop|rancher-desktop|orbstack)$/ },
    { context: /^kind-(.+)$/, load: (name, images) => ['kind', 'load', 'docker-image', '--name', name, ...images] },
    { context: /^(minikube)$/, load: (name, images) => ['minikube', 'image', 'load', '-p', name, ...images] },
  ];

/** Folder of the running npm. (`npm root -g` is wrong when the Node of the project runs npm.) */
async function npmPackage(): Promise<string> {
  const cli = process.env.npm_execpath ?? (await run('sh', ['-c', 'readlink -f "$(command -v npm)"'])).trim();
  return dirname(dirname(await realpath(cli)));
}

/** Images that the Dockerfile starts from. */
interface BaseImages {
  /** With Node 24 and npm. */
  node: string | undefined;
  /** Debian. */
  debian: string | undefined;
}

/** The images that NODE_IMAGE and BASE_IMAGE name. */
const GIVEN_BASES: BaseImages = { node: process.env.NODE_IMAGE, debian: process.env.BASE_IMAGE };

/** They replace node:24-bookworm-slim and debian:bookworm-slim if there is no registry. */
const LOCAL_BASES = { node: 'localhost/node:24', debian: 'localhost/debian-slim:12' };
/** What debian:bookworm-slim omits. */
const NOT_SLIM = 'rm -rf /usr/share/doc/* /usr/share/man/* /usr/share/info/* /usr/share/locale/* /var/lib/apt/lists/*';

async function buildBases(program: string): Promise<BaseImages> {
  await run(program, ['debian', 'localhost/debian:12', 'ca-certificates']);
  const npm = await npmPackage();
  const context = await mkdtemp(join(tmpdir(), 'parsemesh-base-'));
  // `--squash` makes one layer, because this Debian image has no history, and the builder rejects an image with fewer entries than layers.
  const build = async (image: string, lines: readonly string[]): Promise<void> => {
    await writeFile(join(context, 'Dockerfile'), ['ARG BASE', `FROM $\{BASE}`, ...lines, ''].join('\n'));
    await run(program, ['build', image, context, '--squash', '--build-arg', 'BASE=localhost/debian:12']);
  };
  try {
    await build(LOCAL_BASES.debian, [`RUN ${NOT_SLIM}`]);
    await copyFile(process.execPath, join(context, 'node'));
    await cp(npm, join(context, 'npm'), { recursive: true });
    await mkdir(join(context, 'certificates'));
    // The builder may need the certificates of the same proxy as this machine.
    await copyFile('/etc/ssl/certs/ca-certificates.crt', join(context, 'certificates/ca-certificates.crt'));
    await build(LOCAL_BASES.node, [
      'COPY node /usr/local/bin/node',
      'COPY npm /usr/local/lib/node_modules/npm',
      'COPY certificates /etc/ssl/certs',
      'ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt',
      'RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && node --version && npm --version',
    ]);
    return LOCAL_BASES;
  } finally {
    await rm(context, { recursive: true, force: true });
  }
}

async function findNatsServer(): Promise<string> {
  for (const program of ['nats-server', '/usr/sbin/nats-server']) {
    const found = await attempt('sh', ['-c', `command -v ${program}`]);
    if (found.code === 0) return found.stdout.trim();
  }
  throw new Error('nats-server is not installed: apt-get install nats-server');
}

/** Options of the builder: target, Dockerfile, base images and labels. */
async function buildOptions(service: string, { node, debian }: BaseImages): Promise<string[]> {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const revision = (await attempt('git', ['rev-parse', 'HEAD'], { cwd: ROOT })).stdout.trim();
  return [
    ...['--target', service, '-f', join(ROOT, 'Dockerfile')],
    ...(node === undefined ? [] : ['--build-arg', `NODE=${node}`]),
    ...(debian === undefined ? [] : ['--build-arg', `BASE=${debian}`]),
    ...['--label', `org.opencontainers.image.version=${version}`],
    ...['--label', `org.opencontainers.image.revision=${revision}`],
  ];
}

/** Builds one image after the other, because all targets share their layers. */
async function buildEach(
  bases: BaseImages,
  build: (image: string, options: string[]) => Promise<unknown>,
): Promise<void> {
  for (const service of SERVICE_NAMES) {
    const started = Date.now();
    await build(imageOf(service), await buildOptions(service, bases));
    process.stdout.write(`${imageOf(service)}: ${Math.round((Date.now() - started) / 1_000)} s\n`);
  }
}

/** Builds with IMAGE_TOOL. It also builds the base images and NATS, because such a cluster cannot pull them. */
async function buildWithTool(program: string): Promise<void> {
  const bases = GIVEN_BASES.node && GIVEN_BASES.debian ? GIVEN_BASES : await buildBases(program);
  await run(program, ['bin', chart.nats.image, '10001', '/nats-server', await findNatsServer()]);
  await buildEach(bases, (image, options) =>
    run(program, ['build', image, ROOT, '--layers', ...options], { timeoutMs: BUILD_MS }),
  );
}

/** Prints the size of an image. @throws Error if it is above its limit */
async function checkSize(service: ServiceName): Promise<void> {
  const megabytes = (await layerBytes(imageOf(service))).reduce((sum, size) => sum + size, 0) / 1e6;
  process.stdout.write(`${imageOf(service)}: ${Math.round(megabytes)} MB\n`);
  if (megabytes > IMAGE_LIMIT_MB[service])
    throw new Error(`The image ${imageOf(service)} is larger than ${IMAGE_LIMIT_MB[service]} MB.`);
}

/**
 * Builds with Docker and loads the images into the nodes, or pushes them to IMAGE_REGISTRY.
 * @throws Error, before the build, if there is no known way to get the images to the nodes
 */
async function buildWithDocker(): Promise<void> {
  const context = (await attempt('kubectl', ['config', 'current-context'])).stdout.trim();
  const local = LOCAL_CLUSTERS.find((cluster) => cluster.context.test(context));
  const push = process.env.IMAGE_REGISTRY !== undefined;
  if (!local && !push)
    throw new Error(
      `The kubectl context ${JSON.stringify(context)} is not a local cluster (minikube, kind, Docker Desktop). Set IMAGE_REGISTRY to a registry that this machine and the nodes can reach.`,
    );
  await buildEach(GIVEN_BASES, (image, options) =>
    run('docker', ['build', '-t', image, ...options, ROOT], { env: { DOCKER_BUILDKIT: '1' }, timeoutMs: BUILD_MS }),
  );
  for (const service of SERVICE_NAMES) await checkSize(service);
  const images = SERVICE_NAMES.map(imageOf);
  if (push) for (const image of images) await run('docker', ['push', image], { timeoutMs: BUILD_MS });
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
