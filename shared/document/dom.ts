// Small questions about nodes that every stage of the pipeline asks the same way.
import { type ChildNode, Element, type ParentNode, Text } from 'domhandler';
import { BLOCK, SILENT } from './elements.ts';

export function isElement(node: unknown): node is Element {
  return node instanceof Element;
}

export function isText(node: unknown): node is Text {
  return node instanceof Text;
}

/**
 * Walks trees in document order, by the nodes' own links and without recursion.
 * `enter` gives false to leave an element's content out; it must not move nodes.
 */
export function walk(roots: readonly ChildNode[], enter: (node: ChildNode) => boolean | undefined): void {
  for (const root of roots) {
    let node: ChildNode = root;
    for (;;) {
      const first = enter(node) !== false && isElement(node) ? node.children[0] : undefined;
      if (first) {
        node = first;
        continue;
      }
      while (node !== root && node.next === null) node = node.parent as ChildNode;
      if (node === root) break;
      node = node.next as ChildNode;
    }
  }
}

/** All text below the nodes, as it stands, without scripts and other silent elements. */
export function textOf(nodes: readonly ChildNode[]): string {
  const parts: string[] = [];
  walk(nodes, (node) => {
    if (isText(node)) parts.push(node.data);
    else if (isElement(node)) {
      if (SILENT.has(node.name)) return false;
      if (node.name === 'br') parts.push('\n');
    }
    return true;
  });
  return parts.join('');
}

/** Puts `nodes` in the place of a parent's children and ties them to each other. */
export function setChildren(parent: ParentNode, nodes: ChildNode[]): void {
  parent.children = nodes;
  let previous: ChildNode | null = null;
  for (const node of nodes) {
    node.parent = parent;
    node.prev = previous;
    node.next = null;
    if (previous) previous.next = node;
    previous = node;
  }
}

/** Removes a set of elements from a tree in one pass over the parents concerned. */
export function removeElements(elements: Iterable<Element>): void {
  const doomed = new Set<ChildNode>(elements);
  const parents = new Set<ParentNode>();
  for (const element of doomed) if (element.parent) parents.add(element.parent);
  for (const parent of parents)
    setChildren(
      parent,
      parent.children.filter((child) => !doomed.has(child)),
    );
  for (const element of doomed) element.parent = null;
}

/**
 * Elements that are inline by name but hold blocks (`<a><div>`), so that they must be laid out as blocks.
 * One pass over the whole tree: asking each element for itself would be quadratic in depth.
 */
export function findBlockHolders(roots: readonly ChildNode[]): Set<Element> {
  const holders = new Set<Element>();
  walk(roots, (node) => {
    if (!isElement(node)) return true;
    if (SILENT.has(node.name)) return false;
    if (!BLOCK.has(node.name)) return true;
    for (
      let parent = node.parent;
      isElement(parent) && !BLOCK.has(parent.name) && !holders.has(parent);
      parent = parent.parent
    )
      holders.add(parent);
    return true;
  });
  return holders;
}

/** Words of the class attribute. */
export function classWords(element: Element): string[] {
  const value = element.attribs.class;
  return value ? value.split(/\s+/).filter((word) => word !== '') : [];
}
