// Open Packaging Conventions: which part of a docx, xlsx or pptx refers to which (ECMA-376-2).

import { childElements, parseXml, type XmlElement } from '#shared/readers/xml.ts';
import type { ZipContainer } from '#shared/readers/zip.ts';

export interface Relationship {
  id: string;
  /** Last segment of the type URI (`image`, `hyperlink`), the same in the strict and the transitional form. */
  type: string;
  /** A part name without a leading slash, or for an external one its address. */
  target: string;
  external: boolean;
}

/** Joins a target to the part that names it; `..` cannot leave the container. */
export function resolvePart(source: string, target: string): string {
  const path = target.startsWith('/') ? [] : source.split('/').slice(0, -1);
  for (const segment of target.replaceAll('\\', '/').split('/')) {
    if (segment === '..') path.pop();
    else if (segment !== '' && segment !== '.') path.push(segment);
  }
  const joined = path.join('/');
  try {
    return decodeURIComponent(joined);
  } catch {
    return joined;
  }
}

export class OpcPackage {
  readonly zip: ZipContainer;
  #relationships = new Map<string, Map<string, Relationship>>();
  #xml = new Map<string, XmlElement>();

  constructor(zip: ZipContainer) {
    this.zip = zip;
  }

  /** The relationships of a part by id; `''` is the package itself. Empty where there are none. */
  relationships(part: string): Map<string, Relationship> {
    const known = this.#relationships.get(part);
    if (known) return known;
    const found = new Map<string, Relationship>();
    this.#relationships.set(part, found);
    const cut = part.lastIndexOf('/') + 1;
    const name = `${part.slice(0, cut)}_rels/${part.slice(cut)}.rels`;
    if (!this.zip.has(name)) return found;
    for (const { attributes } of childElements(parseXml(this.zip.text(name)), 'Relationship')) {
      const { Id: id, Type: type, Target: target } = attributes;
      if (id === undefined || type === undefined || target === undefined) continue;
      const external = attributes.TargetMode?.toLowerCase() === 'external';
      found.set(id, {
        id,
        type: type.slice(type.lastIndexOf('/') + 1),
        target: external ? target : resolvePart(part, target),
        external,
      });
    }
    return found;
  }

  /** The parts that a part refers to by a type. */
  related(part: string, type: string): Relationship[] {
    return [...this.relationships(part).values()].filter((relationship) => relationship.type === type);
  }

  /** The tree of a part; undefined where the package does not have it. */
  tree(part: string | undefined): XmlElement | undefined {
    if (part === undefined || !this.zip.has(part)) return undefined;
    const known = this.#xml.get(part);
    if (known) return known;
    const tree = parseXml(this.zip.text(part));
    this.#xml.set(part, tree);
    return tree;
  }
}
