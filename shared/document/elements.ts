// Sets of HTML element names that the cleaner, the main content search and the Markdown writer share.

/** A set of element names from a space-separated list. */
const names = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/));

/** Elements that start on a new line. */
export const BLOCK = names(
  'address article aside blockquote body caption center col colgroup dd details dialog dir div dl dt fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main menu nav noframes ol optgroup p plaintext pre search section summary table tbody td tfoot th thead tr ul xmp',
);

export const HEADING = names('h1 h2 h3 h4 h5 h6');

export const TABLE_SECTION = names('tbody thead tfoot');

/** Elements whose content is not text of the page: code, settings, form values, media. */
export const SILENT = names(
  'audio base canvas col colgroup datalist embed head iframe frame input link meta meter noembed noscript option optgroup param progress script select source style svg template textarea title track video area object applet',
);
