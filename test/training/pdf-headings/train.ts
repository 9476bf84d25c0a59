// Runs `npm run pdf-headings`: trains the model that tells headings from text and puts them in order, and shows what it is worth.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Features } from '#services/pdf/layout/headings/features.ts';
import { compareGroups, groupHeadings, setLevels } from '#services/pdf/layout/headings/levels.ts';
import { type HeadingModel, printTree } from '#services/pdf/layout/headings/model.ts';
import { chooseHeadings } from '#services/pdf/layout/headings.ts';
import { readMarker } from '#services/pdf/text/markers.ts';
import { type Row, trainTrees, trainWeights } from './boosting.ts';
import { type LearnDocument, readDocuments } from './documents.ts';

const USAGE = `npm run pdf-headings -- FOLDER... [--generated FOLDER]... [--folds 5] [--write]
  Each FOLDER has pdf/NAME.pdf and truth/NAME.md; --generated names those of npm run pdf-styles, which count for less. Prints heading F1 and level (share of pairs of headings in the true order) of
  documents that were not trained on, in folds, and with each engine of the names left out. --write trains on all and writes the weights.`;

const WEIGHTS = new URL('../../../services/pdf/layout/headings/weights.ts', import.meta.url);
const BOOSTING = { trees: 200, depth: 3, rate: 0.1, leafWeight: 2, ridge: 2 };
/** Copies of each document with its styles changed, and the weight of one. */
const COPIES = 3;
const COPY_WEIGHT = 0.7;
/** Documents of our generator are the more, and less like those of others. */
const GENERATED_WEIGHT = 0.5;

interface Learned {
  model: HeadingModel;
  order: number[];
}

/** Numbers from 0 to 1 that are the same in every run. */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const FLAGS = ['bold', 'italic', 'capitals', 'smallCapitals', 'underlined', 'color'];
const SIZES = ['size', 'beforeSize', 'afterSize'];
const GAPS = ['styleGap', 'above', 'aboveUsual', 'below', 'aboveLessBelow'];

/** A text with what only its words tell. */
interface TextRow extends Row {
  /** Its number is one that lists have too: in the type of the text it is read as an item. */
  markedAsItem: boolean;
}

/** A document in another design: bold becomes italic, larger a little larger, wide gaps narrower. No design is a heading's alone. */
function restyle(rows: readonly TextRow[], roll: () => number, rollSmall: () => number): Row[] {
  const flags = [...FLAGS];
  if (roll() < 0.5)
    for (let n = flags.length - 1; n > 0; n--) {
      const other = Math.floor(roll() * (n + 1));
      [flags[n], flags[other]] = [flags[other] as string, flags[n] as string];
    }
  const size = roll() < 0.3 ? roll() * 0.3 : 0.6 + roll() * 0.7;
  const gap = 0.6 + roll() * 0.8;
  const swap = roll() < 0.5;
  const oneFace = roll() < 0.3;
  const alone = roll() < 0.4;
  const numbersAlone = roll() < NUMBERS_SHARE;
  const small = !numbersAlone && rollSmall() < SMALL_SHARE;
  const bodyStyle = numbersAlone ? bodyFeatures(rows) : {};
  return rows.map((row) => {
    const features: Features = { ...row.features };
    const of = (name: string) => row.features[name] ?? 0;
    for (const [n, name] of FLAGS.entries()) features[name] = of(flags[n] as string);
    if (flags[0] !== 'bold') for (const name of ['beforeBold', 'afterBold']) features[name] = 0;
    for (const name of SIZES) features[name] = of(name) * size;
    for (const name of GAPS) features[name] = of(name) * gap;
    if (small && FLAGS.some((name) => features[name] === 1)) Object.assign(features, asSmall(row.features));
    if (swap) Object.assign(features, { colon: of('question'), question: of('colon') });
    if (oneFace) features.face = 0;
    if (numbersAlone && of('depth') > 0)
      Object.assign(features, bodyStyle, asBody(features), { item: Number(row.markedAsItem) });
    else if (alone) Object.assign(features, standAlone(features));
    return { ...row, features };
  });
}

/** Share of the copies whose numbered headings are in the type of the text. */
const NUMBERS_SHARE = 0.3;
/** Share of the other copies whose headings are smaller than the text: small bold italics, small capitals. */
const SMALL_SHARE = 0.1;

/** A larger text, as if it were smaller than the text below it by half as much, and near to it. */
function asSmall(features: Features): Features {
  const of = (name: string) => features[name] ?? 0;
  if (of('size') <= 0) return {};
  return {
    ...Object.fromEntries(SIZES.map((name) => [name, of(name) * -0.5])),
    ...Object.fromEntries(GAPS.map((name) => [name, of(name) * 0.5])),
    larger: 0.9,
  };
}

/** What a text has for its style alone. */
const OF_STYLE = ['larger', 'ofSize', 'ofStyle', 'headLike', 'styleCount', 'styleLength', 'styleGap', 'styleOverText'];
const NO_FLAGS: Features = Object.fromEntries(
  [...FLAGS, ...SIZES, 'face', 'beforeBold', 'afterBold'].map((name) => [name, 0]),
);

/** What a text in the type of the document's text has. */
function bodyFeatures(rows: readonly Row[]): Features {
  const of = ({ features }: Row, name: string) => features[name] ?? 0;
  const [first, ...others] = rows;
  if (!first) return NO_FLAGS;
  const body = others.reduce((a, b) => (of(b, 'ofStyle') > of(a, 'ofStyle') ? b : a), first);
  return { ...NO_FLAGS, ...Object.fromEntries(OF_STYLE.map((name) => [name, of(body, name)])) };
}

/** Text beside a text in the same type. */
function asBody(features: Features): Features {
  const sides = ['before', 'after'].filter((side) => (features[`${side}Letters`] ?? 0) > 0);
  return Object.fromEntries(
    sides.flatMap((side) => [
      [`${side}Body`, 1],
      [`${side}Alike`, 1],
    ]),
  );
}

/** As if nothing else in the document were printed like it: the others cannot speak for it. */
function standAlone(features: Features): Features {
  const of = (name: string) => features[name] ?? 0;
  const all = Math.exp(of('styleCount')) * of('styleLength');
  return {
    ofStyle: (of('ofStyle') * of('letters')) / Math.max(1, all),
    headLike: Number(of('letters') < 100 && of('sentence') === 0),
    styleCount: 0,
    styleLength: of('letters'),
    styleGap: of('above'),
    styleOverText: of('afterRunning'),
  };
}

function learn(documents: readonly LearnDocument[]): Learned {
  const roll = dice(1);
  // Dice of their own: another share of small headings leaves the other copies as they are.
  const rollSmall = dice(2);
  const share = 1 + COPIES * COPY_WEIGHT;
  const rows = documents.flatMap(({ generated, candidates, found }) => {
    const weight = (generated ? GENERATED_WEIGHT : 1) / share;
    const own = candidates.map((candidate) => ({
      features: candidate.features,
      label: Number(found.has(candidate)),
      weight,
      markedAsItem: readMarker(candidate.draft.text.split(' ')[0] ?? '') !== undefined,
    }));
    const copies = Array.from({ length: COPIES }, () => restyle(own, roll, rollSmall)).flat();
    return [...own, ...copies.map((row) => ({ ...row, weight: weight * COPY_WEIGHT }))];
  });
  return { model: trainTrees(rows, BOOSTING), order: trainWeights(documents.flatMap(orderRows)) };
}

/** The groups of a document's true headings, two by two. */
function orderRows({ candidates, found, drafts, bookmarks }: LearnDocument) {
  const levels = new Map([...found].map(([{ draft }, { level }]) => [draft, level]));
  const heads = candidates.filter((candidate) => found.has(candidate)).map(({ draft }) => draft);
  const groups = groupHeadings(heads, drafts, bookmarks);
  const mean = groups.map(
    ({ headings }) => headings.reduce((sum, heading) => sum + (levels.get(heading) ?? 0), 0) / headings.length,
  );
  const pairs = groups.flatMap((a, n) =>
    groups.flatMap((b, m) => {
      const apart = (mean[m] ?? 0) - (mean[n] ?? 0);
      return m <= n || Math.abs(apart) < 0.5 ? [] : [{ values: compareGroups(a, b), label: Number(apart > 0) }];
    }),
  );
  return pairs.map((pair) => ({ ...pair, weight: 1 / Math.sqrt(pairs.length) }));
}

interface Score {
  part: string;
  f1: number;
  pairs: number | undefined;
}

/** How many texts printed on the page are headings in the truth, and are marked. */
function judge({ part, candidates, found, truth, drafts, bookmarks }: LearnDocument, { model, order }: Learned): Score {
  const chosen = chooseHeadings(candidates, model);
  const marks = setLevels(chosen, drafts, bookmarks, order);
  const hits = [...found].flatMap(([{ draft }, { level }]) => {
    const mark = marks.get(draft);
    return mark ? [{ level, given: mark.level }] : [];
  });
  let right = 0;
  let pairs = 0;
  for (const [n, a] of hits.entries())
    for (const b of hits.slice(n + 1)) {
      pairs++;
      if (Math.sign(a.level - b.level) === Math.sign(a.given - b.given)) right++;
    }
  return { part, f1: (2 * hits.length) / (truth.length + chosen.length), pairs: pairs > 0 ? right / pairs : undefined };
}

function show(label: string, scores: readonly Score[]): void {
  for (const part of new Set(scores.map((score) => score.part))) {
    const of = scores.filter((score) => score.part === part);
    const pairs = of.flatMap((score) => score.pairs ?? []);
    const mean = (values: readonly number[]) => (values.reduce((a, b) => a + b, 0) / values.length).toFixed(4);
    console.log(
      `${label.padEnd(20)} ${part.padEnd(10)} ${of.length} documents, F1 ${mean(of.map((one) => one.f1))}, pairs ${mean(pairs)}`,
    );
  }
}

/** The part of a name that tells who made a document: nothing of one maker is in two folds. */
const makerOf = ({ part, name }: LearnDocument) =>
  `${part} ${part === 'real' ? name.split('-')[0] : name.split('__')[0]}`;

function foldOf(document: LearnDocument, folds: number): number {
  let hash = 7;
  for (const letter of makerOf(document)) hash = (Math.imul(hash, 31) + letter.charCodeAt(0)) >>> 0;
  return hash % folds;
}

function crossValidate(documents: readonly LearnDocument[], folds: number): void {
  const scores = Array.from({ length: folds }, (_, fold) => {
    const learned = learn(documents.filter((document) => foldOf(document, folds) !== fold));
    return documents.filter((document) => foldOf(document, folds) === fold).map((document) => judge(document, learned));
  }).flat();
  show(`${folds} folds, unseen`, scores);
  for (const engine of new Set(documents.flatMap(({ name }) => name.split('__')[1] ?? []))) {
    const isOut = (document: LearnDocument) => document.part === 'styles' && document.name.endsWith(`__${engine}`);
    if (!documents.some(isOut)) continue;
    const learned = learn(documents.filter((document) => !isOut(document)));
    show(
      `without ${engine}`,
      documents.filter(isOut).map((document) => judge(document, learned)),
    );
  }
}

/** What was trained on: how many documents of each folder. */
function countParts(documents: readonly LearnDocument[]): string {
  const counts = new Map<string, number>();
  for (const { part, generated } of documents) {
    const name = generated ? `generated ${part}` : part;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return `Documents: ${[...counts].map(([name, count]) => `${count} of ${name}`).join(', ')}`;
}

const DECLARE = 'export const';

function weightsFile({ model, order }: Learned, about: string): string {
  return `// The weights of the heading model, written by \`npm run pdf-headings\`: do not edit them. docs/development.md has the command.
// ${about}

/** Logarithm of the odds before any tree. */
${DECLARE} BASE = ${model.base};

/** What compareGroups() counts for each reason: as text, since a linter takes some numbers for constants of mathematics. */
${DECLARE} ORDER_WEIGHTS: readonly number[] = '${order.join(' ')}'.split(' ').map(Number);

/** The trees, as parseTree() reads them. */
${DECLARE} TREES: readonly string[] = [
${model.trees.map((tree) => `  '${printTree(tree)}',`).join('\n')}
];
`;
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: {
      folds: { type: 'string', default: '5' },
      generated: { type: 'string', multiple: true, default: [] },
      write: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  });
  const folders = [
    ...positionals.map((folder) => ({ folder, generated: false })),
    ...values.generated.map((folder) => ({ folder, generated: true })),
  ];
  if (folders.length === 0) {
    console.log(USAGE);
    return;
  }
  const documents: LearnDocument[] = [];
  for (const { folder, generated } of folders)
    documents.push(...(await readDocuments(folder, generated)).filter(({ truth }) => truth.length > 0));
  const headings = documents.reduce((sum, { truth }) => sum + truth.length, 0);
  const printed = documents.reduce((sum, { found }) => sum + found.size, 0);
  console.log(
    `${documents.length} documents, ${headings} headings, ${printed} of them are texts of their own on the page`,
  );
  if (Number(values.folds) > 1) crossValidate(documents, Number(values.folds));
  if (!values.write) return;
  const learned = learn(documents);
  show(
    'trained on',
    documents.map((document) => judge(document, learned)),
  );
  writeFileSync(WEIGHTS, weightsFile(learned, `${countParts(documents)}; ${headings} headings in all.`));
  execFileSync('node_modules/.bin/biome', ['format', '--write', fileURLToPath(WEIGHTS)]);
}

if (import.meta.main) await main();
