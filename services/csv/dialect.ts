// Detects the delimiter and quoting of a CSV file, because programs write different dialects and files rarely declare theirs.

export interface Dialect {
  delimiter: string;
  /** The character before a quote inside a quoted field: another quote (RFC 4180) or a backslash. */
  escape: '"' | '\\';
  /** UTF-16 code units of a `sep=` line to skip. */
  skip: number;
}

/** In order of preference for equal scores. */
const DELIMITERS = [',', ';', '\t', '|'] as const;
/** UTF-16 code units that are read to detect the dialect. */
export const SAMPLE_LENGTH = 64 * 1024;
const SAMPLE_ROWS = 100;
/** Score factor of the comma if it may be a decimal mark. */
const NUMBER_COMMA_FACTOR = 0.5;

/** Detects the dialect from the first rows, in time linear to the sample. */
export function detectDialect(text: string): Dialect {
  const declared = /^"?sep=([^\r\n"])"?(?:\r\n?|\n|$)/i.exec(text.slice(0, 16));
  const skip = declared?.[0].length ?? 0;
  const sample = text.slice(skip, skip + SAMPLE_LENGTH);
  const quoteEscape = /\\"/.test(sample) && !/""/.test(sample) ? '\\' : '"';
  if (declared?.[1]) return { delimiter: declared[1], escape: quoteEscape, skip };
  const truncated = text.length > skip + SAMPLE_LENGTH;
  let best: string = ',';
  let bestScore = 0;
  for (const delimiter of DELIMITERS) {
    const score = scoreDelimiter(sample, delimiter, truncated);
    if (score > bestScore + 1e-9) [best, bestScore] = [delimiter, score];
  }
  return { delimiter: best, escape: quoteEscape, skip };
}

/** Higher if more rows have the same number of fields, and slightly higher for more fields. 0 if the delimiter separates nothing. */
function scoreDelimiter(sample: string, delimiter: string, truncated: boolean): number {
  const { share, fields } = consistency(countFields(sample, delimiter, truncated));
  const score = share * (1 + Math.log2(fields) / 10);
  return delimiter === ',' && onlyInNumbers(sample) ? score * NUMBER_COMMA_FACTOR : score;
}

/** Counts the fields of each of the first rows. Delimiters inside quotes do not count. The last row of a truncated sample is left out. */
function countFields(sample: string, delimiter: string, truncated: boolean): number[] {
  const counts: number[] = [];
  let fields = 1;
  let length = 0;
  let quoted = false;
  let fieldStart = true;
  for (let i = 0; i < sample.length && counts.length < SAMPLE_ROWS; i++) {
    const character = sample.charAt(i);
    if (quoted) {
      if (character === '"') {
        if (sample.charAt(i + 1) === '"') i++;
        else quoted = false;
      }
      continue;
    }
    if (character === '"' && fieldStart) quoted = true;
    else if (character === delimiter) {
      fields++;
      fieldStart = true;
      length++;
      continue;
    } else if (character === '\n' || character === '\r') {
      if (length > 0) counts.push(fields);
      fields = 1;
      length = 0;
      fieldStart = true;
      continue;
    }
    length++;
    if (character !== ' ') fieldStart = false;
  }
  if (!truncated && length > 0 && counts.length < SAMPLE_ROWS) counts.push(fields);
  return counts;
}

/** Returns the most common number of fields above 1, and the share of rows that have it. The share is 0 if every row has one field. */
function consistency(counts: number[]): { share: number; fields: number } {
  const frequency = new Map<number, number>();
  for (const count of counts) frequency.set(count, (frequency.get(count) ?? 0) + 1);
  let fields = 1;
  let rows = 0;
  for (const [count, times] of frequency)
    if (count > 1 && (times > rows || (times === rows && count > fields))) [fields, rows] = [count, times];
  return { share: counts.length === 0 ? 0 : rows / counts.length, fields };
}

/** True if every comma is between two digits. It is then most likely a decimal or thousands separator. */
function onlyInNumbers(sample: string): boolean {
  return !/(?:^|[^\d]),|,(?:[^\d]|$)/m.test(sample);
}
