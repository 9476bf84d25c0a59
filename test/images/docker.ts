// Builds the images with Docker, and adds up the sizes of their layers.
import { fileURLToPath } from 'node:url';
import type { ImageTarget } from '#services/image-files.ts';
import { run } from '../cluster/command.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BUILD_MS = 1_800_000;

/** The program that builds and runs containers. */
export const DOCKER = process.env.DOCKER ?? 'docker';

/** Name of an image in compose.yaml and in docs/docker.md. */
export const imageName = (target: ImageTarget): string => (target === 'all' ? 'parsemesh' : `parsemesh-${target}`);

/** Megabytes of all layers of an image, with its base. The images with LibreOffice are larger. */
export const IMAGE_LIMIT_MB: Readonly<Record<ImageTarget, number>> = {
  gateway: 300,
  pdf: 300,
  ocr: 300,
  office: 750,
  html: 300,
  csv: 300,
  pii: 300,
  enrich: 300,
  all: 850,
};

/** Builds one target of the Dockerfile. NODE_IMAGE and BASE_IMAGE replace its base images. */
export async function buildImage(target: ImageTarget, image = imageName(target)): Promise<void> {
  const { NODE_IMAGE: node, BASE_IMAGE: base } = process.env;
  const bases = [...(node ? ['--build-arg', `NODE=${node}`] : []), ...(base ? ['--build-arg', `BASE=${base}`] : [])];
  await run(DOCKER, ['build', '--target', target, '-t', image, ...bases, ROOT], {
    env: { DOCKER_BUILDKIT: '1' },
    timeoutMs: BUILD_MS,
  });
}

/** Bytes of each layer of an image that is not empty, uncompressed, the base first. */
export async function layerBytes(image: string): Promise<number[]> {
  const sizes = await run(DOCKER, ['history', '--human=false', '--format', '{{.Size}}', image]);
  return sizes
    .trim()
    .split('\n')
    .map(Number)
    .filter((size) => size > 0)
    .reverse();
}
