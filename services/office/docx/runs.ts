// Reads the content of a Word paragraph: runs, links, fields, tracked changes, formulas, notes, pictures and text boxes.
import {
  attribute,
  childElement,
  childElements,
  descendants,
  textContent,
  type XmlElement,
} from '#shared/readers/xml.ts';
import {
  alternatives,
  alternativeText,
  graphicData,
  graphicMarkup,
  type PictureOptions,
  pictureMarkup,
} from '../drawing.ts';
import { InlineText, linkTarget, type RunFormat } from '../inline.ts';
import { formulaMarkup, ommlLatex } from '../omml.ts';
import type { OpcPackage } from '../opc.ts';
import { runFormat, type Styles, settingOf, toggle } from './styles.ts';
import { symbolCharacter } from './symbols.ts';

/** Data that the readers of all stories (body, headers, notes) share. */
export interface DocxContext {
  opc: OpcPackage;
  styles: Styles;
  pictures: PictureOptions;
  /** Called for each reference to a note, in document order. Returns the markup of the reference. */
  noteReference(kind: 'footnote' | 'endnote', id: string): string;
  /** Reads the blocks inside an element of a part as semantic HTML. */
  readBlocks(part: string, element: XmlElement): string;
}

interface Field {
  instruction: string;
  /** Whether the reader is between `separate` and `end`, where the result of the field is. */
  inResult: boolean;
  href: string | undefined;
}

/** The state of a story. A field, such as a table of contents, can span several paragraphs. */
export interface StoryState {
  part: string;
  fields: Field[];
}

export interface ParagraphContent {
  inline: InlineText;
  /** Text boxes, charts and diagrams, which are written after the paragraph that anchors them. */
  blocks: string[];
}

const FIELD_DEPTH = 64;

function hyperlinkOf(instruction: string): string | undefined {
  const match = /^\s*HYPERLINK\s+(?:\\[lmnot]\s+)*(?:"([^"]*)"|(\S+))/i.exec(instruction);
  // `\l` is an anchor in this document.
  if (!match || /^\s*HYPERLINK\s+\\l/i.test(instruction)) return undefined;
  return linkTarget(match[1] ?? match[2]);
}

/** The text of a run's child; undefined if it is not text. */
function textOfRunChild(element: XmlElement): string | undefined {
  switch (element.local) {
    case 't':
      return textContent(element).replace(/\s+/g, ' ');
    case 'tab':
    case 'ptab':
      return ' ';
    case 'br':
      // Page and column breaks are spaces.
      return (element.attributes['w:type'] ?? 'textWrapping') === 'textWrapping' ? '\n' : ' ';
    case 'cr':
      return '\n';
    case 'noBreakHyphen':
      return '\u2011';
    case 'sym': {
      const code = Number.parseInt(element.attributes['w:char'] ?? '', 16) || 0;
      return symbolCharacter(element.attributes['w:font'] ?? '', code);
    }
    default:
      return undefined;
  }
}

/** Reads the content of one paragraph. */
export class RunReader {
  readonly content: ParagraphContent = { inline: new InlineText(), blocks: [] };
  readonly #context: DocxContext;
  readonly #state: StoryState;
  readonly #base: RunFormat;

  constructor(context: DocxContext, state: StoryState, base: RunFormat) {
    this.#context = context;
    this.#state = state;
    this.#base = base;
  }

  readChildren(element: XmlElement, href?: string): void {
    for (const child of element.children) if (typeof child !== 'string') this.#read(child, href);
  }

  #read(element: XmlElement, href: string | undefined): void {
    switch (element.local) {
      case 'r':
        this.#run(element, href);
        break;
      case 'hyperlink': {
        const id = attribute(element, 'id');
        const target = id === undefined ? undefined : this.#context.opc.relationships(this.#state.part).get(id);
        this.readChildren(element, (target?.external ? linkTarget(target.target) : undefined) ?? href);
        break;
      }
      case 'fldSimple':
        this.readChildren(element, hyperlinkOf(attribute(element, 'instr') ?? '') ?? href);
        break;
      case 'oMathPara':
        for (const math of childElements(element, 'oMath'))
          this.content.inline.markup(formulaMarkup(ommlLatex(math), true));
        break;
      case 'oMath':
        this.content.inline.markup(formulaMarkup(ommlLatex(element), false));
        break;
      case 'del':
      case 'moveFrom':
      case 'pPr':
      case 'sdtPr':
      case 'rt':
        break;
      case 'AlternateContent':
        this.#alternate(element, href);
        break;
      default:
        // ins, moveTo, sdt, smartTag, customXml, ruby and others only wrap runs.
        this.readChildren(element, href);
    }
  }

  #alternate(element: XmlElement, href: string | undefined): void {
    for (const branch of alternatives(element)) {
      const reader = new RunReader(this.#context, this.#state, this.#base);
      reader.readChildren(branch, href);
      const { inline, blocks } = reader.content;
      if (inline.isEmpty() && blocks.length === 0) continue;
      this.content.inline.append(inline);
      this.content.blocks.push(...blocks);
      return;
    }
  }

  #run(element: XmlElement, href: string | undefined): void {
    const properties = childElement(element, 'rPr');
    if (toggle(properties, 'vanish') && !toggle(properties, 'webHidden')) {
      // Hidden text is skipped, but the field marks in it still open and close fields.
      for (const mark of childElements(element, 'fldChar')) this.#fieldMark(mark);
      return;
    }
    const style = this.#context.styles.character(settingOf(properties, 'rStyle'));
    const format: RunFormat = { ...this.#base, ...style.format, ...runFormat(properties) };
    const field = this.#state.fields.findLast((open) => open.href !== undefined);
    const target = href ?? field?.href;
    for (const child of element.children) if (typeof child !== 'string') this.#runChild(child, format, target);
  }

  #runChild(element: XmlElement, format: RunFormat, href: string | undefined): void {
    const { inline, blocks } = this.content;
    if (element.local === 'fldChar') {
      this.#fieldMark(element);
      return;
    }
    const field = this.#state.fields.at(-1);
    if (element.local === 'instrText') {
      if (field && !field.inResult) field.instruction += textContent(element);
      return;
    }
    if (field && !field.inResult && element.local !== 'AlternateContent') return;
    const text = textOfRunChild(element);
    if (text !== undefined) {
      inline.text(text, format, href);
      return;
    }
    switch (element.local) {
      case 'footnoteReference':
      case 'endnoteReference':
        inline.markup(
          this.#context.noteReference(
            element.local === 'footnoteReference' ? 'footnote' : 'endnote',
            element.attributes['w:id'] ?? '',
          ),
        );
        break;
      case 'drawing':
        this.#drawing(element, href);
        break;
      case 'pict':
      case 'object':
        this.#vml(element, href);
        break;
      case 'AlternateContent':
        for (const branch of alternatives(element)) {
          const before = blocks.length;
          const wasEmpty = inline.isEmpty();
          for (const child of childElements(branch)) this.#runChild(child, format, href);
          if (blocks.length > before || wasEmpty !== inline.isEmpty()) break;
        }
        break;
      case 'ruby':
        for (const base of childElements(element, 'rubyBase')) this.readChildren(base, href);
        break;
      default:
        break;
    }
  }

  #fieldMark(element: XmlElement): void {
    const { fields } = this.#state;
    const type = element.attributes['w:fldCharType'];
    if (type === 'begin') {
      if (fields.length < FIELD_DEPTH) fields.push({ instruction: '', inResult: false, href: undefined });
      const box = childElement(childElement(element, 'ffData'), 'checkBox');
      if (box) this.content.inline.text((toggle(box, 'checked') ?? toggle(box, 'default')) ? '☒' : '☐', {});
    } else if (type === 'separate') {
      const field = fields.at(-1);
      if (!field) return;
      field.inResult = true;
      field.href = hyperlinkOf(field.instruction);
    } else if (type === 'end') fields.pop();
  }

  #drawing(element: XmlElement, href: string | undefined): void {
    const { opc, pictures } = this.#context;
    for (const anchor of childElements(element)) {
      const data = graphicData(anchor);
      if (!data) continue;
      const alt = alternativeText(childElement(anchor, 'docPr'));
      for (const box of descendants(data, 'txbxContent', 'txbxContent')) this.#box(box);
      const graphic = graphicMarkup(opc, this.#state.part, data);
      if (graphic !== '') this.content.blocks.push(graphic);
      for (const blip of descendants(data, 'blip', 'txbxContent')) {
        const reference = { embed: attribute(blip, 'embed'), link: attribute(blip, 'link') };
        const markup = pictureMarkup(opc, this.#state.part, reference, alt, pictures);
        if (markup !== '') this.content.inline.markup(markup, href);
      }
    }
  }

  #vml(element: XmlElement, href: string | undefined): void {
    const { opc, pictures } = this.#context;
    for (const box of descendants(element, 'txbxContent', 'txbxContent')) this.#box(box);
    for (const image of descendants(element, 'imagedata', 'txbxContent')) {
      const shape = descendants(element, 'shape').find((one) => one.children.includes(image));
      const alt = shape?.attributes.alt ?? attribute(image, 'title') ?? '';
      const reference = { embed: image.attributes['r:id'] ?? attribute(image, 'id'), link: attribute(image, 'href') };
      const markup = pictureMarkup(opc, this.#state.part, reference, alt, pictures);
      if (markup !== '') this.content.inline.markup(markup, href);
    }
    for (const path of descendants(element, 'textpath', 'txbxContent'))
      this.content.inline.text(path.attributes.string ?? '');
  }

  #box(element: XmlElement): void {
    const html = this.#context.readBlocks(this.#state.part, element);
    if (html !== '') this.content.blocks.push(html);
  }
}
