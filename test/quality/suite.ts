// Defines the input of the quality suites in a separate file, so that the suites do not import each other.
import type { Product } from '../harness/product.ts';
import type { Shell } from './shell.ts';

export interface Run {
  /** Folder of the corpora. */
  corpora: string;
  product: Pick<Product, 'url' | 'key'>;
  /** Folder for responses and scores. */
  out: string;
  shell: Shell;
  /** Path of a Python with the packages of the suite. */
  python: string;
  /** Mode of `redactPII`. */
  mode: string;
}

export interface Suite {
  /** Folder of its corpus below `corpora`. */
  corpus: string;
  /** PyPI packages that the scripts of the corpus need. */
  packages: readonly string[];
  run(run: Run): Promise<void>;
}
