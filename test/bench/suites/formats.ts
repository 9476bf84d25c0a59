// Measures one request of each file format: converter only, embedded, over NATS, and in other installed tools.
import type { Extension } from '#shared/contract/formats.ts';
import { type Input, inputsByExtension } from '../inputs.ts';
import { measureCost, type Rounds } from '../measure.ts';
import { documentTools } from '../other-tools.ts';
import { inProcessSubject, productSubject, type Subject, withSubject } from '../subject.ts';
import type { Suite } from '../suite.ts';
import { type Cell, printTable, ratioCell, targetCell } from '../table.ts';

const LEGACY_TARGET_MS = 200;
/** Target for the mean of all files, in CPU ms. */
const MEAN_TARGET_MS = 38;
const TARGETS_MS: Partial<Record<Extension, number>> = {
  '.html': 50,
  '.htm': 50,
  '.xhtml': 50,
  '.docx': 40,
  '.pdf': 40,
  '.csv': 5,
  '.doc': LEGACY_TARGET_MS,
  '.xls': LEGACY_TARGET_MS,
  '.ppt': LEGACY_TARGET_MS,
  '.rtf': LEGACY_TARGET_MS,
  '.xlsb': LEGACY_TARGET_MS,
};
const COLUMNS = [
  'format',
  'files',
  'in process',
  'embedded',
  'NATS',
  'NATS - embedded',
  'embedded / in process',
  'target',
];

/** CPU ms per request by extension and by the name of the subject. A subject that rejects all files of a format has no entry. */
type Costs = ReadonlyMap<Extension, Map<string, number>>;
type Inputs = readonly (readonly [Extension, Input[]])[];

const countFiles = (inputs: Inputs) => inputs.reduce((sum, [, files]) => sum + files.length, 0);

/** Mean cost over all files, or undefined if the subject does not read every format. */
function meanCost(costs: Costs, inputs: Inputs, subject: string): number | undefined {
  if (inputs.some(([extension]) => !costs.get(extension)?.has(subject))) return undefined;
  const total = inputs.reduce(
    (sum, [extension, files]) => sum + (costs.get(extension)?.get(subject) ?? 0) * files.length,
    0,
  );
  return total / countFiles(inputs);
}

function printCosts(costs: Costs, inputs: Inputs, tools: readonly string[]): void {
  const row = (
    label: string,
    files: number,
    costOf: (subject: string) => number | undefined,
    target: number | undefined,
  ): Cell[] => {
    const [inProcess, embedded, nats] = [costOf('in process'), costOf('embedded'), costOf('NATS')];
    return [
      label,
      String(files),
      inProcess,
      embedded,
      nats,
      embedded === undefined || nats === undefined ? undefined : nats - embedded,
      ratioCell(embedded, inProcess),
      targetCell(embedded, target),
      ...tools.flatMap((tool) => [costOf(tool), ratioCell(embedded, costOf(tool))]),
    ];
  };
  printTable(
    'CPU ms per request, warm, one request at a time',
    [...COLUMNS, ...tools.flatMap((tool) => [tool, `embedded / ${tool}`])],
    [
      ...inputs.map(([extension, files]) =>
        row(extension, files.length, (subject) => costs.get(extension)?.get(subject), TARGETS_MS[extension]),
      ),
      row('all', countFiles(inputs), (subject) => meanCost(costs, inputs, subject), MEAN_TARGET_MS),
    ],
  );
}

export const formats: Suite = async ({ corpora, files, rounds }) => {
  const inputs = [...(await inputsByExtension(files, corpora))];
  const perFormat: Rounds = { warm: 2, rounds, repeat: 2 };
  const costs: Costs = new Map(inputs.map(([extension]) => [extension, new Map()]));
  const rejections: string[] = [];
  const measure = async (subject: Subject) => {
    for (const [extension, documents] of inputs) {
      const { cpuMs, rejected } = await measureCost(subject, documents, perFormat);
      if (rejected === documents.length) continue;
      if (rejected > 0) rejections.push(`${subject.name} rejected ${rejected} of ${documents.length} ${extension}`);
      costs.get(extension)?.set(subject.name, cpuMs);
    }
  };
  await withSubject(inProcessSubject(), measure);
  await withSubject(productSubject('memory'), measure);
  await withSubject(productSubject('nats'), measure);
  const tools = await documentTools();
  for (const tool of tools) await withSubject(Promise.resolve(tool), measure);
  printCosts(
    costs,
    inputs,
    tools.map(({ name }) => name),
  );
  for (const line of rejections) console.log(`  ${line}`);
  return Object.fromEntries([...costs].map(([extension, bySubject]) => [extension, Object.fromEntries(bySubject)]));
};
