// Reads the parts of a docx, xlsx or pptx package and the relationships between them (Open Packaging Conventions, ECMA-376-2).
import { childElements, parseXml, type XmlElement } from '#shared/readers/xml.ts';
import type { ZipContainer } from '#shared/readers/zip.ts';

interface Relationship {
  id: string;
  /** The last segment of the type URI (`image`, `hyperlink`), which strict and transitional files share. */
  type: string;
  /** The name of a part without a leading slash; the address if the target is external. */
  target: string;
  external: boolean;
}

/** Resolves a target against the part that refers to it. `..` cannot leave the package. */
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

  /** The relationships of a part by id; the part `''` is the package itself. */
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

  /** The relationships of a part that have a type. */
  related(part: string, type: string): Relationship[] {
    return [...this.relationships(part).values()].filter((relationship) => relationship.type === type);
  }

  /** The XML tree of a part; undefined if the package does not have the part. */
  tree(part: string | undefined): XmlElement | undefined {
    if (part === undefined || !this.zip.has(part)) return undefined;
    const known = this.#xml.get(part);
    if (known) return known;
    const tree = parseXml(this.zip.text(part));
    this.#xml.set(part, tree);
    return tree;
  }
}
