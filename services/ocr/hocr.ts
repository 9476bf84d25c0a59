// Reads the hOCR that an installed tesseract writes, as it comes: lines, words, boxes, confidences and the size of the type.
import { Parser } from 'htmlparser2';
import type { PixelBox } from '#shared/contract/jobs.ts';
import type { ReadLine } from './engine.ts';

/** Properties of an element (hOCR 1.2, section 2.3): `bbox 1 2 3 4; x_wconf 96`. */
function properties(title: string): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const property of title.split(';')) {
    const [name, ...values] = property.trim().split(/\s+/);
    if (name) found.set(name, values.map(Number));
  }
  return found;
}

function boxOf(values: readonly number[] | undefined): PixelBox | undefined {
  return values?.length === 4 && values.every(Number.isFinite) ? (values as PixelBox) : undefined;
}

const LINE_CLASSES = new Set(['ocr_line', 'ocr_textfloat', 'ocr_header', 'ocr_caption']);

/** A stream of pages: tesseract writes one document for as many pages as it is given. */
export class HocrReader {
  readonly #parser: Parser;
  readonly #onPage: (lines: ReadLine[]) => void;
  #lines: ReadLine[] = [];
  #line: ReadLine | undefined;
  #block = -1;
  #word: { box: PixelBox; confidence: number; text: string; depth: number } | undefined;
  #depth = 0;
  #pageDepth = 0;

  /** @param onPage called at the end of each page. */
  constructor(onPage: (lines: ReadLine[]) => void) {
    this.#onPage = onPage;
    this.#parser = new Parser(
      {
        onopentag: (_name, attributes) => this.#open(attributes.class ?? '', attributes.title ?? ''),
        ontext: (text) => {
          if (this.#word) this.#word.text += text;
        },
        onclosetag: () => this.#close(),
      },
      { xmlMode: true, decodeEntities: true },
    );
  }

  write(chunk: string): void {
    this.#parser.write(chunk);
  }

  #open(kind: string, title: string): void {
    this.#depth += 1;
    if (kind === 'ocr_page') {
      this.#pageDepth = this.#depth;
      this.#lines = [];
      this.#block = -1;
    } else if (kind === 'ocr_carea') this.#block += 1;
    else if (LINE_CLASSES.has(kind)) {
      const facts = properties(title);
      const box = boxOf(facts.get('bbox'));
      const [size = 0] = facts.get('x_size') ?? [];
      const [descenders = 0] = facts.get('x_descenders') ?? [];
      this.#line = box && { box, height: size - descenders, block: Math.max(0, this.#block), words: [] };
    } else if (kind === 'ocrx_word') {
      const facts = properties(title);
      const box = boxOf(facts.get('bbox'));
      const [confidence = 0] = facts.get('x_wconf') ?? [];
      this.#word = box && { box, confidence: confidence / 100, text: '', depth: this.#depth };
    }
  }

  #close(): void {
    if (this.#word?.depth === this.#depth) {
      const { box, confidence } = this.#word;
      const text = this.#word.text.trim();
      this.#word = undefined;
      if (text !== '' && this.#line) {
        if (this.#line.words.length === 0) this.#lines.push(this.#line);
        this.#line.words.push({ text, box, confidence });
      }
    }
    if (this.#depth === this.#pageDepth) {
      this.#pageDepth = 0;
      this.#line = undefined;
      this.#onPage(this.#lines);
    }
    this.#depth -= 1;
  }
}
