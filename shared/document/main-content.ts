// Finds the main content of a document: by element names, roles and class names first, then by the density of text and links.
import type { ChildNode, Element } from 'domhandler';
import { addWithAncestors, classWords, holds, isElement, isInside, isText, removeElements, walk } from './dom.ts';
import { BLOCK, HEADING, SILENT } from './elements.ts';
import type { Footnotes } from './footnotes.ts';
import type { HtmlTree } from './tree.ts';

const FURNITURE_ROLES = new Set([
  'navigation',
  'banner',
  'contentinfo',
  'complementary',
  'search',
  'dialog',
  'alertdialog',
  'menu',
  'menubar',
  'toolbar',
  'tablist',
  'tooltip',
]);
/** Class words and ids of page furniture (navigation, advertising, sharing) anywhere in the page. */
const FURNITURE_WORD =
  /^(?:(?:site|page|main|global|top|primary|secondary|left|right|mobile|desktop|sticky|sub|bottom|footer|header|sidebar|side|user|local)[-_]?)?(?:nav|navbar|navigation|nav[-_]?menu|navbox(?:es)?|menu|menubar|sidebar|side-?bar|aside|topbar|top-bar|toolbar)(?:[-_]?(?:wrapper|wrap|container|inner|outer|area|section|list|links|left|right|bottom|top|main|primary|secondary|mobile|desktop|box))*$|^(?:bread-?crumbs?|share|sharing|social|related|recommended|recommendations|read-?more-?articles|newsletter|subscribe|subscription|signup|comments?|disqus(?:_thread)?|respond|pagination|pager|promo|promotions?|popup|pop-up|modal|lightbox|overlay|widget|widgets|most-read|most-popular|trending|author-bio|tag-?list|post-?tags|entry-?meta-?footer)(?:[-_](?:wrapper|wrap|container|inner|area|section|list|links|items?|buttons?|bar|box|icons?|tools|media|posts?|articles?|stories|content|form|signup|block|nav|module|panel|widget|count|header|thread))*$|^(?:skip-?(?:link|nav|to-?(?:main|content|main-content))|skiplinks?|sr-only|visually-?hidden|visuallyhidden|screen-reader-(?:text|only)|back-?to-?top|no-?print|printfooter|catlinks|mw-editsection|mw-jump-link|mw-indicators|\w+-dropdown|dropdown-(?:menu|content)|mw-portlet[\w-]*|mw-redirectedfrom|language-(?:selector|switcher|list)|lang-(?:selector|switcher)|interlanguage-link|site-?(?:sub|notice|header|footer)|masthead|colophon|page-?footer|footer|global-?(?:header|footer))$/i;
/** Class words of furniture on inline elements. The other words of FURNITURE_WORD often mean a part of the text there. */
const INLINE_WORD =
  /^(?:skip-?(?:link|nav|to-?(?:main|content|main-content))|sr-only|visually-?hidden|screen-reader-(?:text|only)|back-?to-?top|mw-editsection|mw-jump-link|inline-template|share|social|share-?(?:link|button)s?|social-?(?:link|button|icon)s?)$/i;
/** Class words of furniture outside the main content. Inside the main content, they mean the header of an article. */
const OUTER_WORD =
  /^(?:header|page-?header|top-?header|header-?(?:wrapper|container|inner|top|main)|banner|logo|branding)$/i;
const HIDDEN_STYLE = /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/i;

/** `main` elements, or a single `article`, are the main content if they have this share of the text without furniture. */
const MAIN_SHARE = 0.25;
const ARTICLE_SHARE = 0.5;
/** A link list has at least this share of its text in links, at least so many links, and at most this average length of a link. */
const LINK_LIST = { density: 0.8, links: 4, averageLength: 30 };
/**
 * If less text is left, the furniture rules were wrong for the page. `characters` and `share` apply to every page,
 * `unmarkedShare` to pages without an element that is marked as the main content. Pages with less text than `unmarkedPage`
 * are not checked.
 */
const SUSPICIOUSLY_LITTLE = { characters: 250, share: 0.05, unmarkedShare: 0.15, unmarkedPage: 600 };

interface Measure {
  /** Characters without white space: all, and those in links. */
  text: number;
  linked: number;
  links: number;
}

/** Removes header, nav, footer and aside elements from the HTML of a converter. Notes, and headers with a heading, stay. */
export function documentContent(tree: HtmlTree, footnotes: Footnotes): ChildNode[] {
  const kept = noteHolders(footnotes);
  const removed: Element[] = [];
  walk(tree.body.children, (node) => {
    if (!isElement(node)) return true;
    const furniture =
      node.name === 'nav' ||
      node.name === 'footer' ||
      (node.name === 'header' && !holdsHeading(node)) ||
      (node.name === 'aside' && !classWords(node).includes('notes'));
    if (!furniture || kept.has(node)) return true;
    removed.push(node);
    return false;
  });
  removeElements(removed);
  return tree.body.children;
}

/** The main content of a web page, or the body if none is found. Never empty for a page that has text. */
export function webpageContent(tree: HtmlTree, footnotes: Footnotes): ChildNode[] {
  const { body } = tree;
  removeElements(hiddenElements(body));
  const kept = noteHolders(footnotes);
  const measures = measure(body);
  const total = measures.get(body)?.text ?? 0;
  if (total === 0) return body.children;

  const furniture = furnitureOf(body, measures, total, kept);
  const furnitureText = [...furniture].reduce((sum, element) => sum + (measures.get(element)?.text ?? 0), 0);
  const roots = chooseRoots(body, measures, furniture, total - furnitureText);
  const bodyAlone = roots.length === 1 && roots[0] === body;
  const remaining = roots.reduce((sum, root) => sum + textWithout(root, measures, furniture), 0);
  const tooLittle =
    remaining === 0 ||
    (total >= SUSPICIOUSLY_LITTLE.unmarkedPage &&
      remaining < SUSPICIOUSLY_LITTLE.characters &&
      remaining < total * SUSPICIOUSLY_LITTLE.share);
  if (
    tooLittle ||
    (bodyAlone && total >= SUSPICIOUSLY_LITTLE.unmarkedPage && remaining < total * SUSPICIOUSLY_LITTLE.unmarkedShare)
  ) {
    const elementsOnly = new Set(
      [...furniture].filter((element) => /^(?:nav|header|footer|aside)$/.test(element.name)),
    );
    if (textWithout(body, measures, elementsOnly) === 0) return body.children;
    removeElements(elementsOnly);
    return body.children;
  }
  removeElements(furniture);
  return bodyAlone ? body.children : roots;
}

function hiddenElements(body: Element): Element[] {
  const hidden: Element[] = [];
  walk(body.children, (node) => {
    if (!isElement(node)) return true;
    // Keep hidden MathML, because the visible copy is often an image.
    if (node.name === 'math') return false;
    const isHidden =
      node.attribs.hidden !== undefined ||
      (node.attribs.style !== undefined && HIDDEN_STYLE.test(node.attribs.style.slice(0, 1000))) ||
      (node.name === 'dialog' && node.attribs.open === undefined);
    if (!isHidden || isRenderedFormula(node)) return true;
    hidden.push(node);
    return false;
  });
  return hidden;
}

/** Whether the element is the hidden copy of a formula by KaTeX or MediaWiki. */
function isRenderedFormula(element: Element): boolean {
  return /\bmwe-math|\bkatex/.test(
    `${element.attribs.class ?? ''} ${isElement(element.parent) ? (element.parent.attribs.class ?? '') : ''}`,
  );
}

function holdsHeading(element: Element): boolean {
  return holds(element, ({ name }) => HEADING.has(name));
}

/** Footnotes and all elements around them. These are kept, because footnotes are content anywhere in the page. */
function noteHolders(footnotes: Footnotes): Set<Element> {
  const holders = new Set<Element>();
  for (const note of footnotes.notes.keys()) addWithAncestors(holders, note);
  return holders;
}

/** Text, link text and links of every element, in one pass. */
function measure(body: Element): Map<Element, Measure> {
  const measures = new Map<Element, Measure>();
  const order: Element[] = [];
  walk([body], (node) => {
    if (isElement(node)) {
      if (SILENT.has(node.name)) return false;
      order.push(node);
      measures.set(node, { text: 0, linked: 0, links: 0 });
    } else if (isText(node) && isElement(node.parent)) {
      const own = measures.get(node.parent);
      if (own) own.text += node.data.replace(/\s+/g, '').length;
    }
    return true;
  });
  for (let index = order.length - 1; index >= 0; index--) {
    const element = order[index]!;
    const own = measures.get(element)!;
    if (element.name === 'a' && element.attribs.href !== undefined) {
      own.linked = own.text;
      own.links = 1;
    }
    const above = isElement(element.parent) ? measures.get(element.parent) : undefined;
    if (above === undefined) continue;
    above.text += own.text;
    above.linked += own.linked;
    above.links += own.links;
  }
  return measures;
}

/** The outermost furniture elements, without elements that contain half of the text, a main element or a note. */
function furnitureOf(body: Element, measures: Map<Element, Measure>, total: number, kept: Set<Element>): Set<Element> {
  const mains = new Set<Element>();
  const headings: Element[] = [];
  walk(body.children, (node) => {
    if (!isElement(node)) return true;
    if (node.name === 'main' || node.attribs.role === 'main') addWithAncestors(mains, node);
    if (node.name === 'h1') headings.push(node);
    return true;
  });
  const furniture = new Set<Element>();
  const verdicts = new Map<string, { always: boolean; outside: boolean }>();
  const onlyHeading = headings.length === 1 ? headings[0] : undefined;
  walk(body.children, (node) => {
    if (!isElement(node)) return true;
    if (kept.has(node) || mains.has(node)) return true;
    if (!isFurniture(node, verdicts, onlyHeading)) return true;
    const byName = node.name === 'nav' || node.name === 'footer' || node.name === 'aside' || node.name === 'header';
    if (!byName && total >= SUSPICIOUSLY_LITTLE.unmarkedPage && (measures.get(node)?.text ?? 0) > total / 2)
      return true;
    furniture.add(node);
    return false;
  });
  return furniture;
}

function isFurniture(
  element: Element,
  verdicts: Map<string, { always: boolean; outside: boolean }>,
  onlyHeading: Element | undefined,
): boolean {
  const { name, attribs } = element;
  if (name === 'nav' || name === 'aside') return !classWords(element).includes('notes');
  if (name === 'footer') return !isInside(element, (up) => up.name === 'blockquote' || up.name === 'figure');
  if (name === 'header') return !inArticle(element) && !(onlyHeading && holdsOnlyTitle(element, onlyHeading));
  if (name === 'button' || name === 'dialog') return true;
  if (attribs.role !== undefined && FURNITURE_ROLES.has(attribs.role.toLowerCase()))
    return attribs.role.toLowerCase() !== 'banner' || !inArticle(element);
  if (attribs.class === undefined && attribs.id === undefined) return false;
  if (
    name === 'table' ||
    name === 'tr' ||
    name === 'td' ||
    name === 'th' ||
    name === 'tbody' ||
    name === 'pre' ||
    name === 'code' ||
    name === 'article' ||
    HEADING.has(name)
  )
    return name === 'table' && /\bnavbox\b/i.test(attribs.class ?? '');
  const inline = !BLOCK.has(name);
  const key = `${attribs.class ?? ''} ${attribs.id ?? ''}`;
  if (inline) return key.split(' ').some((word) => INLINE_WORD.test(word));
  let verdict = verdicts.get(key);
  if (verdict === undefined) {
    const words = key.split(/\s+/).filter((word) => word !== '');
    verdict = {
      always: words.some((word) => FURNITURE_WORD.test(word)),
      outside: words.some((word) => OUTER_WORD.test(word)),
    };
    if (verdicts.size < 10_000) verdicts.set(key, verdict);
  }
  if (verdict.always) return true;
  return (
    verdict.outside &&
    !inArticle(element) &&
    !(onlyHeading !== undefined && isInside(onlyHeading, (up) => up === element))
  );
}

function inArticle(element: Element): boolean {
  return isInside(
    element,
    (up) => up.name === 'article' || up.name === 'main' || up.name === 'section' || up.attribs.role === 'main',
  );
}

/** Whether a header contains the title of the page and no link or control (for example, the title block of pandoc). */
function holdsOnlyTitle(header: Element, heading: Element): boolean {
  return isInside(heading, (up) => up === header) && !holds(header, ({ name }) => /^(?:a|nav|form|button)$/.test(name));
}

/** Characters of an element without the furniture inside it. */
function textWithout(root: Element, measures: Map<Element, Measure>, furniture: Set<Element>): number {
  let text = measures.get(root)?.text ?? 0;
  for (const element of furniture) {
    if (element === root) return 0;
    if (isInside(element, (up) => up === root)) text -= measures.get(element)?.text ?? 0;
  }
  return text;
}

/** The elements with the main content: `main`, a single `article`, or the body. Adds link lists to the furniture of a body. */
function chooseRoots(
  body: Element,
  measures: Map<Element, Measure>,
  furniture: Set<Element>,
  contentText: number,
): Element[] {
  const mains: Element[] = [];
  const articles: Element[] = [];
  let heading: Element | undefined;
  walk(body.children, (node) => {
    if (!isElement(node)) return true;
    if (furniture.has(node)) return false;
    if (node.name === 'h1') heading ??= node;
    if (node.name === 'main' || node.attribs.role === 'main') {
      mains.push(node);
      return false;
    }
    if (node.name === 'article' || node.attribs.itemprop === 'articleBody') {
      articles.push(node);
      walk(node.children, (inner) => {
        if (isElement(inner) && inner.name === 'h1') heading ??= inner;
        return heading === undefined;
      });
      return false;
    }
    return true;
  });
  const share = (elements: Element[]): number =>
    elements.reduce((sum, element) => sum + textWithout(element, measures, furniture), 0) / Math.max(contentText, 1);
  if (mains.length > 0 && share(mains) >= MAIN_SHARE) return mains;
  const [article] = articles;
  if (article && articles.length === 1 && share(articles) >= ARTICLE_SHARE) {
    if (heading === undefined || isInside(heading, (up) => up === article)) return [article];
    // The title is before the article: take the smallest element that contains both.
    for (let up = article.parent; isElement(up); up = up.parent)
      if (isInside(heading, (above) => above === up)) return [up];
  }
  for (const list of linkLists(body, measures, furniture, contentText)) furniture.add(list);
  return [body];
}

/** Blocks that consist of short links, if the page also has text. At most 40 % of the content in total. */
function linkLists(
  body: Element,
  measures: Map<Element, Measure>,
  furniture: Set<Element>,
  contentText: number,
): Element[] {
  const lists: Element[] = [];
  const plainText = (measures.get(body)?.text ?? 0) - (measures.get(body)?.linked ?? 0);
  if (plainText < 500) return lists;
  let removed = 0;
  walk(body.children, (node) => {
    if (!isElement(node)) return true;
    if (furniture.has(node)) return false;
    if (node.name !== 'ul' && node.name !== 'ol' && node.name !== 'div' && node.name !== 'section') return true;
    const own = measures.get(node);
    if (
      !own ||
      own.links < LINK_LIST.links ||
      own.linked < own.text * LINK_LIST.density ||
      own.linked / own.links > LINK_LIST.averageLength ||
      holdsHeading(node)
    )
      return true;
    if (removed + own.text > contentText * 0.4) return false;
    removed += own.text;
    lists.push(node);
    return false;
  });
  return lists;
}
