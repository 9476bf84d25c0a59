// Describes an element of the structure tree of a tagged file, and answers questions about where an element stands in the tree (ISO 32000-1, 14.7 and 14.8).

/** One element, with what the tree has of it on one page. */
export interface StructureElement {
  /** Structure type, after the role map of the file. */
  type: string;
  parent: StructureElement | undefined;
  /** In the order of the tree; undefined for a child that shows nothing on the page. */
  children: (StructureElement | undefined)[];
  /** Of a table cell (ISO 32000-1, table 349). */
  rowspan: number;
  colspan: number;
}

/** Levels that a heading may have in HTML. */
const MAX_LEVEL = 6;

/** The nearest element around (or the element itself) for which a condition holds. */
export function nearest(
  element: StructureElement | undefined,
  holds: (one: StructureElement) => boolean,
): StructureElement | undefined {
  for (let one = element; one; one = one.parent) if (holds(one)) return one;
  return undefined;
}

/** The heading in which an element stands. */
export function headingAround(element: StructureElement | undefined): StructureElement | undefined {
  return nearest(element, ({ type }) => type === 'H' || type === 'Title' || /^H\d{1,2}$/.test(type));
}

/** The level that the tree gives to a heading: its number, or for `H` the number of sections in which it stands. */
export function taggedLevel(heading: StructureElement): number {
  if (heading.type === 'Title') return 1;
  if (heading.type !== 'H') return Math.min(MAX_LEVEL, Math.max(1, Number(heading.type.slice(1))));
  let sections = 0;
  for (let one = heading.parent; one; one = one.parent) if (one.type === 'Sect') sections++;
  return Math.min(MAX_LEVEL, Math.max(1, sections));
}

export function isCell({ type }: StructureElement): boolean {
  return type === 'TD' || type === 'TH';
}

/** Types of elements that stand in a line of text (ISO 32000-1, 14.8.4.4). */
const INLINE_TYPES = /^(?:Span|Quote|Reference|BibEntry|Link|Annot|Ruby|RB|RT|RP|Warichu|WT|WP|Em|Strong|Sub|Lbl)$/;
/** Types of elements that group others, and say nothing of the text that stands in them. */
const GROUP_TYPES = /^(?:Document|DocumentFragment|Part|Art|Sect|Div|Aside|NonStruct|Private)$/;

/** The block of text that has an element, where no cell of a table is around it. */
export function textBlockAround(element: StructureElement | undefined): StructureElement | undefined {
  return nearest(element, isCell) ? undefined : nearest(element, ({ type }) => !INLINE_TYPES.test(type));
}

export function isGroup({ type }: StructureElement): boolean {
  return GROUP_TYPES.test(type);
}
