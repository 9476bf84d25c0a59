// Makes the tokenizer of parse5 read runs of text at once, and tags with many attributes in linear time.
import { Token, Tokenizer } from 'parse5';

/** Up to this many attributes of one tag, the linear search of parse5 for duplicates is cheaper than a set. */
const SEARCHED_ATTRIBUTES = 16;

// parse5 must handle markup, `&`, NUL, CR and surrogates itself. White space is part of a run, except at its start: the
// tree construction treats leading white space differently from text.
const TEXT_RUN = /[^\u0000-\u0020&<\ud800-\udfff][^\u0000\r&<\ud800-\udfff]*/y;
const SPACE_RUN = /[\t\n\f ]+/y;
const VALUE_RUN = /[^\u0000\r"'&\ud800-\udfff]+/y;

/**
 * parse5 reads text one character at a time, which takes 1.6 times as much CPU for a page, and compares each attribute of a
 * tag with all attributes before it.
 */
export class FastTokenizer extends Tokenizer {
  #tag: Token.Token | null = null;
  #names = new Set<string>();

  protected override _stateData(codePoint: number): void {
    if (!this.#emitRun()) super._stateData(codePoint);
  }

  protected override _stateRcdata(codePoint: number): void {
    if (!this.#emitRun()) super._stateRcdata(codePoint);
  }

  protected override _stateRawtext(codePoint: number): void {
    if (!this.#emitRun()) super._stateRawtext(codePoint);
  }

  protected override _stateScriptData(codePoint: number): void {
    if (!this.#emitRun()) super._stateScriptData(codePoint);
  }

  protected override _stateAttributeValueDoubleQuoted(codePoint: number): void {
    const run = this.#take(VALUE_RUN);
    if (run === '') super._stateAttributeValueDoubleQuoted(codePoint);
    else this.currentAttr.value += run;
  }

  protected override _stateAttributeValueSingleQuoted(codePoint: number): void {
    const run = this.#take(VALUE_RUN);
    if (run === '') super._stateAttributeValueSingleQuoted(codePoint);
    else this.currentAttr.value += run;
  }

  protected override _leaveAttrName(): void {
    const tag = this.currentToken as Token.TagToken;
    if (tag.attrs.length < SEARCHED_ATTRIBUTES) {
      super._leaveAttrName();
      return;
    }
    if (this.#tag !== tag) {
      this.#tag = tag;
      this.#names = new Set(tag.attrs.map(({ name }) => name));
    }
    if (this.#names.has(this.currentAttr.name)) return;
    this.#names.add(this.currentAttr.name);
    tag.attrs.push(this.currentAttr);
  }

  /** Emits the text up to the next character that parse5 must handle. Returns false if this is the current character. */
  #emitRun(): boolean {
    const text = this.#take(TEXT_RUN);
    if (text !== '') {
      this._appendCharToCurrentCharacterToken(Token.TokenType.CHARACTER, text);
      return true;
    }
    const space = this.#take(SPACE_RUN);
    if (space !== '') this._appendCharToCurrentCharacterToken(Token.TokenType.WHITESPACE_CHARACTER, space);
    return space !== '';
  }

  /** Consumes and returns the characters that match at the current position. Returns an empty string if none match. */
  #take(pattern: RegExp): string {
    const { html: source, pos } = this.preprocessor;
    pattern.lastIndex = pos;
    if (!pattern.test(source)) return '';
    this.preprocessor.pos = pattern.lastIndex - 1;
    return source.slice(pos, pattern.lastIndex);
  }
}
