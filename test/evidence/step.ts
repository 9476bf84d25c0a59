// Defines what a step of `npm run evidence` returns.

/** A table of the report. */
interface FactTable {
  head: readonly string[];
  rows: readonly (readonly string[])[];
}

export interface StepResult {
  /** What the step shows, in one sentence. */
  claim: string;
  /** What contradicts the claim, or could not be checked. The step passes if there is none. */
  problems: readonly string[];
  facts: FactTable;
  /** Files of the report, by name. */
  files?: Readonly<Record<string, string>>;
}

/** A step, with the seconds that it took. */
export interface FinishedStep extends StepResult {
  name: string;
  status: 'PASS' | 'FAIL';
  seconds: number;
}
