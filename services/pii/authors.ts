// Finds the names of people in metadata such as author, creator and manager.
import type { DocumentMetadata } from '#shared/contract/jobs.ts';
import { isCommon, isFirstName, isLastName } from './recognizers/person-name.ts';

const AUTHOR_KEYS =
  /^(?:dc[._:]?)?(?:author|authors|creator|lastmodifiedby|last[-_ ]?author|manager|article:author|twitter:creator|contributor|ogarticleauthor|editor|byline|from|to|cc)$/i;

/** The people who are named as authors. Companies, departments and programs are left out. */
export function authorsOf(metadata: DocumentMetadata): string[] {
  return Object.entries(metadata).flatMap(([key, value]) => (AUTHOR_KEYS.test(key) ? namesIn(value) : []));
}

/** Names are separated by commas, semicolons, `&` or "and". */
function namesIn(value: DocumentMetadata[string]): string[] {
  const texts = (Array.isArray(value) ? value : [value]).filter((text) => typeof text === 'string');
  return (
    texts
      // In a mail: `Group: Name <address>`.
      .map((text) => text.replace(/<[^<>]*>/g, '').replace(/^[^:]*:/, ''))
      .flatMap((text) => text.split(/[;,&]|\band\b/))
      .map((name) => name.trim())
      .filter(isPersonName)
  );
}

function isPersonName(name: string): boolean {
  const words = name.split(/\s+/);
  if (!/^[\p{L}\p{M}'’. -]{2,100}$/u.test(name) || words.length > 5) return false;
  if (words.some((word) => isFirstName(word) || isLastName(word))) return true;
  return words.length > 1 && !words.some((word) => isCommon(word));
}
