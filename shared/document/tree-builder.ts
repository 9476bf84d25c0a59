// Builds the DOM of an HTML text with parse5, and bounds the depth, the number and the cost of the elements for hostile input.
import { type ChildNode, type Document, Element, type ParentNode, Text } from 'domhandler';
import { html, Parser, Token, TokenizerMode, type TreeAdapter } from 'parse5';
import { adapter, type Htmlparser2TreeAdapterMap } from 'parse5-htmlparser2-tree-adapter';
import { ParseError } from '../contract/errors.ts';
import { DOCUMENT_LIMITS } from '../contract/limits.ts';
import { isElement, setChildren } from './dom.ts';
import { FastTokenizer } from './html-tokenizer.ts';

const { NS, TAG_ID } = html;
const NO_MORE_ELEMENTS = `The document has more than ${DOCUMENT_LIMITS.htmlElements} elements; split it into smaller files`;

/**
 * Entries of the list of active formatting elements (HTML Standard, 13.2.4.3). The Standard sets no limit, but each new
 * paragraph opens every element of the list again.
 */
const ACTIVE_FORMATTING = 50;
/**
 * Formatting elements are no longer copied when there are more elements than `perStartTag` for each start tag plus `spare`,
 * because a paragraph of four characters copies all active formatting elements.
 */
const COPIES = { perStartTag: 2, spare: 10_000 };
/** Attributes that a copy of a formatting element gets. */
const COPIED_ATTRIBUTES = 16;

/** The Document node of an HTML text: `html` with `head` and `body`, without comments and doctype. */
export function buildDocument(source: string, xhtml: boolean): Document {
  const parser = new BoundedParser(xhtml);
  parser.tokenizer.write(source, true);
  const root = parser.document.children.find(isElement);
  if (root && parser.mayBeTooDeep) flattenDeepElements(root);
  return parser.document;
}

class BoundedParser extends Parser<Htmlparser2TreeAdapterMap> {
  /** The tree may have elements that are nested deeper than DOCUMENT_LIMITS.htmlDepth. */
  mayBeTooDeep = false;
  readonly #xhtml: boolean;
  readonly #count: Count;
  #startTags = 0;
  /** An element was closed since the last call of _reconstructActiveFormattingElements. */
  #popped = false;
  /** The number of elements, by name, that were ended at once because of their depth, and whose end tags are ignored. */
  readonly #ended = new Map<string, number>();

  constructor(xhtml: boolean) {
    const count: Count = { elements: 0 };
    super({ treeAdapter: boundedAdapter(count) });
    this.tokenizer = new FastTokenizer(this.options, this);
    this.#xhtml = xhtml;
    this.#count = count;
  }

  override onStartTag(token: Token.TagToken): void {
    this.#startTags++;
    const before = this.openElements.current;
    readFramesAsContent(token);
    super.onStartTag(token);
    this.#shortenCopies(token);
    const { current, stackTop } = this.openElements;
    if (current === before || !isElement(current)) return;
    if (stackTop >= DOCUMENT_LIMITS.htmlDepth - 1) this.mayBeTooDeep = true;
    if (this.#xhtml && token.selfClosing && !token.ackSelfClosing) this.#end(token);
    else if (stackTop >= DOCUMENT_LIMITS.htmlDepth - 1 && this.tokenizer.state === TokenizerMode.DATA) {
      if (current.namespace === NS.HTML) this.#ended.set(current.name, (this.#ended.get(current.name) ?? 0) + 1);
      this.#end(token);
    }
  }

  override onEndTag(token: Token.TagToken): void {
    const ended = this.#ended.get(token.tagName) ?? 0;
    if (ended > 0) {
      this.#ended.set(token.tagName, ended - 1);
      return;
    }
    // XML: `<br></br>` is one line break. HTML: `</br>` is a second line break.
    if (this.#xhtml && token.tagID === TAG_ID.BR) return;
    readFramesAsContent(token);
    this.#boundFormatting();
    super.onEndTag(token);
  }

  override onItemPop(node: ParentNode, isTop: boolean): void {
    this.#popped = true;
    // An element that leaves the stack before its descendants makes the tree deeper than the stack.
    if (this.openElements.items[this.openElements.stackTop + 1] !== node) this.mayBeTooDeep = true;
    super.onItemPop(node, isTop);
  }

  // parse5 calls this for each run of text, and searches the open elements each time.
  override _reconstructActiveFormattingElements(): void {
    if (!this.#popped) return;
    this.#popped = false;
    this.#boundFormatting();
    super._reconstructActiveFormattingElements();
    if (this.openElements.stackTop >= DOCUMENT_LIMITS.htmlDepth) this.mayBeTooDeep = true;
  }

  // parse5 moves the children one by one, each time from the front of an array.
  override _adoptNodes(donor: ParentNode, recipient: ParentNode): void {
    setChildren(recipient, donor.children);
    donor.children = [];
  }

  override _appendCommentNode(): void {}

  /** Ends the element that the token has just opened, and the raw text state of the tokenizer. */
  #end(token: Token.TagToken): void {
    super.onEndTag({ ...token, type: Token.TokenType.END_TAG, tagName: token.tagName.toLowerCase() });
    this.tokenizer.state = TokenizerMode.DATA;
  }

  #boundFormatting(): void {
    const { entries } = this.activeFormattingElements;
    // The newest entries come first.
    if (entries.length > ACTIVE_FORMATTING) entries.length = ACTIVE_FORMATTING;
    if (this.#count.elements > this.#startTags * COPIES.perStartTag + COPIES.spare) entries.length = 0;
  }

  /** Bounds the size of each copy of the formatting element that the token has opened. */
  #shortenCopies(token: Token.TagToken): void {
    if (token.attrs.length <= COPIED_ATTRIBUTES) return;
    const newest = this.activeFormattingElements.entries[0];
    if (newest && 'token' in newest && newest.token === token)
      newest.token = { ...token, attrs: token.attrs.slice(0, COPIED_ATTRIBUTES) };
  }
}

/** Reads `frameset` and `noframes` as ordinary elements: the text for browsers without frames is the only text of such a page. */
function readFramesAsContent(token: Token.TagToken): void {
  if (token.tagID === TAG_ID.FRAMESET || token.tagID === TAG_ID.NOFRAMES) token.tagID = TAG_ID.UNKNOWN;
}

interface Count {
  /** Elements created so far. */
  elements: number;
}

/** The parse5 adapter for domhandler nodes, with a limit on elements, and with searches that start at the last child. */
function boundedAdapter(count: Count): TreeAdapter<Htmlparser2TreeAdapterMap> {
  const attributeLists = new WeakMap<Element, Token.Attribute[]>();
  return {
    ...adapter,
    createElement(name, namespace, attributes) {
      if (++count.elements > DOCUMENT_LIMITS.htmlElements)
        throw new ParseError('DOCUMENT_TOO_COMPLEX', NO_MORE_ELEMENTS);
      return createElement(name, namespace, attributes);
    },
    adoptAttributes(element, attributes) {
      for (const { name, value } of attributes) if (!(name in element.attribs)) element.attribs[name] = value;
    },
    getAttrList(element) {
      let list = attributeLists.get(element);
      if (list === undefined) attributeLists.set(element, (list = attributeList(element)));
      return list;
    },
    detachNode,
    insertBefore,
    insertTextBefore(parent, text, reference) {
      if (reference.prev instanceof Text) reference.prev.data += text;
      else insertBefore(parent, new Text(text), reference);
    },
    // The content of a template is its children here, so that one walk finds all elements.
    setTemplateContent() {},
    getTemplateContent: (template) => template as ParentNode as Document,
    setDocumentType() {},
  };
}

function createElement(name: string, namespace: html.NS, attributes: readonly Token.Attribute[]): Element {
  const attribs = Object.create(null) as Record<string, string>;
  // SVG has names in mixed case (`viewBox`), which cheerio selectors do not match. The serializer writes them correctly.
  const foreign = namespace !== NS.HTML;
  for (const { name: plain, prefix, value } of attributes)
    attribs[foreign ? (prefix ? `${prefix}:${plain}` : plain).toLowerCase() : plain] = value;
  const element = new Element(foreign ? name.toLowerCase() : name, attribs);
  element.namespace = namespace;
  return element;
}

/**
 * The attributes that parse5 compares: all attributes of a formatting element, joined so that each comparison is cheap, and
 * `encoding` of a foreign element.
 */
function attributeList({ attribs, namespace }: Element): Token.Attribute[] {
  if (namespace !== NS.HTML)
    return attribs.encoding === undefined ? [] : [{ name: 'encoding', value: attribs.encoding }];
  const names = Object.keys(attribs).sort();
  return names.length === 0 ? [] : [{ name: '', value: JSON.stringify(names.map((name) => [name, attribs[name]])) }];
}

function detachNode(node: ChildNode): void {
  const { parent, prev, next } = node;
  if (prev) prev.next = next;
  if (next) next.prev = prev;
  if (parent) parent.children.splice(parent.children.lastIndexOf(node), 1);
  node.parent = null;
  node.prev = null;
  node.next = null;
}

function insertBefore(parent: ParentNode, node: ChildNode, reference: ChildNode): void {
  node.parent = parent;
  node.prev = reference.prev;
  node.next = reference;
  if (reference.prev) reference.prev.next = node;
  reference.prev = node;
  parent.children.splice(parent.children.lastIndexOf(reference), 0, node);
}

/**
 * Turns elements that are nested deeper than DOCUMENT_LIMITS.htmlDepth into siblings, so that recursion over the tree is
 * safe. The parser bounds only the number of open elements, and `</form>` closes a form before its content.
 */
function flattenDeepElements(root: Element): void {
  let node: ChildNode = root;
  let depth = 1;
  for (;;) {
    const first: ChildNode | undefined = isElement(node) ? node.children[0] : undefined;
    if (first && depth < DOCUMENT_LIMITS.htmlDepth - 1) {
      node = first;
      depth++;
      continue;
    }
    if (first) liftDescendants(node as Element);
    while (node !== root && node.next === null) {
      node = node.parent as Element;
      depth--;
    }
    if (node === root) return;
    node = node.next as ChildNode;
  }
}

/** Replaces the children by all descendants, in document order. An element whose children were moved stays, without content. */
function liftDescendants(parent: Element): void {
  if (!parent.children.some((child) => isElement(child) && child.children.some(isElement))) return;
  const flat: ChildNode[] = [];
  const pending = parent.children.toReversed();
  for (let node = pending.pop(); node; node = pending.pop()) {
    flat.push(node);
    if (!isElement(node) || !node.children.some(isElement)) continue;
    for (let index = node.children.length - 1; index >= 0; index--) pending.push(node.children[index]!);
    node.children = [];
  }
  setChildren(parent, flat);
}
