// Removes deleted text that stands in the body of an OpenDocument text, so that tracked changes read as accepted.
import { attribute, childElement, childElements, type XmlElement } from '#shared/readers/xml.ts';
import { EMPTY_ELEMENT } from '../empty-element.ts';

/**
 * The body without the content of its tracked deletions. A deletion usually keeps its text in `text:changed-region`, and a
 * `text:change` marks the place (OpenDocument 1.3 part 3, 5.5). LibreOffice writes a flat document with its deletions shown: the
 * text stands in the body between `text:change-start` and `text:change-end`.
 */
export function withoutDeletions(body: XmlElement): XmlElement {
  const deletions = new Set(
    childElements(childElement(body, 'tracked-changes') ?? EMPTY_ELEMENT, 'changed-region')
      .filter((region) => childElement(region, 'deletion') !== undefined)
      .map((region) => attribute(region, 'id')),
  );
  if (deletions.size === 0) return body;
  /** Deletions that have started and not ended. One may end in another paragraph. */
  const open = new Set<string | undefined>();
  const remaining = (element: XmlElement): XmlElement => {
    const children: XmlElement['children'] = [];
    for (const child of element.children) {
      if (typeof child === 'string') {
        if (open.size === 0) children.push(child);
        continue;
      }
      const change = attribute(child, 'change-id');
      if (child.local === 'change-start' && deletions.has(change)) open.add(change);
      else if (child.local === 'change-end') open.delete(change);
      const startsDeleted = open.size > 0;
      const rest = remaining(child);
      if (!startsDeleted || rest.children.length > 0) children.push(rest);
    }
    return { ...element, children };
  };
  return remaining(body);
}
