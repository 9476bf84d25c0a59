// Parses Prometheus' text format, so that tests check what a scrape returns instead of the registry of the process.

export interface Sample {
  /** Name of the series. The series of a histogram end in `_bucket`, `_sum` or `_count`. */
  name: string;
  labels: Readonly<Record<string, string>>;
  value: number;
}

/** @throws Error for a line that is not a sample */
function parseSamples(text: string): Sample[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!match) throw new Error(`not a sample: ${line}`);
    const labels = [...(match[2] ?? '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
    return {
      name: match[1] ?? '',
      labels: Object.fromEntries(labels.map(([, label, value]) => [label ?? '', value ?? ''])),
      value: Number(match[3]),
    };
  });
}

/** The metric that a series belongs to. */
export const familyOf = (name: string): string => name.replace(/_(bucket|sum|count)$/, '');

/** Scrapes a process. @param opsUrl base URL of its operations endpoints */
export async function scrape(opsUrl: string): Promise<Sample[]> {
  const response = await fetch(`${opsUrl}/metrics`, { signal: AbortSignal.timeout(10_000) });
  if (response.status !== 200) throw new Error(`/metrics returned ${response.status}`);
  return parseSamples(await response.text());
}
