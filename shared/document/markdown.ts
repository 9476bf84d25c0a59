// Writes a cleaned tree as GitHub-flavoured Markdown, block by block, in linear time (docs/packages.md compares it with turndown).
import type { ChildNode, Element } from 'domhandler';
import { collectInline, linkOf, type MarkdownScope, marksOf } from './collect.ts';
import { classWords, findBlockHolders, isElement, isText, textOf, walk } from './dom.ts';
import { BLOCK, HEADING, SILENT } from './elements.ts';
import { type Footnotes, findFootnotes } from './footnotes.ts';
import { type InlineToken, type Mark, renderInline, splitParagraphs } from './inline.ts';
import { formulaMarkdown, formulaOf } from './math.ts';
import { renderTable } from './tables.ts';
import { MarkdownWriter } from './writer.ts';

interface MarkdownOptions {
  /** Tables may be layout tables. */
  webpage: boolean;
  /** The footnotes of a document of which `nodes` are a part. */
  footnotes?: Footnotes;
  /** The nodes come from different parts of the document, so that each starts a new paragraph. */
  apart?: boolean;
}

/** Markdown of the nodes, without blank lines at its ends. */
export function toMarkdown(nodes: readonly ChildNode[], options: MarkdownOptions): string {
  const scope: MarkdownScope = {
    footnotes: options.footnotes ?? findFootnotes(nodes),
    holders: findBlockHolders(nodes),
  };
  const renderer = new BlockRenderer(scope, options.webpage);
  if (options.apart) for (const node of nodes) renderer.blocks([node], []);
  else renderer.blocks(nodes, []);
  return renderer.writer.toString();
}

/** Marks of elements around blocks (`<b><p>`), which apply to each run of text inside. */
type Marks = readonly Mark[];

/** An element, or a run of text and inline elements directly in the list. */
type ListItem = Element | ChildNode[];

class BlockRenderer {
  readonly writer = new MarkdownWriter();
  readonly #scope: MarkdownScope;
  readonly #webpage: boolean;
  /** Links around blocks that were already written on a run of text. */
  readonly #usedLinks = new Set<Mark>();
  /** The checkbox to write in front of the next text. */
  #checkbox: string | undefined;
  /** The list written last. A list right after it gets another marker, so that Markdown does not join them. */
  #lastList: { element: Element; marker: string } | undefined;

  constructor(scope: MarkdownScope, webpage: boolean) {
    this.#scope = scope;
    this.#webpage = webpage;
  }

  blocks(nodes: readonly ChildNode[], marks: Marks): void {
    let run: ChildNode[] = [];
    for (const node of nodes) {
      if (isElement(node) && this.#isBlock(node)) {
        this.#paragraph(run, marks);
        run = [];
        this.#block(node, marks);
      } else if (isElement(node) || isText(node)) run.push(node);
    }
    this.#paragraph(run, marks);
  }

  #isBlock(element: Element): boolean {
    if (SILENT.has(element.name)) return false;
    return (
      BLOCK.has(element.name) ||
      this.#scope.holders.has(element) ||
      (this.#scope.footnotes.notes.has(element) && element.name !== 'a')
    );
  }

  #block(element: Element, marks: Marks): void {
    const { name } = element;
    if (this.#scope.footnotes.notes.has(element)) this.#note(element);
    else if (HEADING.has(name)) this.#heading(element, marks);
    else if (name === 'p' || name === 'summary' || name === 'dt' || name === 'dd' || name === 'figcaption')
      this.#container(element, marks);
    else if (name === 'ul' || name === 'ol' || name === 'menu' || name === 'dir') this.#list(element, marks);
    else if (name === 'table') this.#table(element, marks);
    else if (name === 'pre' || name === 'listing' || name === 'xmp' || name === 'plaintext') this.#code(element);
    else if (name === 'blockquote' || (name === 'aside' && classWords(element).includes('notes')))
      this.writer.quote(() => this.blocks(element.children, marks));
    else if (name === 'hr') this.writer.block('other', this.writer.atItemStart ? '***' : '---');
    else if (name === 'dl') this.#definitions(element, marks);
    else this.#container(element, marks);
  }

  #container(element: Element, marks: Marks): void {
    const slide = element.attribs['data-slide'];
    if (slide !== undefined && /^\d{1,6}$/.test(slide)) this.writer.block('other', `<!-- Slide ${slide} -->`);
    const formula = formulaOf(element);
    if (formula) {
      this.writer.block('other', formulaMarkdown(formula));
      return;
    }
    const own = marksOf(element);
    const link = linkOf(element);
    if (link) own.push(link);
    this.blocks(element.children, own.length > 0 ? [...marks, ...own] : marks);
  }

  #paragraph(run: ChildNode[], marks: Marks): void {
    if (run.length === 0) return;
    if (run.every((node) => isText(node) && node.data.trim() === '')) return;
    const inline = collectInline(run, { scope: this.#scope, cell: false, heading: false }, []);
    for (const tokens of splitParagraphs(inline)) {
      const text = renderInline(this.#marked(tokens, marks), { cell: false, heading: false });
      if (text === '') continue;
      this.#useLinks(marks);
      this.writer.block('text', this.#checkbox === undefined ? text : `${this.#checkbox} ${text}`);
      this.#checkbox = undefined;
    }
  }

  /** Puts the marks around the tokens. A link around several blocks is put only around the first text in them. */
  #marked(tokens: InlineToken[], marks: Marks): InlineToken[] {
    const open = marks.filter((mark) => !this.#usedLinks.has(mark));
    if (open.length === 0) return tokens;
    return [
      ...open.map((mark): InlineToken => ({ type: 'open', mark })),
      ...tokens,
      ...open.toReversed().map((mark): InlineToken => ({ type: 'close', mark })),
    ];
  }

  #useLinks(marks: Marks): void {
    for (const mark of marks) if (mark.kind === 'link') this.#usedLinks.add(mark);
  }

  #heading(element: Element, marks: Marks): void {
    const tokens = collectInline(element.children, { scope: this.#scope, cell: false, heading: true }, []);
    const text = renderInline(this.#marked(tokens, marks), { cell: false, heading: true });
    if (text === '') return;
    this.#useLinks(marks);
    this.writer.block('other', `${'#'.repeat(Number(element.name.charAt(1)))} ${text}`);
  }

  #list(element: Element, marks: Marks): void {
    const items = this.#listItems(element);
    if (items.length === 0) return;
    if (items.every((item) => isElement(item) && this.#scope.footnotes.notes.has(item))) {
      for (const item of items) if (isElement(item)) this.#note(item);
      return;
    }
    const ordered = element.name === 'ol';
    const before = this.#lastList;
    const follows =
      before !== undefined && before.element === previousElement(element) && (before.element.name === 'ol') === ordered;
    const [usual, other] = !ordered ? ['-', '*'] : element.attribs['data-marker'] === ')' ? [')', '.'] : ['.', ')'];
    const marker = follows && before.marker === usual ? other : usual;
    const start = Number.parseInt(element.attribs.start ?? '1', 10);
    let number = Number.isFinite(start) ? Math.min(Math.max(start, 0), 999_999_999 - items.length) : 1;
    this.writer.list(() => {
      for (const item of items) {
        if (isElement(item) && this.#scope.footnotes.notes.has(item)) {
          this.#note(item);
          continue;
        }
        const value = Number.parseInt((isElement(item) ? item.attribs.value : undefined) ?? '', 10);
        if (ordered && value >= 0 && value < 999_999_999) number = value;
        this.writer.item(ordered ? `${number}${marker} ` : `${marker} `, () => this.#item(item, marks));
        number++;
      }
    });
    this.#lastList = { element, marker };
  }

  /** The items of a list. A run of text directly in the list is an item. An element around `li` elements is replaced by them. */
  #listItems(list: Element): ListItem[] {
    const items: ListItem[] = [];
    let run: ChildNode[] | undefined;
    for (const child of list.children) {
      if (isBlank(child)) {
        run?.push(child);
      } else if (isElement(child) && (child.name === 'li' || this.#isBlock(child))) {
        run = undefined;
        if (child.name === 'li' || isList(child) || !holdsItem(child)) items.push(child);
        else for (const inner of child.children) if (isElement(inner)) items.push(inner);
      } else if (run) run.push(child);
      else items.push((run = [child]));
    }
    return items;
  }

  #item(item: ListItem, marks: Marks): void {
    if (!isElement(item)) {
      this.blocks(item, marks);
      return;
    }
    this.#checkbox = checkboxOf(item);
    if (item.name === 'li') this.#container(item, marks);
    else this.#block(item, marks);
    this.#checkbox = undefined;
  }

  #note(element: Element): void {
    const number = this.#scope.footnotes.notes.get(element);
    const inner = new BlockRenderer(this.#scope, this.#webpage);
    inner.blocks(element.children, []);
    const text = inner.writer.toString();
    if (text === '') return;
    this.writer.block('other', `[^${number}]: ${text.replaceAll('\n', '\n    ').replace(/^ +$/gm, '')}`);
  }

  #table(element: Element, marks: Marks): void {
    const table = renderTable(element, this.#scope, this.#webpage);
    if (table.kind === 'layout') {
      for (const cell of table.cells) this.#container(cell, marks);
      return;
    }
    if (table.caption) this.#container(table.caption, marks);
    this.writer.block('other', table.text);
  }

  #code(element: Element): void {
    const text = textOf(element.children)
      .replace(/^\r?\n/, '')
      .replaceAll('\r\n', '\n')
      .trimEnd();
    if (text.trim() === '') return;
    let longest = 2;
    for (const run of text.match(/^[ \t]*`{3,}/gm) ?? []) longest = Math.max(longest, run.trim().length);
    const fence = '`'.repeat(longest + 1);
    this.writer.block('other', `${fence}${languageOf(element)}\n${text}\n${fence}`);
  }

  /** Terms as bold paragraphs, descriptions as paragraphs: Markdown has no definition lists. */
  #definitions(element: Element, marks: Marks): void {
    const strong: Mark = { kind: 'strong' };
    for (const part of definitionParts(element)) {
      if (part.name === 'dt') this.#container(part, [...marks, strong]);
      else this.#block(part, marks);
    }
  }
}

/** Whether a node directly in a list has no text to write. It then does not start an item. */
function isBlank(node: ChildNode): boolean {
  if (isElement(node)) return node.name === 'br' || SILENT.has(node.name);
  return !isText(node) || node.data.trim() === '';
}

function isList(element: Element): boolean {
  return element.name === 'ul' || element.name === 'ol';
}

function holdsItem(element: Element): boolean {
  return element.children.some((child) => isElement(child) && child.name === 'li');
}

/** `dt` and `dd` of a definition list, also inside `div` groups (HTML Standard, 4.4.9). */
function definitionParts(list: Element): Element[] {
  return list.children
    .filter(isElement)
    .flatMap((child) => (child.name === 'div' ? child.children.filter(isElement) : [child]));
}

function previousElement(element: Element): Element | undefined {
  for (let node = element.prev; node !== null; node = node.prev) {
    if (isElement(node)) return node;
    if (isText(node) && node.data.trim() !== '') return undefined;
  }
  return undefined;
}

/** `[x]` or `[ ]` if a list item begins with a checkbox (GFM 5.3). */
function checkboxOf(item: Element): string | undefined {
  let found: string | undefined;
  walk(item.children, (node) => {
    if (found !== undefined) return false;
    if (isText(node) && node.data.trim() !== '') found = '';
    else if (isElement(node) && node.name === 'input' && node.attribs.type?.toLowerCase() === 'checkbox')
      found = node.attribs.checked === undefined ? '[ ]' : '[x]';
    return found === undefined;
  });
  return found === '' ? undefined : found;
}

const LANGUAGE_CLASS = /^(?:language|lang|highlight-source|highlight|sourceCode|brush:)[-:]?([\w+#.-]*)$/;

/** The language of a code block, as highlighters write it on the block, its `code` child or its parent. */
function languageOf(element: Element): string {
  const child = element.children.find((node): node is Element => isElement(node) && node.name === 'code');
  const around = isElement(element.parent) ? [element.parent] : [];
  for (const holder of [...(child ? [child] : []), element, ...around]) {
    const data = holder.attribs['data-lang'] ?? holder.attribs['data-language'];
    if (data && /^[\w+#.-]{1,30}$/.test(data)) return data.toLowerCase();
    const words = classWords(holder);
    for (const [index, word] of words.entries()) {
      const match = LANGUAGE_CLASS.exec(word);
      if (!match) continue;
      const name =
        match[1] === '' && (word === 'sourceCode' || word === 'brush:')
          ? (words[index + 1] ?? '').replace(';', '')
          : (match[1] ?? '');
      if (/^[\w+#.-]{1,30}$/.test(name)) return name;
    }
  }
  return '';
}
