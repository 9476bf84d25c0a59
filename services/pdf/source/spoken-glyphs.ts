// Gathers the glyphs that together stand for a text of the file, and gives its words their room.
import { isRightToLeft } from './glyph-text.ts';
import type { Told } from './pdfium-tags.ts';
import type { PlacedGlyph, WordBuilder } from './word-builder.ts';

export class SpokenGlyphs {
  readonly #builder: WordBuilder;
  readonly #done = new Set<Told>();
  #open: { told: Told; glyph: PlacedGlyph } | undefined;
  /** A space that comes after them, if no more of them do: whether the engine only supposes it. */
  #space: boolean | undefined;

  constructor(builder: WordBuilder) {
    this.#builder = builder;
  }

  /** A glyph of those that stand for `told`; what it says is said once, where the first of them stands. */
  add(told: Told, glyph: PlacedGlyph): void {
    if (this.#open?.told !== told) {
      this.end();
      if (this.#done.has(told)) return;
      this.#done.add(told);
      this.#open = { told, glyph: { ...glyph } };
      return;
    }
    this.#space = undefined;
    const { glyph: all } = this.#open;
    if (Math.abs(all.baseline - glyph.baseline) >= all.style.size) return;
    all.x0 = Math.min(all.x0, glyph.x0);
    all.x1 = Math.max(all.x1, glyph.x1);
  }

  /** White space of the text layer. @returns whether it waits, since it may lie within what is said */
  space(guessed: boolean): boolean {
    if (!this.#open) return false;
    this.#space = guessed && this.#space !== false;
    return true;
  }

  /** Other glyphs follow, or none. */
  end(): void {
    if (!this.#open) return;
    const { told, glyph } = this.#open;
    const pace = (glyph.x1 - glyph.x0) / told.text.length;
    const backwards = isRightToLeft(told.text.codePointAt(0) ?? 0);
    let at = 0;
    for (const [n, text] of told.text.split(' ').entries()) {
      if (n > 0) this.#builder.space();
      const from = glyph.x0 + at * pace;
      const to = from + text.length * pace;
      const [x0, x1] = backwards ? [glyph.x0 + glyph.x1 - to, glyph.x0 + glyph.x1 - from] : [from, to];
      this.#builder.add({ ...glyph, text, code: text.codePointAt(0) ?? 0, x0, x1 });
      at += text.length + 1;
    }
    if (this.#space !== undefined) this.#builder.space(this.#space);
    this.#open = undefined;
    this.#space = undefined;
  }
}
