// Removes everything that is not content from a tree: code, styles, event handlers, advertisements and cookie banners.
import type { ChildNode, Element } from 'domhandler';
import { addWithAncestors, isElement, removeElements, textOf, walk } from './dom.ts';

/** Elements that the cleaned HTML never has (docs/api.md, "Record"), and elements that serve only scripts. */
const REMOVED = new Set(['script', 'style', 'noscript', 'meta', 'head', 'template', 'link', 'base', 'title']);
/** Elements that are never removed as advertisements, because they may contain the entire page. */
const NEVER_ADS = new Set([
  'html',
  'body',
  'main',
  'article',
  'table',
  'tbody',
  'tr',
  'td',
  'th',
  'pre',
  'code',
  'h1',
  'h2',
]);

/** Class words and ids of advertisement slots: names of ad networks, and plain words. */
const AD_WORD =
  /^(?:ads?|adverts?|advertisements?|advertising|adsense|adsbygoogle|adslot|adunit|adbox|adbanner|adcontainer|adwrapper|google[-_]?ads?|dfp|gpt[-_]?ad|taboola|outbrain|ob[-_]widget|mgid|zergnet|revcontent|sponsored[-_]?(?:content|post|link|ad)s?|(?:ads?|advert|advertisement|google_ads?|div-gpt-ad|dfp|taboola|outbrain|criteo)[-_][\w-]*|[\w-]*[-_](?:ads?|advert|advertisement|adslot|ad-slot|ad-unit|ad-container))$/i;
const COOKIE_WORD =
  /^(?:(?:eu|gdpr|js|site|the|ccpa)?[-_]?cookies?[-_]?(?:banner|bar|consent|notice|notification|popup|pop-up|modal|dialog|overlay|law|policy-banner|alert|message|msg|disclaimer|warning|prompt|wall|wrapper|container|info|compliance|settings|preferences|manager)[\w-]*|cookie(?:banner|bar|consent|notice|law|popup|disclaimer)[\w-]*|(?:gdpr|ccpa|consent)[-_]?(?:banner|bar|consent|notice|popup|modal|dialog|overlay|wall|manager|container|wrapper)[\w-]*|cc[-_]window|cc-banner|onetrust[\w-]*|optanon[\w-]*|ot-sdk[\w-]*|cybotcookiebot[\w-]*|cookiebot[\w-]*|didomi[\w-]*|qc-cmp2?[\w-]*|truste[-_][\w-]*|trustarc[\w-]*|osano-cm[\w-]*|usercentrics[\w-]*|uc-banner[\w-]*|sp_message[\w-]*|fc-consent[\w-]*|cmplz[\w-]*|cky-[\w-]*|iubenda-cs[\w-]*|klaro|cmpbox[\w-]*|evidon[\w-]*|borlabs-?cookie[\w-]*|moove_gdpr[\w-]*|termly[\w-]*)$/i;
const AD_HOST =
  /(?:doubleclick\.net|googlesyndication\.com|adservice\.google\.|amazon-adsystem\.com|taboola\.com|outbrain\.com|criteo\.(?:com|net)|adnxs\.com|\/ads?\/)/i;

/** Removes scripts, styles, the other elements of REMOVED, and attributes that run code, in place. */
export function removeCode(roots: readonly ChildNode[]): void {
  const removed: Element[] = [];
  walk(roots, (node) => {
    if (!isElement(node)) return true;
    if (node.name === 'script' && keepFormula(node)) return false;
    if (REMOVED.has(node.name)) {
      removed.push(node);
      return false;
    }
    for (const name in node.attribs) if (name.startsWith('on') || name === 'srcdoc') delete node.attribs[name];
    return true;
  });
  removeElements(removed);
}

/** Turns `<script type="math/tex">`, in which MathJax keeps the LaTeX of the author, into a formula element. */
function keepFormula(script: Element): boolean {
  const type = script.attribs.type?.toLowerCase() ?? '';
  if (!type.startsWith('math/tex')) return false;
  const latex = script.children.map((child) => ('data' in child ? child.data : '')).join('');
  script.name = 'span';
  script.attribs = { 'data-latex': latex, ...(type.includes('mode=display') ? { 'data-display': 'block' } : {}) };
  script.children = [];
  return true;
}

/**
 * Removes advertisements and cookie pop-ups by well-known names, in place. Keeps an element that contains most of the text of
 * the page, and the selected elements with all elements around them.
 */
export function removeAds(roots: readonly ChildNode[], selected: readonly Element[] = []): void {
  const kept = new Set<Element>();
  for (const element of selected) addWithAncestors(kept, element);
  const found: Element[] = [];
  const verdicts = new Map<string, boolean>();
  walk(roots, (node) => {
    if (!isElement(node) || NEVER_ADS.has(node.name) || kept.has(node)) return true;
    if (!isAd(node, verdicts)) return true;
    found.push(node);
    return false;
  });
  if (found.length === 0) return;
  const total = textOf(roots).length;
  removeElements(
    found.filter((element) => element.name === 'iframe' || textOf([element]).length <= total / 2 || isOverlay(element)),
  );
}

function isAd(element: Element, verdicts: Map<string, boolean>): boolean {
  const { attribs } = element;
  if (
    element.name === 'amp-ad' ||
    element.name === 'amp-consent' ||
    (element.name === 'ins' && attribs['data-ad-client'] !== undefined)
  )
    return true;
  if (element.name === 'iframe' && AD_HOST.test(attribs.src ?? '')) return true;
  if (
    attribs['data-ad-slot'] !== undefined ||
    attribs['data-ad-unit'] !== undefined ||
    attribs['data-google-query-id'] !== undefined
  )
    return true;
  if (attribs.class === undefined && attribs.id === undefined)
    return /^advertisement$/i.test(attribs['aria-label'] ?? '');
  const key = `${attribs.class ?? ''} ${attribs.id ?? ''}`;
  const known = verdicts.get(key);
  if (known !== undefined) return known;
  const verdict = key.split(/\s+/).some((word) => word !== '' && (AD_WORD.test(word) || COOKIE_WORD.test(word)));
  if (verdicts.size < 10_000) verdicts.set(key, verdict);
  return verdict;
}

function isOverlay(element: Element): boolean {
  const role = element.attribs.role;
  return role === 'dialog' || role === 'alertdialog' || element.attribs['aria-modal'] === 'true';
}
