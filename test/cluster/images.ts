// Builds the image of every service and puts it where the cluster's nodes find it; run by itself, it does so for all.
import { copyFile, cp, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SERVICE_NAMES } from '#services/registry.ts';
import { attempt, run } from './command.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** `localhost/parsemesh-pdf:test` and so on. */
export const REGISTRY = 'localhost';
export const REPOSITORY = 'parsemesh';
export const TAG = process.env.IMAGE_TAG ?? 'test';
export const NATS_IMAGE = process.env.NATS_IMAGE ?? 'localhost/nats:test';
/** A Debian with Node 24 and npm that the builder has; made from this machine's where none is named. */
const BASE = process.env.BASE_IMAGE ?? 'localhost/node:24';

export const imageOf = (service: string, tag = TAG): string => `${REGISTRY}/${REPOSITORY}-${service}:${tag}`;

/**
 * A program that puts images into a cluster without a registry: `build REF CONTEXT [options of the builder]`,
 * `bin REF UID /ENTRY FILE`, `debian REF PACKAGES`. Where none is named, the images are taken to be there.
 */
const tool = process.env.IMAGE_TOOL;

/** The folder of the npm that runs here; where the project's own Node runs it, `npm root -g` names one that is not there. */
async function npmPackage(): Promise<string> {
  const cli = process.env.npm_execpath ?? (await run('sh', ['-c', 'readlink -f "$(command -v npm)"'])).trim();
  return dirname(dirname(await realpath(cli)));
}

/** Debian with this machine's Node 24 and npm: what node:24-bookworm-slim is where there is a registry. */
async function buildBase(image: string): Promise<void> {
  await run(image, ['debian', 'localhost/debian:12', 'ca-certificates']);
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
    await run(image, ['build', BASE, context, '--squash', '--build-arg', 'BASE=localhost/debian:12']);
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

/** Builds and brings every image (all targets share their layers). */
export async function bringImages(services: readonly string[] = SERVICE_NAMES): Promise<void> {
  if (!tool) return;
  if (process.env.BASE_IMAGE === undefined) await buildBase(tool);
  await run(tool, ['bin', NATS_IMAGE, '10001', '/nats-server', await natsServer()]);
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const revision = (await attempt('git', ['rev-parse', 'HEAD'], { cwd: ROOT })).stdout.trim();
  for (const service of services) {
    const started = Date.now();
    await run(
      tool,
      [
        ...['build', imageOf(service), ROOT, '--layers', '--target', service, '-f', join(ROOT, 'Dockerfile')],
        ...['--build-arg', `BASE=${BASE}`],
        ...['--label', `org.opencontainers.image.version=${version}`],
        ...['--label', `org.opencontainers.image.revision=${revision}`],
      ],
      { timeoutMs: 1_800_000 },
    );
    process.stdout.write(`${imageOf(service)}: ${Math.round((Date.now() - started) / 1_000)} s\n`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bringImages();
