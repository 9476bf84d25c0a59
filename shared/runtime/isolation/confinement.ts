// Decides what an isolated process may do, and builds the command that starts it with no other right, so that it cannot read a secret of its service.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { removeStaleFolders } from '../../bus/stale-folders.ts';
import type { ProcessNeed } from '../../contract/services.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const LAUNCHER = fileURLToPath(new URL('./landlock.pl', import.meta.url));
const MEMORY_FOLDER = '/dev/shm';
const PROBE_MS = 5_000;

/** Our own code and its packages. Other files of the repository, such as the keys file, are not readable. */
const CODE = ['shared', 'services', 'node_modules', 'package.json'].map((name) => join(ROOT, name));
/** Programs, libraries, fonts and models. `/usr/etc`, `/usr/src` and `/usr/local/etc` are not in the list. */
const SYSTEM = [
  ...['/bin', '/lib', '/lib64', '/usr/bin', '/usr/lib', '/usr/lib64', '/usr/libexec', '/usr/share'],
  ...[
    '/usr/local/bin',
    '/usr/local/lib',
    '/usr/local/share',
    '/opt',
    '/nix/store',
    '/var/cache/fontconfig',
    '/var/lib/libreoffice',
    '/var/spool/libreoffice',
  ],
];
/** Settings of the system. The rest of /etc is not readable, because operators mount certificates and passwords there. */
const SETTINGS = [
  ...['ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'alternatives', 'fonts', 'libreoffice', 'papersize', 'paperspecs'],
  ...['localtime', 'timezone', 'locale.alias', 'mime.types', 'passwd', 'group', 'nsswitch.conf', 'hosts', 'host.conf'],
  ...['resolv.conf', 'gai.conf', 'services', 'protocols', 'ssl/certs', 'ssl/openssl.cnf'],
].map((name) => `/etc/${name}`);
/** What the C library, V8 and libuv read about the machine and about the process itself. */
const MACHINE = ['/proc/self', '/proc/meminfo', '/proc/cpuinfo', '/proc/stat', '/proc/sys', '/sys'];
const DEVICES = ['/dev/null', '/dev/zero', '/dev/full', '/dev/random', '/dev/urandom'];
/** The programs that load a program with shared libraries. */
const LOADERS = ['x86-64.so.2', 'aarch64.so.1'].flatMap((name) => [`/lib64/ld-linux-${name}`, `/lib/ld-linux-${name}`]);
/** Variables with the path of a file or a folder that an isolated process reads. */
const PATH_VARIABLES = [
  'TESSDATA_PREFIX',
  'LIBREOFFICE_FOLDER',
  'FONTCONFIG_PATH',
  'FONTCONFIG_FILE',
  'NODE_EXTRA_CA_CERTS',
];
/** The sockets of LibreOffice. It always puts them into /tmp. */
const SOCKETS = { folder: '/tmp', files: '/tmp/OSL_PIPE_*' };
/** A folder that does not exist, as in Debian's passwd file. */
const NO_HOME = '/nonexistent';

/** The kernel's part (Landlock), and Node's own permission model. Tests turn each of them off. */
export type Layer = 'landlock' | 'permissions';

interface ConfinementRequest {
  needs: readonly ProcessNeed[];
  env: NodeJS.ProcessEnv;
  /** Variables that the process receives later. They may name servers. */
  secrets?: Readonly<Record<string, string>>;
  /** Layers to leave out, for tests. */
  without?: readonly Layer[];
}

interface Confinement {
  /** The command, to put before the options and the arguments of Node. */
  command: readonly [program: string, ...args: string[]];
  env: NodeJS.ProcessEnv;
  /** Removes the private folders. Call it when the process has ended. */
  release(): Promise<void>;
}

let version: number | undefined;

/** Version of Landlock (landlock(7)); 0 without it. The first call starts two programs, which takes 10 ms. */
export function landlockVersion(): number {
  version ??= process.platform === 'linux' ? probe() : 0;
  return version;
}

function probe(): number {
  const run = (...args: string[]) =>
    spawnSync('perl', [LAUNCHER, process.arch, ...args], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH },
      timeout: PROBE_MS,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  const found = Number(run().stdout);
  // A filter of system calls may allow the first call only.
  return found > 0 && run('execute:/', '--', '/bin/sh', '-c', 'exit 42').status === 42 ? found : 0;
}

/** Builds the start of one isolated process, with folders of its own if it runs programs. */
export function confine({ needs, env, secrets = {}, without = [] }: ConfinementRequest): Confinement {
  const runsPrograms = needs.includes('programs');
  const folders = runsPrograms ? makeFolders() : undefined;
  const own = folders === undefined ? [] : Object.values(folders);
  const usesLandlock = !without.includes('landlock') && landlockVersion() > 0;
  const { HOME: _home, XDG_CACHE_HOME: _xdg, TMPDIR: _temporary, NODE_COMPILE_CACHE: cache, ...rest } = env;
  // Other processes run the code that is in the cache. Node uses it only if it may write there, so Landlock must stop the writes.
  const caches = usesLandlock && cache !== undefined ? [cache] : [];
  const named = [...PATH_VARIABLES.flatMap((name) => env[name] ?? []), ...caches];
  const node = without.includes('permissions') ? [] : permissionFlags(needs, [...own, ...caches], named);
  const launcher = usesLandlock
    ? [
        'perl',
        LAUNCHER,
        process.arch,
        ...landlockRules(needs, own, named, portsOf({ ...env, ...secrets })),
        '--',
        process.execPath,
      ]
    : [process.execPath];
  return {
    command: [...launcher, ...node] as [string, ...string[]],
    env: {
      ...rest,
      ...(caches.length > 0 ? { NODE_COMPILE_CACHE: cache } : {}),
      HOME: folders?.TMPDIR ?? NO_HOME,
      ...folders,
    },
    async release() {
      await Promise.all(own.map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 3 })));
      for (const folder of own) ownFolders.delete(folder);
    },
  };
}

/**
 * Flags of Node's permission model. It covers the file functions of Node, not native code and child processes. Landlock covers these, but not
 * every system has it.
 */
function permissionFlags(
  needs: readonly ProcessNeed[],
  written: readonly string[],
  named: readonly string[],
): string[] {
  const runsPrograms = needs.includes('programs');
  // To find a program and its files, and to measure the programs that run.
  const write = [...written, ...(needs.includes('sockets') ? [SOCKETS.files] : [])];
  const read = [...CODE, ...write, ...named, ...(runsPrograms ? [...SYSTEM, '/proc'] : [])];
  return [
    '--permission',
    // Node takes a path that does not exist for a file. Without the star, it would deny to look for files below it.
    ...[...new Set(read)].map((path) => `--allow-fs-read=${existsSync(path) ? path : `${path}/*`}`),
    ...write.map((path) => `--allow-fs-write=${path}`),
    ...(runsPrograms ? ['--allow-child-process'] : []),
    ...(needs.includes('addons') ? ['--allow-addons'] : []),
    ...(needs.includes('threads') ? ['--allow-worker'] : []),
  ];
}

function landlockRules(
  needs: readonly ProcessNeed[],
  own: readonly string[],
  named: readonly string[],
  ports: readonly string[],
): string[] {
  const runsPrograms = needs.includes('programs');
  const programs = runsPrograms ? [...SYSTEM, ...named] : LOADERS;
  return [
    ...[process.execPath, ...programs].map((path) => `execute:${path}`),
    ...[...CODE, ...SYSTEM, ...SETTINGS, ...MACHINE, ...named].map((path) => `read:${path}`),
    ...DEVICES.map((path) => `device:${path}`),
    // Programs read /proc/PID of their own. `unshare` writes the user ids of its name space there. The kernel still hides the environment and
    // the memory of processes outside.
    ...(runsPrograms ? ['read:/proc', 'device:/proc'] : []),
    ...own.map((path) => `change:${path}`),
    ...(needs.includes('sockets') ? [`socket:${SOCKETS.folder}`] : []),
    ...(needs.includes('servers') ? ports.map((port) => `connect:${port}`) : []),
  ];
}

/** Ports of the servers that the variables of the service name. */
function portsOf(env: NodeJS.ProcessEnv): string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    if (!name.endsWith('_URL') || value === undefined || !URL.canParse(value)) return [];
    const { port, protocol } = new URL(value);
    return [port || (protocol === 'http:' ? '80' : '443')];
  });
}

/**
 * The name contains the host, because containers can share a temporary folder but have their own process ids. It is short, because the path of a
 * socket in the folder has at most 107 bytes.
 */
const FOLDER_PREFIX = `parse-${createHash('sha256').update(hostname()).digest('hex').slice(0, 4)}-`;
const ownFolders = new Set<string>();
let removedStale = false;

interface PrivateFolders {
  TMPDIR: string;
  /** In memory, for files that must not be on a disk. */
  MEMORY_TMPDIR?: string;
}

function makeFolders(): PrivateFolders {
  const bases = [realpathSync(tmpdir()), ...(existsSync(MEMORY_FOLDER) ? [MEMORY_FOLDER] : [])];
  if (!removedStale) for (const base of bases) removeStaleFolders(base, FOLDER_PREFIX, ownFolders);
  removedStale = true;
  const [temporary = '', memory] = bases.map((base) => {
    const folder = mkdtempSync(join(base, `${FOLDER_PREFIX}${process.pid}-`));
    ownFolders.add(folder);
    return folder;
  });
  return { TMPDIR: temporary, ...(memory === undefined ? {} : { MEMORY_TMPDIR: memory }) };
}
