// The one place that says what each HTML element is, so that parser, cleaner and Markdown agree on it.

/** A set of element names from a space-separated list. */
const names = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/));

/** Elements that have no content and no end tag (HTML Standard, 13.1.2). */
export const VOID = names(
  'area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr',
);

/** Elements that stand on lines of their own. */
export const BLOCK = names(
  'address article aside blockquote body caption center col colgroup dd details dialog dir div dl dt fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main menu nav noframes ol optgroup p plaintext pre search section summary table tbody td tfoot th thead tr ul xmp',
);

/** Elements whose start closes an open paragraph (HTML Standard, 13.2.6.4.7). */
export const CLOSES_PARAGRAPH = names(
  'address article aside blockquote center details dialog dir div dl dd dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section summary table ul xmp',
);

/** Elements that stop the search for an open `li`, `dd` or `dt` (the "special" category, less address, div and p). */
export const LIST_BARRIER = names(
  'article aside blockquote body button caption center details dir dl fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup html iframe listing main marquee menu nav object ol pre section select summary table tbody td template tfoot th thead tr ul xmp',
);

/** Elements that an end tag or an implied end may not reach through. */
export const SCOPE_BARRIER = names('html body table caption td th button object marquee template svg math');

export const HEADING = names('h1 h2 h3 h4 h5 h6');

/** What may stand right under table, tbody and tr; anything else is moved in front of the table. */
export const TABLE_PART = names('caption colgroup col tbody thead tfoot tr td th script style template');

export const TABLE_SECTION = names('tbody thead tfoot');

/** Elements that belong to `<head>` while no body content was seen. */
export const HEAD_CONTENT = names('title meta link base basefont bgsound style script noscript template');

/** Elements that show nothing a text could say. */
export const SILENT = names(
  'audio base canvas col colgroup datalist embed head iframe frame input link meta meter noembed noscript option optgroup param progress script select source style svg template textarea title track video area object applet',
);
