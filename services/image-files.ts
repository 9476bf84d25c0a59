// `node services/image-files.ts FOLDER [TARGET ...]`: copies what each image contains to FOLDER/TARGET. The Dockerfile runs it while it builds.
import { existsSync } from 'node:fs';
import { copyFile, glob, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeFileTrace } from '@vercel/nft';
import { SERVICE_NAMES, type ServiceName } from '#shared/contract/services.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const require = createRequire(import.meta.url);

/** An image: one service, or `all` for every service in one process group. */
export type ImageTarget = ServiceName | 'all';
export const IMAGE_TARGETS: readonly ImageTarget[] = [...SERVICE_NAMES, 'all'];

/** The files that are started directly. `keys.ts` is for `docker exec`. */
const ENTRIES: Partial<Record<ImageTarget, readonly string[]>> = {
  gateway: ['services/service.ts', 'services/keys.ts'],
  all: ['services/start.ts', 'services/keys.ts'],
};
const entriesOf = (target: ImageTarget): readonly string[] => ENTRIES[target] ?? ['services/service.ts'];

const isOwn = (path: string): boolean => /^(?:services|shared|fixtures)\//.test(path);
const isTest = (path: string): boolean => /\.test\.ts$|\/testing\//.test(path);

/** Files that no running program reads, in a package that is copied completely. */
const UNUSED = /\.map$|\.d\.[cm]?ts$|\.tsbuildinfo$|\/(?:test|tests|__tests__|docs?|examples?)\/|\.(?:md|markdown)$/i;
/** Licences require that copies contain their text. */
const LICENCE = /^(?:licen[cs]e|notice|copying|third[-_]?party)/i;

const contents = new Map<string, Promise<string | Buffer | null>>();

/** Reads a file for the tracer, which expects JavaScript. Paths are absolute. */
function readForTrace(path: string): Promise<string | Buffer | null> {
  let content = contents.get(path);
  if (content === undefined) {
    content = readFile(path).then(
      (bytes) => (/(?<!\.d)\.[cm]?ts$/.test(path) ? stripTypeScriptTypes(bytes.toString()) : bytes),
      () => null,
    );
    contents.set(path, content);
  }
  return content;
}

/** Folder of the package that a file belongs to, such as `node_modules/a/node_modules/@b/c`; undefined for our own files. */
function packageFolder(path: string): string | undefined {
  return /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)(?:\/|$)/.exec(path)?.[1];
}

/** Name of the package that a file belongs to. */
const packageName = (folder: string): string =>
  folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);

interface LockedPackage {
  dev?: boolean;
  dependencies?: Record<string, string>;
}
const locked = (
  JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as { packages: Record<string, LockedPackage> }
).packages;
/** The packages of package.json, without `node`: the images have a Node of their own. */
const dependencies = new Set(Object.keys(locked['']?.dependencies ?? {}).filter((name) => name !== 'node'));

/** Whether production may use the package: it is in the lock file, and not only for development. */
const isProduction = (folder: string): boolean => locked[folder] !== undefined && locked[folder].dev !== true;

/** What the strings of our sources name inside of packages. */
interface NamedFiles {
  /** Single files, as paths from the root. */
  files: Set<string>;
  /** Packages whose folder the code looks up, because it computes the names of the files that it reads. */
  folders: Set<string>;
}

/**
 * Finds files of packages that are not imported but located at run time: `resolve('a/b.wasm')` names a file. The name of a package, or
 * `resolve('a/package.json')`, names the complete package, because the code then computes the names of the files that it reads.
 */
function namedFiles(source: string): NamedFiles {
  const named: NamedFiles = { files: new Set(), folders: new Set() };
  for (const [, specifier = ''] of source.matchAll(/(?<!\b(?:from|import) *\(?)['"`](@?[\w.-]+[\w./@-]*)['"`]/g)) {
    const name = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? '';
    if (!dependencies.has(name)) continue;
    if (specifier === name || specifier === `${name}/package.json`) named.folders.add(`node_modules/${name}`);
    else
      try {
        named.files.add(require.resolve(specifier).slice(ROOT.length));
      } catch {
        // Another string that begins with the name of a package.
      }
  }
  return named;
}

/** WebAssembly files that a file of a package names. Their loaders compute the path, so that the tracer does not find it. */
async function loadedWasm(path: string): Promise<string[]> {
  const source = (await readForTrace(join(ROOT, path)))?.toString() ?? '';
  const names = new Set([...source.matchAll(/[\w.-]+\.wasm\b/g)].map(([name]) => join(dirname(path), name)));
  return [...names].filter((file) => existsSync(join(ROOT, file)));
}

/** Programs that a source starts by their URL, as paths from the root: `new URL('./child.ts', import.meta.url)`. */
const startedPrograms = (path: string, source: string): string[] =>
  [...source.matchAll(/new URL\(\s*['"](\.[^'"]+\.(?:ts|pl))['"]/g)].map(([, specifier = '']) =>
    join(dirname(path), specifier),
  );

async function filesBelow(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of glob(`${folder}/**/*`, { cwd: ROOT, withFileTypes: true }))
    if (entry.isFile()) found.push(join(entry.parentPath, entry.name).slice(ROOT.length));
  return found;
}

/** The folders of services/ that a target contains. */
const servicesOf = (target: ImageTarget): readonly ServiceName[] => (target === 'all' ? SERVICE_NAMES : [target]);

/** Follows the imports of these files. @returns all files that they need, as paths from the root */
async function trace(target: ImageTarget, starts: readonly string[]): Promise<Set<string>> {
  const services = servicesOf(target);
  const isForeign = (path: string): boolean => {
    const [, folder] = /^services\/([^/]+)\//.exec(path) ?? [];
    return folder !== undefined && !services.some((name) => name === folder);
  };
  const { fileList } = await nodeFileTrace(
    starts.map((path) => join(ROOT, path)),
    {
      base: ROOT,
      mixedModules: true,
      cache,
      readFile: readForTrace,
      ignore: (path) => {
        if (isOwn(path)) return isForeign(path) || isTest(path);
        const folder = packageFolder(path);
        return folder !== undefined && !isProduction(folder);
      },
    },
  );
  return new Set([...fileList].filter((path) => isOwn(path) || packageFolder(path) !== undefined));
}
const cache = {};

/**
 * The files that an image contains, as paths from the root of the repository: the folder of its service, the files of `shared/` and of
 * packages that these import, directly or through others, and the files of packages that they name in strings.
 */
export function imageFiles(target: ImageTarget): Promise<ReadonlySet<string>> {
  const files = filesByTarget.get(target) ?? findFiles(target);
  filesByTarget.set(target, files);
  return files;
}
const filesByTarget = new Map<ImageTarget, Promise<ReadonlySet<string>>>();

async function findFiles(target: ImageTarget): Promise<ReadonlySet<string>> {
  const own = (await Promise.all(servicesOf(target).map((name) => filesBelow(`services/${name}`)))).flat();
  const files = new Set(['package.json', 'LICENSE', 'THIRD-PARTY-NOTICES.md', ...own.filter((path) => !isTest(path))]);
  const folders = new Set<string>();
  const traced = new Set<string>();
  const read = new Set<string>();
  let starts = new Set([...entriesOf(target), ...[...files].filter((path) => path.endsWith('.ts'))]);
  // Each round can find modules that only strings name. They import others.
  while (starts.size > 0) {
    for (const path of await trace(target, [...starts])) {
      files.add(path);
      if (!isOwn(path) && /\.[cm]?js$/.test(path)) for (const file of await loadedWasm(path)) files.add(file);
    }
    for (const path of starts) traced.add(path);
    const found = new Set<string>();
    for (const path of [...files].filter((file) => isOwn(file) && file.endsWith('.ts') && !read.has(file))) {
      read.add(path);
      const source = await readFile(join(ROOT, path), 'utf8');
      for (const program of startedPrograms(path, source)) (program.endsWith('.ts') ? found : files).add(program);
      const named = namedFiles(source);
      for (const file of named.files) {
        files.add(file);
        if (/\.[cm]?js$/.test(file)) found.add(file);
      }
      for (const folder of named.folders) folders.add(folder);
    }
    starts = new Set([...found].filter((path) => !traced.has(path)));
  }
  for (const folder of folders)
    for (const path of await filesBelow(folder))
      if (packageFolder(path) === folder && !UNUSED.test(path)) files.add(path);
  return withLicences(files);
}

/** Adds the licence and package.json of each package. */
async function withLicences(files: Set<string>): Promise<Set<string>> {
  for (const folder of new Set([...files].map(packageFolder))) {
    if (folder === undefined) continue;
    for await (const name of glob('*', { cwd: join(ROOT, folder) }))
      if (name === 'package.json' || LICENCE.test(name)) files.add(join(folder, name));
  }
  return files;
}

/** What an image contains, for its size and for tests. */
interface ImageContent {
  /** Names of the packages, sorted. */
  packages: readonly string[];
  packageBytes: number;
  /** Our own files, in bytes. */
  sourceBytes: number;
}

/** Adds up the sizes of files. @param files paths from the root of the repository */
export async function imageContent(files: Iterable<string>): Promise<ImageContent> {
  const packages = new Set<string>();
  let packageBytes = 0;
  let sourceBytes = 0;
  for (const path of files) {
    const folder = packageFolder(path);
    const { size } = await stat(join(ROOT, path));
    if (folder === undefined) sourceBytes += size;
    else {
      packages.add(packageName(folder));
      packageBytes += size;
    }
  }
  return { packages: [...packages].sort(), packageBytes, sourceBytes };
}

/** Copies the files of an image. Packages go to `packages/`, our own files to `app/`, so that each is a layer. */
export async function copyImage(target: ImageTarget, folder: string): Promise<ImageContent> {
  const files = await imageFiles(target);
  for (const path of files) {
    const to = join(folder, packageFolder(path) === undefined ? 'app' : 'packages', path);
    await mkdir(dirname(to), { recursive: true });
    await copyFile(join(ROOT, path), to);
  }
  return imageContent(files);
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

if (import.meta.main) {
  const [folder, ...targets] = process.argv.slice(2);
  const unknown = targets.filter((target) => !IMAGE_TARGETS.some((known) => known === target));
  if (folder === undefined || unknown.length > 0) {
    process.stderr.write(`usage: node services/image-files.ts FOLDER [${IMAGE_TARGETS.join('|')} ...]\n`);
    process.exit(1);
  }
  for (const target of IMAGE_TARGETS.filter((known) => targets.length === 0 || targets.includes(known))) {
    const { packages, packageBytes, sourceBytes } = await copyImage(target, join(folder, target));
    process.stdout.write(
      `${target}: ${packages.length} packages, ${megabytes(packageBytes)}; sources, ${megabytes(sourceBytes)}\n`,
    );
    await writeFile(join(folder, target, 'packages.txt'), `${packages.join('\n')}\n`);
  }
}
