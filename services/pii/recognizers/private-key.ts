// PEM private keys (RFC 7468), whole: from the BEGIN line to the END line, or to the end of the base64 where the END is lost.
import { ALL_MODES, type Recognizer, type Span } from '../recognizer.ts';

const BEGIN = /-{4,5} ?BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}/g;
const END = /-{4,5} ?END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}/;
/** Code units of a key that is searched for its END line: an RSA key of 16384 bits has 12,500. */
const LONGEST = 20_000;

export const privateKey: Recognizer = {
  entity: 'SECRET',
  name: 'private-key',
  modes: ALL_MODES,
  find(text) {
    const spans: Span[] = [];
    let covered = 0;
    for (const match of text.matchAll(BEGIN)) {
      if (match.index < covered) continue;
      const body = text.slice(match.index + match[0].length, match.index + match[0].length + LONGEST);
      const closing = END.exec(body);
      const length = closing
        ? closing.index + closing[0].length
        : (/^[\sA-Za-z0-9+/=:,-]*/.exec(body)?.[0].trimEnd().length ?? 0);
      covered = match.index + match[0].length + length;
      spans.push({ start: match.index, end: covered, entity: 'SECRET', score: 1 });
    }
    return spans;
  },
};
