// Writes the bill of materials (SBOM): the npm packages of production as CycloneDX, and the Debian packages of an image.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import type { StepResult } from './step.ts';

const component = z.looseObject({
  'bom-ref': z.string().optional(),
  name: z.string(),
  version: z.string(),
  purl: z.string().optional(),
});
const cycloneDx = z.looseObject({
  bomFormat: z.literal('CycloneDX'),
  specVersion: z.string(),
  metadata: z.looseObject({ component: z.looseObject({ name: z.string() }) }),
  components: z.array(component),
  dependencies: z.array(z.looseObject({ ref: z.string(), dependsOn: z.array(z.string()).optional() })),
});
type Bill = z.infer<typeof cycloneDx>;
const lockFile = z.object({
  name: z.string(),
  packages: z.record(z.string(), z.looseObject({ version: z.string().optional(), dev: z.boolean().optional() })),
});

/** The output of `dpkg-query -W`: a package and its version in each line. @throws Error for another line */
export function readDebianPackages(text: string): z.infer<typeof component>[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name = '', version = ''] = /^([a-z0-9][a-z0-9+.-]+)(?::[a-z0-9]+)?\t(\S+)$/.exec(line) ?? [];
      if (name === '') throw new Error(`not a line of \`dpkg-query -W\`: ${line.slice(0, 80)}`);
      return { type: 'library', name, version, purl: `pkg:deb/debian/${name}@${encodeURIComponent(version)}` };
    });
}

/** Removes the components that are not in `kept` (`name@version`), and the references to them. */
function keepOnly(bill: Bill, kept: ReadonlySet<string>): void {
  const removed = new Set(
    bill.components.filter(({ name, version }) => !kept.has(`${name}@${version}`)).map((one) => one['bom-ref']),
  );
  bill.components = bill.components.filter((one) => !removed.has(one['bom-ref']));
  bill.dependencies = bill.dependencies
    .filter(({ ref }) => !removed.has(ref))
    .map((one) => ({ ...one, dependsOn: (one.dependsOn ?? []).filter((ref) => !removed.has(ref)) }));
}

/** @param debianFile output of `dpkg-query -W` in an image, if the report covers an image */
export async function billOfMaterials(root: string, debianFile: string | undefined): Promise<StepResult> {
  // With `--omit dev`, npm also leaves out packages that both production and development need.
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
  const bill = cycloneDx.parse(JSON.parse(stdout));
  const lock = lockFile.parse(JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')));
  // npm writes the name of the folder.
  bill.metadata.component.name = lock.name;
  const expected = new Set(
    Object.entries(lock.packages).flatMap(([path, { version, dev }]) =>
      path === '' || dev || version === undefined ? [] : [`${path.replace(/^.*node_modules\//, '')}@${version}`],
    ),
  );
  keepOnly(bill, expected);
  const listed = new Set(bill.components.map(({ name, version }) => `${name}@${version}`));
  const problems = [...expected].filter((one) => !listed.has(one)).map((one) => `the bill of materials lacks ${one}`);
  const packages = bill.components.length;
  const debian = debianFile === undefined ? [] : readDebianPackages(await readFile(debianFile, 'utf8'));
  bill.components.push(...debian);
  return {
    claim: 'The bill of materials lists every npm package that package-lock.json installs for production.',
    problems,
    facts: {
      head: ['what', 'number'],
      rows: [
        ['npm packages', String(packages)],
        [
          'Debian packages of the image',
          debianFile === undefined ? 'not included (no --debian FILE)' : String(debian.length),
        ],
      ],
    },
    files: { 'sbom.cdx.json': `${JSON.stringify(bill, null, 2)}\n` },
  };
}
