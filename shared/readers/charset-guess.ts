// Guesses an encoding: chardet finds multi-byte ones, and a score for plausible words finds single-byte ones in short texts.
import { analyse } from 'chardet';

/** Multi-byte encodings that are accepted if the confidence of chardet is at least MULTI_BYTE_CONFIDENCE (0 to 100). */
const MULTI_BYTE = new Set(['shift_jis', 'euc-jp', 'euc-kr', 'big5', 'gb18030', 'iso-2022-jp']);
const MULTI_BYTE_CONFIDENCE = 50;
/** Encodings that chardet recognizes well, mapped to the variant that the web uses. */
const TRUSTED: Record<string, string> = {
  'iso-8859-8': 'windows-1255',
  'windows-1255': 'windows-1255',
  'iso-8859-6': 'windows-1256',
  'windows-1256': 'windows-1256',
  'iso-8859-7': 'windows-1253',
  'windows-1253': 'windows-1253',
};
const TRUSTED_CONFIDENCE = 50;
/** Tried in this order. The earlier one wins if two have the same score. */
const SINGLE_BYTE = [
  'windows-1252',
  'windows-1250',
  'windows-1251',
  'koi8-r',
  'windows-1253',
  'windows-1255',
  'windows-1256',
  'iso-8859-2',
  'iso-8859-5',
] as const;
/** Number of bytes for which the plausibility is computed. */
const SCORED_BYTES = 8192;
const COMMON_CYRILLIC = 'оеаинтсрОЕАИНТСР';
/** Characters inside words of several languages. */
const INNER_PUNCTUATION = '’‘·­-–';

type Kind = 'latin' | 'other' | 'ascii' | 'none';

function kindOf(character: string | undefined): Kind {
  if (character === undefined) return 'none';
  if (/[A-Za-z]/.test(character)) return 'ascii';
  if (!/\p{L}/u.test(character)) return 'none';
  return /\p{Script=Latin}/u.test(character) ? 'latin' : 'other';
}

/**
 * A score for how much a decoded text looks like words: letters of one script next to each other, capitals only at the
 * start, no punctuation inside.
 */
function plausibility(text: string): number {
  let score = 0;
  for (let i = 0; i < text.length; i++) {
    const at = text.charAt(i);
    if (at <= '\x7f') continue;
    const kind = kindOf(at);
    const before = text.charAt(i - 1);
    const kindBefore = i > 0 ? kindOf(before) : 'none';
    const kindAfter = kindOf(text[i + 1]);
    if (kind === 'none') {
      if (at === '\uFFFD' || (at >= '\x80' && at <= '\x9f')) score -= 10;
      else if (kindBefore !== 'none' && kindAfter !== 'none' && !INNER_PUNCTUATION.includes(at)) score -= 2;
      continue;
    }
    if (kind === 'latin') {
      // Accented letters are usually next to plain letters. A run of accented letters is another script in the wrong encoding.
      score += kindBefore === 'latin' || kindBefore === 'other' ? -1 : 1;
    } else {
      const mixed = [kindBefore, kindAfter].some((beside) => beside === 'ascii' || beside === 'latin');
      score += mixed ? -2 : 1;
      if (COMMON_CYRILLIC.includes(at)) score += 0.5;
    }
    const after = text.charAt(i + 1);
    if (kindAfter === 'ascii' && after !== after.toLowerCase() && at !== at.toUpperCase()) score -= 2;
    const capital = at !== at.toLowerCase();
    if (capital && kindBefore !== 'none' && before === before.toLowerCase() && before !== before.toUpperCase())
      score -= 2;
  }
  return score;
}

/** The most plausible encoding of bytes that are not UTF-8. Never throws. */
export function guessCharset(sample: Uint8Array): string {
  const matches = analyse(sample);
  for (const { name, confidence } of matches) {
    const charset = name.toLowerCase();
    if (!MULTI_BYTE.has(charset) || confidence < MULTI_BYTE_CONFIDENCE) continue;
    // `stream`, because the sample may end inside a character.
    const text = new TextDecoder(charset).decode(sample, { stream: true });
    if (!text.includes('\uFFFD')) return charset;
  }
  const top = matches[0];
  const trusted = top && top.confidence >= TRUSTED_CONFIDENCE ? TRUSTED[top.name.toLowerCase()] : undefined;
  if (trusted !== undefined) return trusted;
  let best = 'windows-1252';
  let bestScore = Number.NEGATIVE_INFINITY;
  for (const charset of SINGLE_BYTE) {
    const score = plausibility(new TextDecoder(charset).decode(sample.subarray(0, SCORED_BYTES)));
    if (score > bestScore) {
      best = charset;
      bestScore = score;
    }
  }
  // Turkish differs from Western European in six letters only, so the statistics of chardet decide.
  if (best === 'windows-1252' && top && /8859-9|1254/.test(top.name) && top.confidence >= 30) return 'windows-1254';
  return best;
}
