// An XML element without content, to read from when a file does not have an optional part.
import type { XmlElement } from '#shared/readers/xml.ts';

export const EMPTY_ELEMENT: XmlElement = { name: '', local: '', attributes: {}, children: [] };
