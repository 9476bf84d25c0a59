// Reads Prometheus' text format, so that tests look at what a scrape gets and not at the registry behind it.

export interface Sample {
  /** Of the series: a histogram's ends in `_bucket`, `_sum` or `_count`. */
  name: string;
  labels: Readonly<Record<string, string>>;
  value: number;
}

/** Every sample of a scrape. @throws Error for a line that is none */
export function readSamples(text: string): Sample[] {
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

/** Scrapes a process. @param opsUrl base address of its operations endpoints */
export async function scrape(opsUrl: string): Promise<Sample[]> {
  const response = await fetch(`${opsUrl}/metrics`, { signal: AbortSignal.timeout(10_000) });
  if (response.status !== 200) throw new Error(`/metrics answered ${response.status}`);
  return readSamples(await response.text());
}
