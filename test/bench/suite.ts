// Defines the settings and results of the benchmark suites in a separate file, so that the suites do not import each other.
export interface Settings {
  /** Folder of documents to measure instead of the fixtures. */
  corpora: string | undefined;
  /** Files per format. */
  files: number;
  rounds: number;
  /** Also runs the measurements that take minutes. */
  large: boolean;
  /** Pages of the scan of the `fleet` suite. */
  pages: number;
  /** The `memory` suite measures the documents whose name contains this text. */
  only: string;
}

/** Results of one suite, as `--out` writes them. */
export type Figures = Record<string, unknown>;
export type Suite = (settings: Settings) => Promise<Figures>;
