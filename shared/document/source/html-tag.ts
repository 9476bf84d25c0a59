// Reads one HTML tag from a source text and returns the offsets of its attribute values.

/** Offsets of the value, without its quotes: UTF-16, `[start, end)`. */
interface TagAttribute {
  /** Lower case. */
  name: string;
  start: number;
  end: number;
}

export interface Tag {
  /** Lower case. */
  name: string;
  closing: boolean;
  /** Offset after `>`. */
  end: number;
  attributes: TagAttribute[];
}

const TAG_LENGTH_MAX = 8 * 1024 * 1024;
const NAME = /[A-Za-z][\w:-]*/y;
const ATTRIBUTE_NAME = /[^\s"'<>/=]+/y;
const EQUALS = /\s{0,100}=\s{0,100}/y;

/** The tag that starts at `position` (the index of a `<`), or undefined if that is not a tag. Reads no further than `limit`. */
export function readTag(source: string, position: number, limit: number = source.length): Tag | undefined {
  let index = position + 1;
  const closing = source[index] === '/';
  if (closing) index += 1;
  NAME.lastIndex = index;
  const name = NAME.exec(source)?.[0];
  if (name === undefined) return undefined;
  index += name.length;
  const stop = Math.min(limit, position + TAG_LENGTH_MAX);
  const attributes: TagAttribute[] = [];
  while (index < stop) {
    const character = source[index]!;
    if (character === '>') return { name: name.toLowerCase(), closing, end: index + 1, attributes };
    if (character === '<') return undefined;
    ATTRIBUTE_NAME.lastIndex = index;
    const attribute = ATTRIBUTE_NAME.exec(source)?.[0];
    if (attribute === undefined) {
      if (!/[\s/]/.test(character)) return undefined;
      index += 1;
      continue;
    }
    index += attribute.length;
    EQUALS.lastIndex = index;
    const equals = EQUALS.exec(source);
    if (!equals) continue;
    index += equals[0].length;
    const value = readValue(source, index, stop);
    if (!value) return undefined;
    attributes.push({ name: attribute.toLowerCase(), start: value.start, end: value.end });
    index = value.next;
  }
  return undefined;
}

/** The attribute value at `index`, quoted or not; undefined if its quote is not closed before `stop`. */
function readValue(
  source: string,
  index: number,
  stop: number,
): { start: number; end: number; next: number } | undefined {
  const quote = source[index];
  if (quote === '"' || quote === "'") {
    const end = source.indexOf(quote, index + 1);
    return end < 0 || end >= stop ? undefined : { start: index + 1, end, next: end + 1 };
  }
  let end = index;
  while (end < stop && !/[\s>]/.test(source[end]!)) end += 1;
  return { start: index, end, next: end };
}
