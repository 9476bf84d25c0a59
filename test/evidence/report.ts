// Writes the report of `npm run evidence` as Markdown and JSON.
import { table } from '../docs/markdown-table.ts';
import type { FinishedStep } from './step.ts';

/** What the report was made of. */
export interface Subject {
  version: string;
  commit: string;
  /** Files that differ from the commit. */
  changedFiles: readonly string[];
  startedAt: string;
}

const oneLine = (text: string): string => text.replaceAll(/\s*\n\s*/g, ' ');

function section({ name, claim, problems, facts, files = {}, status, seconds }: FinishedStep): string {
  const found =
    problems.length === 0 ? '' : `\nProblems:\n\n${problems.map((one) => `- ${oneLine(one)}`).join('\n')}\n`;
  const written = Object.keys(files);
  const links = written.length === 0 ? '' : `\nFiles: ${written.map((file) => `[${file}](${file})`).join(', ')}\n`;
  return `## ${name}: ${status}

${claim} ${seconds.toFixed(1)} s.
${found}${links}
${table(
  facts.head,
  facts.rows.map((row) => row.map(oneLine)),
)}
`;
}

export function markdownReport(subject: Subject, steps: readonly FinishedStep[], leftOut: readonly string[]): string {
  const { version, commit, changedFiles, startedAt } = subject;
  const failed = steps.some(({ status }) => status === 'FAIL');
  const changes =
    changedFiles.length === 0
      ? 'The working tree had no changes.'
      : `The working tree had changes, so the commit alone does not describe what was tested: ${changedFiles.join(', ')}.`;
  const missing = leftOut.length === 0 ? '' : `\nNot part of this run: ${leftOut.join(', ')}.\n`;
  return `# Evidence for Parsemesh ${version}: ${failed ? 'FAIL' : 'PASS'}

Made by \`npm run evidence\` on ${startedAt}, on commit ${commit}. ${changes}
${missing}
${table(
  ['step', 'result', 'problems', 'seconds'],
  steps.map(({ name, status, problems, seconds }) => [name, status, String(problems.length), seconds.toFixed(1)]),
)}

${steps.map(section).join('\n')}`;
}

export function jsonReport(subject: Subject, steps: readonly FinishedStep[], leftOut: readonly string[]): string {
  const shown = steps.map(({ files = {}, ...step }) => ({ ...step, files: Object.keys(files) }));
  const result = steps.some(({ status }) => status === 'FAIL') ? 'FAIL' : 'PASS';
  return `${JSON.stringify({ result, ...subject, steps: shown, leftOut }, null, 2)}\n`;
}
