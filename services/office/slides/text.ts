// Reads DrawingML text (ECMA-376-1, 21.1.2): paragraphs, list levels, inherited bullets, runs and links.
import {
  attribute,
  childElement,
  childElements,
  descendants,
  textContent,
  type XmlElement,
} from '#shared/readers/xml.ts';
import type { Flow } from '../flow.ts';
import { InlineText, linkTarget, type RunFormat } from '../inline.ts';
import { formulaMarkup, ommlLatex } from '../omml.ts';
import type { OpcPackage } from '../opc.ts';

const FALSE = new Set(['0', 'false', 'off']);

function runFormatOf(properties: XmlElement | undefined): RunFormat {
  const { b, i, strike, baseline } = properties?.attributes ?? {};
  const format: RunFormat = {};
  if (b !== undefined && !FALSE.has(b)) format.bold = true;
  if (i !== undefined && !FALSE.has(i)) format.italic = true;
  if (strike !== undefined && strike !== 'noStrike') format.strike = true;
  const shift = Number(baseline ?? 0);
  if (shift > 0) format.superscript = true;
  if (shift < 0) format.subscript = true;
  return format;
}

/** The runs of one `a:p`. */
export function readParagraph(opc: OpcPackage, part: string, paragraph: XmlElement): InlineText {
  const inline = new InlineText();
  readRuns(opc, part, paragraph, inline);
  return inline;
}

function readRuns(opc: OpcPackage, part: string, parent: XmlElement, inline: InlineText): void {
  for (const element of childElements(parent)) {
    switch (element.local) {
      case 'r':
      case 'fld': {
        const properties = childElement(element, 'rPr');
        const id = attribute(childElement(properties, 'hlinkClick'), 'id');
        const link = id === undefined ? undefined : opc.relationships(part).get(id);
        const text = textContent(childElement(element, 't')).replace(/[\t\n]+/g, ' ');
        inline.text(text, runFormatOf(properties), link?.external ? linkTarget(link.target) : undefined);
        break;
      }
      case 'br':
        inline.text('\n');
        break;
      case 'm':
      case 'AlternateContent':
      case 'Choice':
        for (const math of descendants(element, 'oMath')) {
          const display = descendants(element, 'oMathPara').length > 0;
          inline.markup(formulaMarkup(ommlLatex(math), display));
        }
        break;
      default:
        break;
    }
  }
}

type Bullet = 'none' | 'bullet' | 'number';

function bulletIn(properties: XmlElement | undefined): Bullet | undefined {
  for (const child of properties ? childElements(properties) : []) {
    if (child.local === 'buNone') return 'none';
    if (child.local === 'buAutoNum') return 'number';
    if (child.local === 'buChar' || child.local === 'buBlip') return 'bullet';
  }
  return undefined;
}

/**
 * Writes the paragraphs of a text body.
 * @param styles the inherited list styles, the nearest first
 */
export function writeTextBody(
  opc: OpcPackage,
  part: string,
  body: XmlElement,
  styles: (XmlElement | undefined)[],
  flow: Flow,
): void {
  const chain = [childElement(body, 'lstStyle'), ...styles];
  const numbers: number[] = [];
  for (const paragraph of childElements(body, 'p')) {
    const inline = readParagraph(opc, part, paragraph);
    if (inline.isEmpty()) continue;
    const properties = childElement(paragraph, 'pPr');
    const level = Math.min(Math.max(Number(properties?.attributes.lvl ?? 0) || 0, 0), 8);
    let bullet = bulletIn(properties);
    for (const style of chain) bullet ??= bulletIn(childElement(style, `lvl${level + 1}pPr`));
    if (bullet === undefined || bullet === 'none') {
      numbers.length = 0;
      flow.paragraph(inline);
      continue;
    }
    numbers.length = level + 1;
    const start = Number(childElement(properties, 'buAutoNum')?.attributes.startAt ?? 1) || 1;
    const number = bullet === 'number' ? (numbers[level] ?? start - 1) + 1 : 0;
    numbers[level] = number;
    flow.item(inline, { level, ordered: bullet === 'number', ...(bullet === 'number' ? { number } : {}) });
  }
}
