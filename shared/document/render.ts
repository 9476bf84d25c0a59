// Renders the output of a converter into the requested fields, in the same way for every format.
import type { ChildNode, Element } from 'domhandler';
import type { RenderOptions } from '../contract/jobs.ts';
import type { FieldName, RecordFields } from '../contract/response.ts';
import { baseAddress, listImages, listLinks, normalizeAddresses } from './addresses.ts';
import { removeAds, removeCode } from './clean.ts';
import type { ConvertedDocument, RenderedRecord } from './document.ts';
import { isElement, outermost, removeElements, walk } from './dom.ts';
import { findFootnotes } from './footnotes.ts';
import { documentContent, webpageContent } from './main-content.ts';
import { toMarkdown } from './markdown.ts';
import { htmlMetadata } from './metadata.ts';
import { renderPaged } from './paged.ts';
import { PictureNames } from './pictures.ts';
import { checkSelectors, noMatchWarning, selectAll, selectorEngine } from './selectors.ts';
import { serialize } from './serialize.ts';
import { streamedRecord } from './streamed-record.ts';
import { type HtmlTree, parseHtml } from './tree.ts';

/** Fields that are made from the cleaned tree. */
const TREE_FIELDS: readonly FieldName[] = ['markdown', 'html', 'links', 'images'];
/** Fields that paged.ts and the enrich service fill. The compiler reports a new field of the contract that is neither rendered nor listed here. */
type FilledElsewhere = 'pages' | 'blocks' | 'summary' | 'json';

/**
 * Fills the fields in `options.fields` from a converted document.
 * @throws ParseError BAD_REQUEST for a selector that is not valid, DOCUMENT_TOO_COMPLEX above DOCUMENT_LIMITS
 */
export function renderRecord(document: ConvertedDocument, options: RenderOptions): RenderedRecord {
  checkSelectors(options.includeTags, 'includeTags');
  checkSelectors(options.excludeTags, 'excludeTags');
  if (document.pages !== undefined) return renderPaged(document, document.pages, options);
  if (document.streamed) {
    const fields = Buffer.concat([...streamedRecord(document.streamed, options)]).toString('utf8');
    return { fields: JSON.parse(fields) as RecordFields, metadata: document.metadata, warnings: document.warnings };
  }
  if (document.markdown !== undefined && options.includeTags.length === 0 && options.excludeTags.length === 0)
    return renderGiven(document, document.markdown, options);
  return renderTree(document, options);
}

/** Renders a document that has its Markdown already. Its HTML is clean, and is read only if a field needs it. */
function renderGiven(document: ConvertedDocument, markdown: string, options: RenderOptions): RenderedRecord {
  const fields: RecordFields = {};
  const pictures = options.embeddedImages ? new PictureNames(document.pictures) : undefined;
  const html = (text: string): string => pictures?.inText(text, 'src="', '"') ?? text;
  const named = pictures?.inText(markdown, '](', ')') ?? markdown;
  for (const field of options.fields) {
    if (field === 'markdown') fields.markdown = named;
    else if (field === 'html') fields.html = html(document.html);
    else if (field === 'rawHtml') fields.rawHtml = document.rawHtml ?? html(document.html);
    else if (field === 'images' && pictures) fields.images = pictures.named();
    else if (field === 'links' || field === 'images') {
      const { html } = document;
      const wanted = field === 'links' ? /<(?:a|area)\s/i : /<(?:img|video|image|input)\s/i;
      fields[field] = wanted.test(html)
        ? (field === 'links' ? listLinks : listImages)(parseHtml(html).body.children)
        : [];
    } else field satisfies FilledElsewhere;
  }
  return { fields, metadata: document.metadata, warnings: [...document.warnings, ...(pictures?.warnings() ?? [])] };
}

function renderTree(document: ConvertedDocument, options: RenderOptions): RenderedRecord {
  const fields: RecordFields = {};
  const warnings = [...document.warnings];
  if (options.fields.includes('rawHtml')) fields.rawHtml = document.rawHtml ?? document.html;
  const webpage = document.genre === 'webpage';
  const needsTree = options.fields.some((field) => TREE_FIELDS.includes(field));
  if (!needsTree && !webpage) return { fields, metadata: document.metadata, warnings };

  const tree = parseHtml(document.html, { xhtml: document.xhtml ?? false });
  const base = baseAddress(tree.head, tree.html);
  const metadata = webpage ? { ...htmlMetadata(tree, base), ...document.metadata } : document.metadata;
  if (!needsTree) return { fields, metadata, warnings };

  const scope = selectScope(tree, document, options, warnings);
  // Find footnotes before addresses become absolute, because references name their notes by a fragment.
  const footnotes = findFootnotes(scope);
  const pictures = options.embeddedImages ? new PictureNames(document.pictures, imageSources(scope)) : undefined;
  const place = pictures && ((image: Element) => pictures.place(image));
  removeElements(normalizeAddresses(scope, base, options.removeBase64Images, place));
  const apart = options.includeTags.length > 0 && scope !== tree.body.children;
  for (const field of options.fields) {
    if (field === 'markdown')
      fields.markdown = toMarkdown(scope, { webpage: webpage || document.layoutTables === true, footnotes, apart });
    else if (field === 'html')
      fields.html = apart ? scope.map((node) => serialize([node])).join('\n') : serialize(scope);
    else if (field === 'links') fields.links = listLinks(scope);
    else if (field === 'images') fields.images = pictures?.list(scope) ?? listImages(scope);
    else field satisfies FilledElsewhere | 'rawHtml';
  }
  if (pictures && fields.rawHtml !== undefined && fields.rawHtml !== null && document.rawHtml === undefined)
    fields.rawHtml = pictures.inText(fields.rawHtml, 'src="', '"', 'known');
  return { fields, metadata, warnings: [...warnings, ...(pictures?.warnings() ?? [])] };
}

/** The `src` of all images, which no picture may have as its file name. */
function imageSources(nodes: readonly ChildNode[]): Set<string> {
  const found = new Set<string>();
  walk(nodes, (node) => {
    if (isElement(node) && node.attribs.src !== undefined) found.add(node.attribs.src.trim());
    return true;
  });
  return found;
}

/** Cleans the tree and selects a part of it: includeTags, else the main content or the body, each without excludeTags. */
function selectScope(
  tree: HtmlTree,
  document: ConvertedDocument,
  options: RenderOptions,
  warnings: string[],
): ChildNode[] {
  removeCode(tree.body.children);
  const engine =
    options.includeTags.length + options.excludeTags.length > 0 ? selectorEngine(tree.document) : undefined;
  const included = engine ? selectAll(engine, options.includeTags) : [];
  const excluded = new Set(engine ? selectAll(engine, options.excludeTags) : []);
  const webpage = document.genre === 'webpage';
  if (options.blockAds && webpage) removeAds(tree.body.children, included);
  let scope: ChildNode[];
  if (options.includeTags.length > 0) {
    scope = outermost(included).flatMap((element): ChildNode[] =>
      element === tree.html || element === tree.body ? tree.body.children : element === tree.head ? [] : [element],
    );
    if (scope.length === 0) warnings.push(noMatchWarning(options.includeTags));
  } else if (options.onlyMainContent) {
    const footnotes = findFootnotes(tree.body.children);
    scope = webpage ? webpageContent(tree, footnotes) : documentContent(tree, footnotes);
  } else scope = tree.body.children;
  if (excluded.has(tree.html) || excluded.has(tree.body)) return [];
  removeElements(excluded);
  return scope.filter((node) => !(isElement(node) && excluded.has(node)));
}
