// Writes a tree as HTML text with the same settings everywhere.
import type { ChildNode } from 'domhandler';
import { getOuterHTML } from 'domutils';

/** HTML text of the nodes. Recursion is bounded by the tree's depth limit. */
export function serialize(nodes: readonly ChildNode[]): string {
  return getOuterHTML([...nodes], { encodeEntities: 'utf8', emptyAttrs: true }).trim();
}
