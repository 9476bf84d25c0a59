// Reads one HTML tag out of a source text, with the places of its attribute values.
export interface TagAttribute {
  name: string;
  start: number;
  end: number;
}

export interface Tag {
  name: string;
  closing: boolean;
  /** Offset behind `>`. */
  end: number;
  attributes: TagAttribute[];
}

const TAG_LENGTH_MAX = 8 * 1024 * 1024;
const NAME = /[A-Za-z][\w:-]*/y;
const ATTRIBUTE_NAME = /[^\s"'<>/=]+/y;

/** The tag that opens at `position` (which holds `<`), or undefined where no tag stands there. `limit` bounds the search. */
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
    if (attribute === undefined || index === position + 1) {
      if (!/[\s/]/.test(character)) return undefined;
      index += 1;
      continue;
    }
    index += attribute.length;
    const equals = /\s{0,100}=\s{0,100}/y;
    equals.lastIndex = index;
    const assigned = equals.exec(source);
    if (!assigned) continue;
    index += assigned[0].length;
    const quote = source[index];
    let end: number;
    if (quote === '"' || quote === "'") {
      end = source.indexOf(quote, index + 1);
      if (end < 0 || end >= stop) return undefined;
      attributes.push({ name: attribute.toLowerCase(), start: index + 1, end });
      index = end + 1;
    } else {
      end = index;
      while (end < stop && !/[\s>]/.test(source[end]!)) end += 1;
      attributes.push({ name: attribute.toLowerCase(), start: index, end });
      index = end;
    }
  }
  return undefined;
}

/** Elements that sit inside a line of text; every other tag ends the line. */
export const INLINE_ELEMENTS: ReadonlySet<string> = new Set([
  'a',
  'abbr',
  'acronym',
  'b',
  'bdi',
  'bdo',
  'big',
  'cite',
  'code',
  'data',
  'del',
  'dfn',
  'em',
  'font',
  'i',
  'ins',
  'kbd',
  'label',
  'mark',
  'q',
  's',
  'samp',
  'small',
  'span',
  'strike',
  'strong',
  'sub',
  'sup',
  'time',
  'tt',
  'u',
  'var',
  'wbr',
  'math',
  'svg',
]);

/** Attributes that hold addresses. */
export const URL_ATTRIBUTES: ReadonlySet<string> = new Set([
  'href',
  'src',
  'srcset',
  'action',
  'formaction',
  'cite',
  'poster',
  'data',
  'background',
  'longdesc',
  'xlink:href',
  'ping',
  'usemap',
  'data-src',
  'data-href',
  'data-url',
]);

/** Attributes that hold neither words nor addresses. */
export const SILENT_ATTRIBUTES: ReadonlySet<string> = new Set([
  'class',
  'style',
  'colspan',
  'rowspan',
  'width',
  'height',
  'type',
  'rel',
  'target',
  'role',
  'dir',
  'lang',
  'align',
  'valign',
  'scope',
  'start',
  'border',
]);
