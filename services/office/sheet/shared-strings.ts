// Reads the table of shared strings of an xlsx (ECMA-376-1, 18.4), which its cells refer to by index.
import { localName, readXml } from '#shared/readers/xml.ts';
import type { OpcPackage } from '../opc.ts';

/** The shared strings in order, without phonetic hints (`rPh`), which cells do not show. */
export function readSharedStrings(opc: OpcPackage, part: string | undefined): string[] {
  const strings: string[] = [];
  if (part === undefined || !opc.zip.has(part)) return strings;
  let text = '';
  let inText = false;
  let hidden = 0;
  readXml(opc.zip.text(part), {
    open(name) {
      const local = localName(name);
      if (local === 'si') text = '';
      else if (local === 't') inText = true;
      else if (local === 'rPh') hidden++;
    },
    text(chunk) {
      if (inText && hidden === 0) text += chunk;
    },
    close(name) {
      const local = localName(name);
      if (local === 'si') strings.push(decodeControls(text));
      else if (local === 't') inText = false;
      else if (local === 'rPh') hidden--;
    },
  });
  return strings;
}

/** Decodes `_x000A_`, which stands for a character that XML does not allow (ECMA-376-1, 22.4.2.4). */
export function decodeControls(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) => {
    const character = String.fromCharCode(Number.parseInt(code, 16));
    return character === '\r' ? '' : character;
  });
}
