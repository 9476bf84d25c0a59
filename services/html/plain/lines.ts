// Reads the lines of a plain text: removes terminal codes, and finds the headers and footers that printed pages repeat.

/** One line without white space at its end. `page` is a page break (form feed) before the line. */
interface Line {
  text: string;
  page: boolean;
}

/** A page break counts only with this many pages: fewer cannot show that a line repeats. */
const PAGES_MIN = 3;
/** Page breaks that are searched, at the start of a document. */
const PAGES_SEARCHED = 2_000;
/** UTF-16 code units at each edge of a page in which its header or footer line is searched. */
const EDGE_LENGTH = 2_000;

/** Removes what terminals and printers interpret: overstrikes of nroff (`_\bx`), ANSI sequences and control characters. */
export function withoutControlCodes(text: string): string {
  if (!/[\x00-\x08\x0b\x0e-\x1f\x7f\r\u0085]/.test(text)) return text;
  return text
    .replace(/\r\n?|\u0085/g, '\n')
    .replace(/[^\n]\x08/g, '')
    .replace(/\x1b(?:\[[0-9;?]{0,32}[ -/]?[@-~]|\][^\x07\n]{0,1000}\x07)/g, '')
    .replace(/[\x00-\x08\x0b\x0e-\x1f\x7f]/g, '');
}

/** Calls `onLine` for each line, in order. A form feed ends a line too. Running lines are left out. */
export function readLines(text: string, running: ReadonlySet<string>, onLine: (line: Line) => void): void {
  let page = false;
  let feed = nextIndex(text, '\f', 0);
  let newline = nextIndex(text, '\n', 0);
  for (let start = 0; start <= text.length; ) {
    const end = Math.min(newline, feed);
    const line = text.slice(start, end).trimEnd();
    start = end + 1;
    if (running.size === 0 || !running.has(pattern(line))) {
      onLine({ text: line, page });
      if (line !== '') page = false;
    }
    if (end === newline) newline = nextIndex(text, '\n', start);
    else {
      page = true;
      feed = nextIndex(text, '\f', start);
    }
  }
}

function nextIndex(text: string, character: string, from: number): number {
  const index = text.indexOf(character, from);
  return index < 0 ? text.length : index;
}

/** A line with its numbers replaced, so that the footers of all pages are equal. */
function pattern(line: string): string {
  return line
    .slice(0, 300)
    .trim()
    .replace(/\s+/g, ' ')
    .replace(/\d+|\b[ivxlc]+\b/gi, '#');
}

/** The patterns of the lines that at least half of the pages repeat as their first or last line. */
export function runningLines(text: string): Set<string> {
  const counts = new Map<string, number>();
  let pages = 1;
  for (let at = text.indexOf('\f'); at >= 0 && pages <= PAGES_SEARCHED; at = text.indexOf('\f', at + 1)) {
    pages++;
    const last = lastLine(text.slice(Math.max(0, at - EDGE_LENGTH), at));
    const first = /[^\s][^\n]*/.exec(text.slice(at + 1, at + 1 + EDGE_LENGTH))?.[0];
    for (const line of [last, first]) {
      if (line === undefined) continue;
      const found = pattern(line);
      if (found !== '') counts.set(found, (counts.get(found) ?? 0) + 1);
    }
  }
  const running = new Set<string>();
  if (pages < PAGES_MIN) return running;
  for (const [found, count] of counts) if (count >= PAGES_MIN - 1 && count * 2 >= pages - 1) running.add(found);
  return running;
}

function lastLine(text: string): string {
  const trimmed = text.trimEnd();
  return trimmed.slice(trimmed.lastIndexOf('\n') + 1);
}
