// Builds the one DOM of a document from any HTML, in linear time and bounded in depth and count, whatever the source is like.
import { type ChildNode, Document, Element, type ParentNode, Text } from 'domhandler';
import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2';
import { ParseError } from '../contract/errors.ts';
import { DOCUMENT_LIMITS } from '../contract/limits.ts';
import {
  CLOSES_PARAGRAPH,
  HEAD_CONTENT,
  HEADING,
  LIST_BARRIER,
  SCOPE_BARRIER,
  TABLE_PART,
  TABLE_SECTION,
  VOID,
} from './elements.ts';

export interface ParseHtmlOptions {
  /** XHTML: `<a/>` ends the element and CDATA is text. */
  xhtml?: boolean;
}

/** A parsed document: always `html` with `head` and `body`, as a browser has it. */
export interface HtmlTree {
  document: Document;
  html: Element;
  head: Element;
  body: Element;
}

const FOREIGN = new Set(['svg', 'math']);
const ROW_CONTEXT = new Set(['tr', 'tbody', 'thead', 'tfoot', 'table']);
const SECTION_CONTEXT = new Set(['tbody', 'thead', 'tfoot', 'table']);
const TABLE_CONTEXT = new Set(['table']);
const WHITESPACE_ONLY = /^[\s\u00a0]*$/;

/**
 * Parses HTML as the HTML Standard's tree construction does for all that shows in text: implied ends, implied tbody and tr,
 * content fostered out of tables, misnested formatting. Comments, doctype and processing instructions are left out.
 * Elements nested past DOCUMENT_LIMITS.htmlDepth become siblings, so that recursion over the tree is safe.
 * @throws ParseError DOCUMENT_TOO_COMPLEX past DOCUMENT_LIMITS.htmlElements.
 */
export function parseHtml(html: string, options: ParseHtmlOptions = {}): HtmlTree {
  const builder = new TreeBuilder(html, options.xhtml ?? false);
  const tokenizer = new Tokenizer({ xmlMode: false, decodeEntities: true }, builder);
  tokenizer.write(html);
  tokenizer.end();
  return builder.finish();
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

class TreeBuilder implements TokenizerCallbacks {
  readonly #source: string;
  readonly #xhtml: boolean;
  readonly #document = new Document([]);
  readonly #html = new Element('html', {});
  readonly #head = new Element('head', {});
  readonly #body = new Element('body', {});
  #stack: Element[];
  /** Open elements by name, so that an end tag that matches nothing costs nothing. */
  readonly #open = new Map<string, number>();
  #inHead = true;
  #foreign = 0;
  /** Elements open past the depth limit, which the tree does not hold as parents. */
  #overflow = 0;
  #elements = 0;
  #name = '';
  #attributes: Record<string, string> = {};
  #attributeName = '';
  #attributeValue = '';
  #text = '';
  /** Inside the internal subset of a doctype. */
  #subset = false;

  constructor(source: string, xhtml: boolean) {
    this.#source = source;
    this.#xhtml = xhtml;
    append(this.#document, this.#html);
    append(this.#html, this.#head);
    append(this.#html, this.#body);
    this.#stack = [this.#html, this.#head];
  }

  finish(): HtmlTree {
    this.#flushText();
    return { document: this.#document, html: this.#html, head: this.#head, body: this.#body };
  }

  // What the tokenizer reports.

  ontext(start: number, end: number): void {
    this.#text += this.#source.slice(start, end);
  }

  ontextentity(codepoint: number): void {
    this.#text += String.fromCodePoint(codepoint);
  }

  onattribname(start: number, end: number): void {
    this.#attributeName = this.#source.slice(start, end).toLowerCase();
    this.#attributeValue = '';
  }

  onattribdata(start: number, end: number): void {
    this.#attributeValue += this.#source.slice(start, end);
  }

  onattribentity(codepoint: number): void {
    this.#attributeValue += String.fromCodePoint(codepoint);
  }

  onattribend(): void {
    if (!(this.#attributeName in this.#attributes)) this.#attributes[this.#attributeName] = this.#attributeValue;
  }

  onopentagname(start: number, end: number): void {
    this.#name = this.#source.slice(start, end).toLowerCase();
    this.#attributes = Object.create(null) as Record<string, string>;
  }

  onopentagend(): void {
    this.#flushText();
    this.#start(this.#name, this.#attributes, false);
  }

  onselfclosingtag(): void {
    this.#flushText();
    this.#start(this.#name, this.#attributes, this.#xhtml || this.#foreign > 0 || FOREIGN.has(this.#name));
  }

  onclosetag(start: number, end: number): void {
    this.#flushText();
    this.#end(this.#source.slice(start, end).toLowerCase());
  }

  oncdata(start: number, end: number, endOffset: number): void {
    if (this.#xhtml || this.#foreign > 0) this.#text += this.#source.slice(start, end - endOffset);
  }

  ondeclaration(start: number, end: number): void {
    const declaration = this.#source.slice(start, Math.min(end, start + 2000));
    if (/^!?doctype[^[]*\[/i.test(declaration) && !declaration.includes(']')) this.#subset = true;
  }

  oncomment(): void {}
  onprocessinginstruction(): void {}
  onend(): void {}

  // The tree.

  get #current(): Element {
    return this.#stack[this.#stack.length - 1] ?? this.#body;
  }

  #push(element: Element): void {
    this.#stack.push(element);
    this.#open.set(element.name, (this.#open.get(element.name) ?? 0) + 1);
    if (FOREIGN.has(element.name)) this.#foreign++;
  }

  /** Pops until the stack has `length` elements; `html` and `body` stay. */
  #popTo(length: number): void {
    while (this.#stack.length > Math.max(length, 2)) {
      const element = this.#stack.pop();
      if (element) this.#forget(element);
    }
  }

  #forget(element: Element): void {
    this.#open.set(element.name, (this.#open.get(element.name) ?? 1) - 1);
    if (FOREIGN.has(element.name)) this.#foreign--;
  }

  #leaveHead(): void {
    if (!this.#inHead) return;
    this.#popTo(2);
    this.#inHead = false;
    this.#stack = [this.#html, this.#body];
  }

  #flushText(): void {
    if (this.#text === '') return;
    let text = this.#text;
    this.#text = '';
    if (this.#subset) {
      const end = text.indexOf(']');
      if (end < 0) return;
      this.#subset = false;
      text = text.slice(end + 1).replace(/^\s*>/, '');
      if (text === '') return;
    }
    const blank = WHITESPACE_ONLY.test(text);
    if (this.#inHead && this.#stack.length === 2) {
      if (blank) return;
      this.#leaveHead();
    }
    if (isTableContext(this.#current)) {
      if (blank) return;
      this.#foster(new Text(text));
      return;
    }
    const parent = this.#current;
    const last = parent.children[parent.children.length - 1];
    if (last instanceof Text) last.data += text;
    else append(parent, new Text(text));
  }

  /** Puts a node in front of the open table, where a browser puts what a table may not hold. */
  #foster(node: ChildNode): void {
    let index = this.#stack.length - 1;
    while (index > 0 && this.#stack[index]?.name !== 'table') index--;
    const table = this.#stack[index];
    const parent = table?.parent ?? this.#body;
    const last = parent.children[parent.children.length - 1];
    if (!table || last !== table) {
      append(parent, node);
      return;
    }
    parent.children[parent.children.length - 1] = node;
    node.parent = parent;
    node.prev = table.prev;
    if (table.prev) table.prev.next = node;
    parent.children.push(table);
    node.next = table;
    table.prev = node;
  }

  #start(name: string, attributes: Record<string, string>, selfClosing: boolean): void {
    if (name === 'html' || name === 'body' || name === 'head') {
      if (name === 'body') this.#leaveHead();
      if (name !== 'head') mergeAttributes(name === 'html' ? this.#html : this.#body, attributes);
      return;
    }
    if (++this.#elements > DOCUMENT_LIMITS.htmlElements)
      throw new ParseError(
        'DOCUMENT_TOO_COMPLEX',
        `The document has more than ${DOCUMENT_LIMITS.htmlElements} elements; split it into smaller files`,
      );
    if (this.#inHead && this.#stack.length === 2 && !HEAD_CONTENT.has(name)) this.#leaveHead();
    if (this.#foreign === 0 && !this.#closeImplied(name)) return;

    const element = new Element(name, attributes);
    if (isTableContext(this.#current) && !TABLE_PART.has(name)) this.#foster(element);
    else append(this.#current, element);
    if (selfClosing || VOID.has(name)) return;
    if (this.#stack.length >= DOCUMENT_LIMITS.htmlDepth) this.#overflow++;
    else this.#push(element);
  }

  /** Ends what the start of `name` ends and opens what it implies. False where the tag stands outside its table and is dropped. */
  #closeImplied(name: string): boolean {
    if (TABLE_PART.has(name) && name !== 'script' && name !== 'style' && name !== 'template')
      return this.#enterTablePart(name);
    if (CLOSES_PARAGRAPH.has(name)) this.#closeInScope('p');
    if (name === 'table' && isTableContext(this.#current)) this.#end('table');
    else if (name === 'li') this.#closeListPart('li', 'li');
    else if (name === 'dd' || name === 'dt') this.#closeListPart('dd', 'dt');
    else if (HEADING.has(name) && HEADING.has(this.#current.name)) this.#popTo(this.#stack.length - 1);
    else if ((name === 'option' || name === 'optgroup') && this.#current.name === 'option')
      this.#popTo(this.#stack.length - 1);
    else if (name === 'a') this.#closeInline('a');
    else if (name === 'button') this.#closeInScope('button');
    else if ((name === 'rt' || name === 'rp') && (this.#current.name === 'rt' || this.#current.name === 'rp'))
      this.#popTo(this.#stack.length - 1);
    return true;
  }

  #enterTablePart(name: string): boolean {
    if ((this.#open.get('table') ?? 0) === 0) return false;
    const context = name === 'td' || name === 'th' ? ROW_CONTEXT : name === 'tr' ? SECTION_CONTEXT : TABLE_CONTEXT;
    let index = this.#stack.length - 1;
    while (index > 1 && !(this.#stack[index] && context.has(this.#stack[index]?.name ?? ''))) index--;
    // The depth limit may have swallowed the table that this part belongs to.
    if (index <= 1) return false;
    if (name === 'col' && this.#current.name === 'colgroup') return true;
    this.#popTo(index + 1);
    if (this.#stack.length + 2 >= DOCUMENT_LIMITS.htmlDepth) return true;
    if ((name === 'td' || name === 'th' || name === 'tr') && this.#current.name === 'table') this.#imply('tbody');
    if ((name === 'td' || name === 'th') && TABLE_SECTION.has(this.#current.name)) this.#imply('tr');
    return true;
  }

  #imply(name: string): void {
    const element = new Element(name, Object.create(null) as Record<string, string>);
    append(this.#current, element);
    this.#push(element);
  }

  #closeInScope(name: string): void {
    if ((this.#open.get(name) ?? 0) === 0) return;
    for (let index = this.#stack.length - 1; index > 1; index--) {
      const open = this.#stack[index]?.name ?? '';
      if (open === name) {
        this.#popTo(index);
        return;
      }
      if (SCOPE_BARRIER.has(open)) return;
    }
  }

  #closeListPart(first: string, second: string): void {
    for (let index = this.#stack.length - 1; index > 1; index--) {
      const open = this.#stack[index]?.name ?? '';
      if (open === first || open === second) {
        this.#popTo(index);
        return;
      }
      if (LIST_BARRIER.has(open)) return;
    }
  }

  #closeInline(name: string): void {
    if ((this.#open.get(name) ?? 0) === 0) return;
    for (let index = this.#stack.length - 1; index > 1; index--) {
      const open = this.#stack[index]?.name ?? '';
      if (open === name) {
        this.#popTo(index);
        return;
      }
      if (CLOSES_PARAGRAPH.has(open) || SCOPE_BARRIER.has(open)) return;
    }
  }

  #end(name: string): void {
    if (name === 'head') {
      if (this.#inHead) this.#leaveHead();
      return;
    }
    if (name === 'html' || name === 'body') return;
    if (name === 'br') {
      this.#start('br', Object.create(null) as Record<string, string>, false);
      return;
    }
    if (this.#overflow > 0) {
      if (!VOID.has(name)) this.#overflow--;
      return;
    }
    const heading = HEADING.has(name);
    if (!heading && (this.#open.get(name) ?? 0) === 0) return;
    const tablePart = name === 'table' || TABLE_PART.has(name);
    let crossedBlock = false;
    for (let index = this.#stack.length - 1; index > 1; index--) {
      const open = this.#stack[index]?.name ?? '';
      if (open === name || (heading && HEADING.has(open))) {
        // Misnested formatting (`<b><div></b></div>`): the blocks inside stay open, only the formatting ends.
        if (crossedBlock && !CLOSES_PARAGRAPH.has(name) && !tablePart && !SCOPE_BARRIER.has(name)) {
          const [element] = this.#stack.splice(index, 1);
          if (element) this.#forget(element);
        } else this.#popTo(index);
        return;
      }
      if (tablePart ? open === 'table' : SCOPE_BARRIER.has(open)) return;
      if (CLOSES_PARAGRAPH.has(open)) crossedBlock = true;
    }
  }
}

function isTableContext(element: Element): boolean {
  return element.name === 'table' || element.name === 'tr' || TABLE_SECTION.has(element.name);
}

function append(parent: ParentNode, node: ChildNode): void {
  const last = parent.children[parent.children.length - 1];
  node.parent = parent;
  if (last) {
    last.next = node;
    node.prev = last;
  }
  parent.children.push(node);
}

function mergeAttributes(element: Element, attributes: Record<string, string>): void {
  for (const [name, value] of Object.entries(attributes)) if (!(name in element.attribs)) element.attribs[name] = value;
}
