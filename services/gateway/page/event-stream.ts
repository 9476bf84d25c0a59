// Reads server-sent events from text that arrives in pieces (HTML Standard, "Server-sent events"), because EventSource cannot send a file.

interface ServerEvent {
  event: string;
  data: string;
}

const EMPTY_LINE = /\r\n\r\n|\n\n|\r\r/;
/** Longest end of a piece that can be the start of an empty line. */
const OVERLAP = 3;

/** Give it each piece of the stream in order. It returns the events that are complete. */
export class EventStreamReader {
  #pieces: string[] = [];
  #end = '';

  read(piece: string): ServerEvent[] {
    this.#pieces.push(piece);
    const searched = this.#end + piece;
    this.#end = searched.slice(-OVERLAP);
    // The result can have tens of megabytes in many pieces, so they are joined only once.
    if (!EMPTY_LINE.test(searched)) return [];
    const blocks = this.#pieces.join('').split(EMPTY_LINE);
    const rest = blocks.pop() ?? '';
    this.#pieces = [rest];
    this.#end = rest.slice(-OVERLAP);
    return blocks.map(readEvent).filter((event) => event !== undefined);
  }
}

function readEvent(block: string): ServerEvent | undefined {
  let event = 'message';
  const data: string[] = [];
  for (const line of block.split(/\r\n|\n|\r/)) {
    const colon = line.indexOf(':');
    if (colon === 0) continue;
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') event = value;
    if (field === 'data') data.push(value);
  }
  return data.length === 0 ? undefined : { event, data: data.join('\n') };
}
