// Decompresses the RTF body of an Outlook message (MS-OXRTFCP), and reads the HTML or text that it encapsulates (MS-OXRTFEX).
import { ParseError } from '#shared/contract/errors.ts';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { decodeText } from '#shared/readers/charset.ts';

/** The dictionary at the start of the decompression (MS-OXRTFCP, 2.1.2.1). */
const DICTIONARY =
  '{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx';
const HEADER_BYTES = 16;
const COMPRESSED = 0x75465a4c;
const UNCOMPRESSED = 0x414c454d;
const WINDOW = 4096;
/** Nested groups of an RTF text. Deeper ones are read as part of the group around them. */
const GROUP_DEPTH = 1_000;

/** The RTF text, one character for each byte; empty if the bytes are not compressed RTF. @throws ParseError DOCUMENT_TOO_COMPLEX */
export function decompressRtf(bytes: Buffer): string {
  if (bytes.length < HEADER_BYTES) return '';
  const rawSize = bytes.readUInt32LE(4);
  const type = bytes.readUInt32LE(8);
  if (type === UNCOMPRESSED) return bytes.toString('latin1', HEADER_BYTES, HEADER_BYTES + rawSize);
  if (type !== COMPRESSED) return '';
  if (rawSize > DOCUMENT_LIMITS.mailRtfBytes)
    throw new ParseError(
      'DOCUMENT_TOO_COMPLEX',
      `The body of the message has more than ${DOCUMENT_LIMITS.mailRtfBytes} bytes`,
    );
  const output = Buffer.alloc(rawSize);
  const window = Buffer.alloc(WINDOW, ' ');
  window.write(DICTIONARY, 'latin1');
  let position = DICTIONARY.length;
  let length = 0;
  const put = (byte: number): void => {
    output[length++] = byte;
    window[position] = byte;
    position = (position + 1) % WINDOW;
  };
  for (let at = HEADER_BYTES; at < bytes.length && length < rawSize; ) {
    const control = bytes[at++] ?? 0;
    for (let bit = 0; bit < 8 && at < bytes.length && length < rawSize; bit++) {
      if ((control & (1 << bit)) === 0) {
        put(bytes[at++] ?? 0);
        continue;
      }
      const reference = ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
      at += 2;
      const offset = reference >> 4;
      if (offset === position) return output.toString('latin1', 0, length);
      for (let i = 0; i < (reference & 0xf) + 2 && length < rawSize; i++) put(window[(offset + i) % WINDOW] ?? 0);
    }
  }
  return output.toString('latin1', 0, length);
}

/** Characters of control words. */
const SYMBOLS: Readonly<Record<string, string>> = {
  par: '\r\n',
  line: '\r\n',
  tab: '\t',
  lquote: '‘',
  rquote: '’',
  ldblquote: '“',
  rdblquote: '”',
  bullet: '•',
  endash: '–',
  emdash: '—',
};
/** Destinations whose content is not text of the message. */
const SKIPPED = new Set([
  'fonttbl',
  'colortbl',
  'stylesheet',
  'info',
  'pict',
  'object',
  'header',
  'footer',
  'fldinst',
  'listtable',
]);
/** Charsets of `\\fcharset` (RTF 1.9.1, font table). */
const FONT_CHARSETS: Readonly<Record<string, string>> = {
  0: 'windows-1252',
  128: 'shift_jis',
  129: 'euc-kr',
  134: 'gb18030',
  136: 'big5',
  161: 'windows-1253',
  162: 'windows-1254',
  163: 'windows-1258',
  177: 'windows-1255',
  178: 'windows-1256',
  186: 'windows-1257',
  204: 'windows-1251',
  222: 'windows-874',
  238: 'windows-1250',
};
const TOKEN = /\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-f]{2})|\\([^a-z])|([{}])|([^\\{}\r\n]+)|[\r\n]+/gi;

interface Group {
  skipped: boolean;
  /** Inside `\\*\\htmltag`, whose text is markup. */
  tag: boolean;
  /** Inside `\\htmlrtf`, whose text is RTF only. */
  rtfOnly: boolean;
  font: string;
  /** Characters after `\\u` that older readers show instead. */
  unicodeSkip: number;
}

/** The content of an RTF body. `html`: the original HTML. `text`: the text of a body that was never HTML. */
export function readEncapsulated(rtf: string): { kind: 'html' | 'text'; text: string } {
  const html = /\\fromhtml1?\b/.test(rtf.slice(0, 4_096));
  return { kind: html ? 'html' : 'text', text: new RtfText(rtf, html).text() };
}

class RtfText {
  readonly #rtf: string;
  readonly #html: boolean;
  readonly #parts: string[] = [];
  readonly #fonts = new Map<string, string>();
  readonly #stack: Group[] = [];
  #group: Group = { skipped: false, tag: false, rtfOnly: false, font: '', unicodeSkip: 1 };
  #bytes: number[] = [];
  #codepage = 'windows-1252';
  #starred = false;
  #inFonts = false;
  #skipNext = 0;

  constructor(rtf: string, html: boolean) {
    this.#rtf = rtf;
    this.#html = html;
  }

  text(): string {
    for (const [token, word, parameter, hex, symbol, brace, text] of this.#rtf.matchAll(TOKEN)) {
      if (hex !== undefined) {
        this.#byte(Number.parseInt(hex, 16));
        continue;
      }
      if (word === undefined && text === undefined && symbol === undefined && brace === undefined) continue;
      if (text === undefined || /^[\x00-\x7f]*$/.test(text)) this.#flush();
      if (brace !== undefined) this.#brace(brace);
      else if (symbol !== undefined) this.#symbol(symbol);
      else if (word !== undefined) this.#word(word.toLowerCase(), parameter);
      else for (const character of text === undefined ? token : text) this.#character(character);
    }
    this.#flush();
    return this.#parts.join('');
  }

  #brace(brace: string): void {
    this.#starred = false;
    if (brace === '{') {
      if (this.#stack.length < GROUP_DEPTH) this.#stack.push({ ...this.#group });
      return;
    }
    this.#group = this.#stack.pop() ?? this.#group;
    this.#inFonts &&= this.#group.skipped;
  }

  #symbol(symbol: string): void {
    if (symbol === '*') this.#starred = true;
    else if (symbol === '~') this.#write(this.#html ? '&nbsp;' : '\u00a0');
    else if (symbol === '_') this.#write(this.#html ? '&shy;' : '\u00ad');
    else if (symbol === '\\' || symbol === '{' || symbol === '}') this.#write(symbol);
  }

  #word(word: string, parameter: string | undefined): void {
    const starred = this.#starred;
    this.#starred = false;
    if (word === 'htmltag') {
      this.#group.tag = true;
      this.#group.skipped = !this.#html;
    } else if (starred || SKIPPED.has(word)) {
      this.#group.skipped = true;
      this.#inFonts ||= word === 'fonttbl';
    } else if (word === 'htmlrtf') this.#group.rtfOnly = parameter !== '0';
    else if (word === 'ansicpg') this.#codepage = codepageCharset(Number(parameter));
    else if (word === 'f') this.#group.font = parameter ?? '';
    else if (word === 'fcharset') this.#fonts.set(this.#group.font, FONT_CHARSETS[parameter ?? ''] ?? this.#codepage);
    else if (word === 'uc') this.#group.unicodeSkip = Math.min(10, Math.max(0, Number(parameter)));
    else if (word === 'u') {
      const code = Number(parameter);
      if (Number.isInteger(code)) this.#write(String.fromCharCode(code & 0xffff));
      this.#skipNext = this.#group.unicodeSkip;
    } else {
      const symbol = Object.hasOwn(SYMBOLS, word) ? SYMBOLS[word] : undefined;
      if (symbol !== undefined) this.#write(symbol);
    }
  }

  #character(character: string): void {
    if (character > '\x7f') this.#byte(character.charCodeAt(0));
    else if (this.#skipNext > 0) this.#skipNext--;
    else this.#write(character);
  }

  #byte(byte: number): void {
    if (this.#skipNext > 0) this.#skipNext--;
    else if (this.#visible()) this.#bytes.push(byte);
  }

  /** Decodes the bytes that were collected, because a character may have several. */
  #flush(): void {
    if (this.#bytes.length === 0) return;
    const charset = this.#group.tag ? this.#codepage : (this.#fonts.get(this.#group.font) ?? this.#codepage);
    this.#parts.push(decodeText(Uint8Array.from(this.#bytes), { charset }).text);
    this.#bytes = [];
  }

  #write(text: string): void {
    if (this.#visible()) this.#parts.push(text);
  }

  #visible(): boolean {
    return !this.#group.skipped && (this.#group.tag || !this.#html || !this.#group.rtfOnly);
  }
}

/** The charset of a Windows code page. */
export function codepageCharset(codepage: number): string {
  const known: Readonly<Record<number, string>> = {
    65001: 'utf-8',
    1200: 'utf-16le',
    20127: 'us-ascii',
    932: 'shift_jis',
    936: 'gb18030',
    949: 'euc-kr',
    950: 'big5',
    50220: 'iso-2022-jp',
    51932: 'euc-jp',
    20866: 'koi8-r',
    21866: 'koi8-u',
    28591: 'iso-8859-1',
  };
  if (known[codepage] !== undefined) return known[codepage];
  if (codepage > 28591 && codepage <= 28605) return `iso-8859-${codepage - 28590}`;
  return codepage >= 1250 && codepage <= 1258
    ? `windows-${codepage}`
    : codepage > 0 && codepage < 2000
      ? `cp${codepage}`
      : 'windows-1252';
}
