// Lists the HTML elements that do not end a line of text, and the attributes that contain URLs or no text.

/** A set of names from a space-separated list. */
const names = (list: string): ReadonlySet<string> => new Set(list.split(' '));

/** Elements that stay inside a line of text. The tag of any other element ends the line. */
export const INLINE_ELEMENTS = names(
  'a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark q s samp small span strike strong sub sup time tt u var wbr math svg',
);

/** Attributes that contain URLs. */
export const URL_ATTRIBUTES = names(
  'href src srcset action formaction cite poster data background longdesc xlink:href ping usemap data-src data-href data-url',
);

/** Attributes that contain neither words nor URLs. */
export const SILENT_ATTRIBUTES = names(
  'class style colspan rowspan width height type rel target role dir lang align valign scope start border',
);
