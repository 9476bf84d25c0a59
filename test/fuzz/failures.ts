// Prints the failures of a fuzz run and saves their cases so that they can be sent again.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Case } from './cases.ts';

export class FailureStore {
  count = 0;
  readonly #folder: string;
  readonly #seed: number;

  constructor(folder: string, seed: number) {
    this.#folder = folder;
    this.#seed = seed;
  }

  /** Counts a failure. If it belongs to a case, saves the document and the case next to it as JSON. */
  add(message: string, failed?: Case): void {
    this.count += 1;
    console.error(
      `  FAILED ${failed ? `case ${failed.index} ${failed.fileName} [${failed.mutations}]: ` : ''}${message}`,
    );
    if (!failed) return;
    mkdirSync(this.#folder, { recursive: true });
    const name = `seed${this.#seed}-case${failed.index}-${failed.fileName}`;
    writeFileSync(join(this.#folder, name), failed.bytes);
    const { bytes: _, ...fields } = failed;
    writeFileSync(
      join(this.#folder, `${name}.json`),
      `${JSON.stringify({ message, file: name, seed: this.#seed, ...fields }, undefined, 1)}\n`,
    );
  }
}

/** Reads a case that a `FailureStore` saved. @param path of its JSON file */
export function readCase(path: string): Case {
  const { file, ...fields } = JSON.parse(readFileSync(path, 'utf8')) as Omit<Case, 'bytes'> & { file: string };
  return { ...fields, bytes: readFileSync(join(dirname(path), file)) };
}
