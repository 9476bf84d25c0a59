// Installs what `npm start`, `npm test` and the cluster's commands need and do not find; plain JavaScript on built-in modules, since it runs on any Node >= 20 before anything else is there.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** `packages`: for commands that run nothing of the product on this machine. */
const purpose = ['test', 'packages'].includes(process.argv[2]) ? process.argv[2] : 'start';
const inCi = process.env.CI === 'true';

const onPath = (name) => (process.env.PATH ?? '').split(delimiter).some((folder) => folder && existsSync(join(folder, name)));
const anyExists = (...paths) => paths.some((path) => existsSync(path));

/** Debian's LibreOffice puts each application's code in a library of its own. */
const hasOfficePart = (library) => anyExists(`/usr/lib/libreoffice/program/${library}`, `/opt/libreoffice/program/${library}`) || (process.platform !== 'linux' && onPath('soffice'));

const hasTessdata = () => {
  if (process.env.TESSDATA_PREFIX) return existsSync(join(process.env.TESSDATA_PREFIX, 'eng.traineddata'));
  const root = '/usr/share/tesseract-ocr';
  const folders = existsSync(root) ? readdirSync(root).map((version) => join(root, version, 'tessdata')) : [];
  return [...folders, '/usr/share/tessdata', '/usr/local/share/tessdata'].some((folder) => existsSync(join(folder, 'eng.traineddata')));
};

/** What is looked for, the Debian packages that bring it, and what waits for it. */
const TOOLS = [
  { there: () => onPath('soffice') && hasOfficePart('libswlo.so'), packages: ['libreoffice-writer-nogui'], waits: '.doc and .rtf files' },
  { there: () => onPath('soffice') && hasOfficePart('libsclo.so'), packages: ['libreoffice-calc-nogui'], waits: '.xls and .xlsb files' },
  { there: () => onPath('soffice') && hasOfficePart('libsdlo.so'), packages: ['libreoffice-impress-nogui'], waits: '.ppt files' },
  { there: hasTessdata, packages: ['tesseract-ocr-eng'], waits: 'OCR' },
  // Without it the WebAssembly core reads, which takes a quarter more processor time.
  { there: () => process.platform !== 'linux' || process.env.OCR_ENGINE === 'wasm' || onPath('tesseract'), packages: ['tesseract-ocr'], waits: 'OCR that takes less processor time' },
  {
    there: () => process.platform !== 'linux' || existsSync('/usr/share/fonts/truetype/liberation') || existsSync('/usr/share/fonts/truetype/liberation2'),
    packages: ['fonts-liberation', 'fonts-dejavu', 'fonts-noto-core'],
    waits: 'the right line breaks of converted office files',
  },
  ...(purpose === 'test' ? [{ there: () => onPath('nats-server') || existsSync('/usr/sbin/nats-server'), packages: ['nats-server'], waits: 'the NATS half of the tests (skipped)' },
    { there: () => process.platform !== 'linux' || onPath('strace'), packages: ['strace'], waits: 'the tests that watch system calls (skipped)' }] : []),
];

function run(command, args, env = {}) {
  const result = spawnSync(command, args, { stdio: ['ignore', 2, 2], env: { ...process.env, ...env } });
  return result.status === 0;
}

function modulesAreCurrent() {
  const installed = 'node_modules/.package-lock.json';
  if (!existsSync(installed)) return false;
  if (statSync(installed).mtimeMs >= statSync('package-lock.json').mtimeMs) return true;
  // A clone's files are as young as the clone, so compare what the lock files say where the times do not settle it.
  const wanted = JSON.parse(readFileSync('package-lock.json', 'utf8')).packages;
  const have = JSON.parse(readFileSync(installed, 'utf8')).packages;
  return Object.entries(wanted).every(([path, entry]) => path === '' || entry.optional || have[path]?.version === entry.version);
}

if (!modulesAreCurrent()) {
  console.error('parsemesh: installing packages (npm install) ...');
  // Not `npm ci`: it refuses a lock file that lacks the optional packages of other platforms, which not every registry mirror holds.
  // What is locked is installed as locked all the same, and neither file is written.
  if (!run('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'])) {
    console.error('parsemesh: npm install failed; see its output above.');
    process.exit(1);
  }
}

const missing = purpose === 'packages' ? [] : TOOLS.filter((tool) => !tool.there());
if (missing.length > 0) {
  const packages = missing.flatMap((tool) => tool.packages);
  const mayInstall = process.getuid?.() === 0 && onPath('apt-get');
  let installed = false;
  if (mayInstall) {
    console.error(`parsemesh: installing ${packages.join(' ')} (apt-get) ...`);
    const quiet = { DEBIAN_FRONTEND: 'noninteractive' };
    const install = () => run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], quiet);
    installed = run('apt-get', ['update', '-qq'], quiet) && install();
  }
  const still = missing.filter((tool) => !tool.there());
  if (!installed || still.length > 0) {
    const line = `install ${still.flatMap((tool) => tool.packages).join(' ')} (Debian's names) for ${still.map((tool) => tool.waits).join(', ')}`;
    if (still.length > 0) console.error(`parsemesh: ${line}; everything else works.`);
    if (still.length > 0 && inCi && purpose === 'test') process.exit(1);
  }
}
