// Installs npm packages, LibreOffice, OCR models and fonts before `npm start`, `npm test` and the cluster commands; it is plain JavaScript without packages, because it runs before they are installed, on any Node >= 20.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** `packages` installs npm packages only, for commands that do not run the product on this machine. */
const purpose = ['test', 'packages'].includes(process.argv[2]) ? process.argv[2] : 'start';
const inCi = process.env.CI === 'true';

const onPath = (name) => (process.env.PATH ?? '').split(delimiter).some((folder) => folder && existsSync(join(folder, name)));
const anyExists = (...paths) => paths.some((path) => existsSync(path));
const onLinux = process.platform === 'linux';

/** Debian splits LibreOffice into packages: each application has a library of its own. */
const hasOfficePart = (library) => anyExists(`/usr/lib/libreoffice/program/${library}`, `/opt/libreoffice/program/${library}`) || (!onLinux && onPath('soffice'));

const hasTessdata = () => {
  if (process.env.TESSDATA_PREFIX) return existsSync(join(process.env.TESSDATA_PREFIX, 'eng.traineddata'));
  const root = '/usr/share/tesseract-ocr';
  const folders = existsSync(root) ? readdirSync(root).map((version) => join(root, version, 'tessdata')) : [];
  return [...folders, '/usr/share/tessdata', '/usr/local/share/tessdata'].some((folder) => existsSync(join(folder, 'eng.traineddata')));
};

/** Tools outside of npm: how to detect each, its Debian packages, and what needs it. */
const TOOLS = [
  { installed: () => onPath('soffice') && hasOfficePart('libswlo.so'), packages: ['libreoffice-writer-nogui'], neededFor: '.doc and .rtf files' },
  { installed: () => onPath('soffice') && hasOfficePart('libsclo.so'), packages: ['libreoffice-calc-nogui'], neededFor: '.xls and .xlsb files' },
  { installed: () => onPath('soffice') && hasOfficePart('libsdlo.so'), packages: ['libreoffice-impress-nogui'], neededFor: '.ppt files' },
  { installed: hasTessdata, packages: ['tesseract-ocr-eng'], neededFor: 'OCR' },
  // Without it, OCR uses Tesseract as WebAssembly, which needs 25 % more CPU time.
  { installed: () => !onLinux || process.env.OCR_ENGINE === 'wasm' || onPath('tesseract'), packages: ['tesseract-ocr'], neededFor: 'OCR with less CPU time' },
  {
    installed: () => !onLinux || anyExists('/usr/share/fonts/truetype/liberation', '/usr/share/fonts/truetype/liberation2'),
    packages: ['fonts-liberation', 'fonts-dejavu', 'fonts-noto-core'],
    neededFor: 'correct line breaks in converted office files',
  },
  ...(purpose === 'test'
    ? [
        { installed: () => onPath('nats-server') || existsSync('/usr/sbin/nats-server'), packages: ['nats-server'], neededFor: 'the tests over NATS (otherwise skipped)' },
        { installed: () => !onLinux || onPath('strace'), packages: ['strace'], neededFor: 'the tests that trace system calls (otherwise skipped)' },
        { installed: () => !onLinux || onPath('chromium'), packages: ['chromium'], neededFor: 'the browser tests (otherwise skipped)' },
      ]
    : []),
];

function run(command, args, env = {}) {
  const result = spawnSync(command, args, { stdio: ['ignore', 2, 2], env: { ...process.env, ...env } });
  return result.status === 0;
}

function packagesAreCurrent() {
  const installed = 'node_modules/.package-lock.json';
  if (!existsSync(installed)) return false;
  if (statSync(installed).mtimeMs >= statSync('package-lock.json').mtimeMs) return true;
  // Modification times are not reliable after a git clone, so compare the versions in both lock files.
  const wanted = JSON.parse(readFileSync('package-lock.json', 'utf8')).packages;
  const have = JSON.parse(readFileSync(installed, 'utf8')).packages;
  return Object.entries(wanted).every(([path, entry]) => path === '' || entry.optional || have[path]?.version === entry.version);
}

function installPackages() {
  console.error('parsemesh: installing packages (npm install) ...');
  // Not `npm ci`: it fails if the registry lacks an optional package of another platform. `npm install` installs the locked versions too,
  // and with --no-save it writes neither package.json nor package-lock.json.
  if (run('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'])) return;
  console.error('parsemesh: npm install failed. Its output above contains the cause.');
  process.exit(1);
}

/** Installs the missing tools if this user may (root on Debian or Ubuntu), else prints how to install them. */
function installTools(missing) {
  const packages = missing.flatMap((tool) => tool.packages);
  if (process.getuid?.() === 0 && onPath('apt-get')) {
    console.error(`parsemesh: installing ${packages.join(' ')} (apt-get) ...`);
    const quiet = { DEBIAN_FRONTEND: 'noninteractive' };
    if (run('apt-get', ['update', '-qq'], quiet)) run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], quiet);
  }
  const stillMissing = missing.filter((tool) => !tool.installed());
  if (stillMissing.length === 0) return;
  const names = stillMissing.flatMap((tool) => tool.packages).join(' ');
  const uses = stillMissing.map((tool) => tool.neededFor).join(', ');
  console.error(`parsemesh: install these packages (Debian names): ${names}. They are needed for ${uses}. Everything else works.`);
  if (inCi && purpose === 'test') process.exit(1);
}

if (!packagesAreCurrent()) installPackages();
const missing = purpose === 'packages' ? [] : TOOLS.filter((tool) => !tool.installed());
if (missing.length > 0) installTools(missing);
