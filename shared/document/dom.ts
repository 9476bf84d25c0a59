// Functions on DOM nodes that several steps of the pipeline share.
import { type ChildNode, Element, type ParentNode, Text } from 'domhandler';
import { BLOCK, SILENT } from './elements.ts';

export function isElement(node: unknown): node is Element {
  return node instanceof Element;
}

export function isText(node: unknown): node is Text {
  return node instanceof Text;
}

/**
 * Walks trees in document order, without recursion. `enter` returns false to skip the content of an element. It must not
 * move nodes.
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

/** The text of the nodes, with its white space, without scripts and other silent elements. `br` is a line break. */
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

/** Replaces the children of a parent, and sets their `parent`, `prev` and `next`. */
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

/** Removes elements from their tree, in one pass over the children of each parent. */
export function removeElements(elements: Iterable<Element>): void {
  const removed = new Set<ChildNode>(elements);
  const parents = new Set<ParentNode>();
  for (const element of removed) if (element.parent) parents.add(element.parent);
  for (const parent of parents)
    setChildren(
      parent,
      parent.children.filter((child) => !removed.has(child)),
    );
  for (const element of removed) element.parent = null;
}

/**
 * Inline elements that contain blocks (`<a><div>`) and are therefore written as blocks. One pass over the tree, because a
 * search in each element would be quadratic in the depth.
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

/** Whether an element below `element` passes the test. */
export function holds(element: Element, test: (element: Element) => boolean): boolean {
  let found = false;
  walk(element.children, (node) => {
    if (isElement(node) && test(node)) found = true;
    return !found;
  });
  return found;
}

/** Whether an element above `element` passes the test. */
export function isInside(element: Element, test: (ancestor: Element) => boolean): boolean {
  for (let up = element.parent; isElement(up); up = up.parent) if (test(up)) return true;
  return false;
}

/** Adds an element and all elements above it. */
export function addWithAncestors(elements: Set<Element>, element: Element): void {
  for (let up: ParentNode | null = element; isElement(up) && !elements.has(up); up = up.parent) elements.add(up);
}

/** Elements of the list that are not inside another element of the list. */
export function outermost(elements: Iterable<Element>): Element[] {
  const all = new Set(elements);
  return [...all].filter((element) => !isInside(element, (up) => all.has(up)));
}

export function classWords(element: Element): string[] {
  const value = element.attribs.class;
  return value ? value.split(/\s+/).filter((word) => word !== '') : [];
}
