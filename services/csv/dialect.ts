// Tells how a CSV file separates and quotes its fields, because no two programs agree and the file rarely says.

export interface Dialect {
  delimiter: string;
  /** What stands before a quote inside a quoted field: another quote (RFC 4180) or a backslash. */
  escape: '"' | '\\';
  /** UTF-16 units of a `sep=` line to skip. */
  skip: number;
}

/** In the order that wins a tie. */
const DELIMITERS = [',', ';', '\t', '|'] as const;
const SAMPLE_LENGTH = 64 * 1024;
const SAMPLE_ROWS = 100;

/** Fields of each of the first rows under a delimiter, quotes respected; a row the sample cuts is left out. */
function countFields(sample: string, delimiter: string, cut: boolean): number[] {
  const counts: number[] = [];
  let fields = 1;
  let length = 0;
  let quoted = false;
  let fieldStart = true;
  for (let i = 0; i < sample.length && counts.length < SAMPLE_ROWS; i++) {
    const at = sample.charAt(i);
    if (quoted) {
      if (at === '"') {
        if (sample.charAt(i + 1) === '"') i++;
        else quoted = false;
      }
      continue;
    }
    if (at === '"' && fieldStart) quoted = true;
    else if (at === delimiter) {
      fields++;
      fieldStart = true;
      length++;
      continue;
    } else if (at === '\n' || at === '\r') {
      if (length > 0) counts.push(fields);
      fields = 1;
      length = 0;
      fieldStart = true;
      continue;
    }
    length++;
    if (at !== ' ') fieldStart = false;
  }
  if (!cut && length > 0 && counts.length < SAMPLE_ROWS) counts.push(fields);
  return counts;
}

/** How well a delimiter explains rows: the share of rows that have the most common number of fields, 0 where that is one. */
function consistency(counts: number[]): { share: number; fields: number } {
  const frequency = new Map<number, number>();
  for (const count of counts) frequency.set(count, (frequency.get(count) ?? 0) + 1);
  let fields = 1;
  let rows = 0;
  for (const [count, times] of frequency)
    if (count > 1 && (times > rows || (times === rows && count > fields))) [fields, rows] = [count, times];
  return { share: counts.length === 0 ? 0 : rows / counts.length, fields };
}

/** A comma that stands between digits wherever it stands is a decimal or thousands mark. */
function onlyInNumbers(sample: string): boolean {
  return !/(?:^|[^\d]),|,(?:[^\d]|$)/m.test(sample);
}

/** Judges by the first rows. Linear in the sample. */
export function sniffDialect(text: string): Dialect {
  const hint = /^"?sep=([^\r\n"])"?(?:\r\n?|\n|$)/i.exec(text.slice(0, 16));
  const skip = hint?.[0].length ?? 0;
  const sample = text.slice(skip, skip + SAMPLE_LENGTH);
  const mark = /\\"/.test(sample) && !/""/.test(sample) ? '\\' : '"';
  if (hint?.[1]) return { delimiter: hint[1], escape: mark, skip };
  let best: string = ',';
  let bestScore = 0;
  for (const delimiter of DELIMITERS) {
    const { share, fields } = consistency(countFields(sample, delimiter, text.length > skip + SAMPLE_LENGTH));
    let score = share * (1 + Math.log2(fields) / 10);
    if (delimiter === ',' && score > 0 && onlyInNumbers(sample)) score *= 0.5;
    if (score > bestScore + 1e-9) [best, bestScore] = [delimiter, score];
  }
  return { delimiter: best, escape: mark, skip };
}
