// Generates random Word files from a seed, to compare two readers on unusual combinations of elements.
import { escapeXml, HEAD, packageOf, relations } from '#test/harness/documents/ooxml.ts';

const WORD = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
const PART = 'application/vnd.openxmlformats-officedocument.wordprocessingml';
const VOCABULARY =
  'harbour keeper heron storm boat lamp rope tide gull crate lemon wool ledger anchor buoy fog pier net oar cove naïve Ærø 北京 3.14 e-mail A&B x<y *star* _low_ #5 1. - [x] `tick`'.split(
    ' ',
  );

/** A linear congruential generator of integers below `limit` (Numerical Recipes, 7.1). */
function createRandom(seed: number): (limit: number) => number {
  let state = (seed * 2_654_435_761 + 12_345) >>> 0;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

const RUN_FORMATS = ['<w:b/>', '<w:i/>', '<w:strike/>', '<w:vertAlign w:val="superscript"/>', '<w:b w:val="0"/>', ''];

class Writer {
  readonly #random: (limit: number) => number;
  /** Number of the next text. It makes each text unique. */
  #count = 0;

  constructor(seed: number) {
    this.#random = createRandom(seed);
  }

  #text(words: number): string {
    const picked = Array.from({ length: words }, () => VOCABULARY[this.#random(VOCABULARY.length)] ?? '');
    return `w${this.#count++} ${picked.join(' ')}`;
  }

  /** Runs of one paragraph. A word may be split between two runs, as in files that Word writes. */
  #runs(words: number): string {
    const text = this.#text(words);
    const cut = this.#random(text.length);
    return [text.slice(0, cut), text.slice(cut)]
      .filter((piece) => piece !== '')
      .map((piece) => {
        const format = this.#random(3) === 0 ? `<w:rPr>${RUN_FORMATS[this.#random(RUN_FORMATS.length)]}</w:rPr>` : '';
        return `<w:r>${format}<w:t xml:space="preserve">${escapeXml(piece)}</w:t></w:r>`;
      })
      .join('');
  }

  #paragraph(properties = '', words = 2 + this.#random(9)): string {
    return `<w:p>${properties === '' ? '' : `<w:pPr>${properties}</w:pPr>`}${this.#runs(words)}</w:p>`;
  }

  #list(): string {
    const list = 1 + this.#random(2);
    let level = 0;
    return Array.from({ length: 2 + this.#random(5) }, (_, index) => {
      level = index === 0 ? 0 : Math.min(this.#random(level + 2), 2);
      return this.#paragraph(`<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="${list}"/></w:numPr>`);
    }).join('');
  }

  #table(): string {
    const columns = 2 + this.#random(3);
    const cell = (properties = '') => `<w:tc>${properties}${this.#paragraph('', 1 + this.#random(3))}</w:tc>`;
    const rows = Array.from({ length: 1 + this.#random(4) }, () => {
      const merged = columns > 2 && this.#random(4) === 0;
      const cells = Array.from({ length: merged ? columns - 2 : columns }, () => cell()).join('');
      return `<w:tr>${merged ? cell('<w:tcPr><w:gridSpan w:val="2"/></w:tcPr>') : ''}${cells}</w:tr>`;
    });
    return `<w:tbl>${rows.join('')}</w:tbl>`;
  }

  #trackedChanges(): string {
    const run = (tag: string) => `<w:r><w:${tag} xml:space="preserve"> ${escapeXml(this.#text(2))} </w:${tag}></w:r>`;
    return `<w:p>${run('t')}<w:ins w:id="1" w:author="A">${run('t')}</w:ins><w:del w:id="2" w:author="A">${run('delText')}</w:del><w:sdt><w:sdtContent>${run('t')}</w:sdtContent></w:sdt><w:smartTag>${run('t')}</w:smartTag></w:p>`;
  }

  block(): string {
    switch (this.#random(7)) {
      case 0:
        return this.#paragraph(`<w:pStyle w:val="Heading${1 + this.#random(6)}"/>`);
      case 1:
        return this.#list() + this.#paragraph();
      case 2:
        return this.#table() + this.#paragraph();
      case 3:
        return this.#paragraph('<w:pStyle w:val="Quote"/>') + this.#paragraph();
      case 4:
        return this.#trackedChanges();
      default:
        return this.#paragraph();
    }
  }
}

const levels = (format: string, text: (level: number) => string) =>
  [0, 1, 2]
    .map(
      (level) =>
        `<w:lvl w:ilvl="${level}"><w:start w:val="1"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${text(level)}"/></w:lvl>`,
    )
    .join('');
const NUMBERING = `${HEAD}<w:numbering xmlns:w="${WORD}"><w:abstractNum w:abstractNumId="0">${levels('decimal', (level) => `%${level + 1}.`)}</w:abstractNum><w:abstractNum w:abstractNumId="1">${levels('bullet', () => 'o')}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num></w:numbering>`;
const STYLES = `${HEAD}<w:styles xmlns:w="${WORD}">${[
  'Normal',
  'Quote',
  ...[1, 2, 3, 4, 5, 6].map((level) => `heading ${level}`),
]
  .map(
    (name) =>
      `<w:style w:type="paragraph" w:styleId="${name.replace('heading ', 'Heading')}"><w:name w:val="${name}"/>${name.startsWith('heading ') ? `<w:pPr><w:outlineLvl w:val="${Number(name.at(-1)) - 1}"/></w:pPr>` : ''}</w:style>`,
  )
  .join('')}</w:styles>`;

/** A .docx of twelve random blocks: headings, paragraphs, nested lists, tables with merged cells, quotes, tracked changes. */
export function randomDocx(seed: number): Buffer {
  const writer = new Writer(seed);
  const body = Array.from({ length: 12 }, () => writer.block()).join('');
  return packageOf(
    'word/document.xml',
    {
      'word/document.xml': `${PART}.document.main+xml`,
      'word/styles.xml': `${PART}.styles+xml`,
      'word/numbering.xml': `${PART}.numbering+xml`,
    },
    [
      {
        name: 'word/document.xml',
        content: `${HEAD}<w:document xmlns:w="${WORD}"><w:body>${body}<w:sectPr/></w:body></w:document>`,
      },
      { name: 'word/styles.xml', content: STYLES },
      { name: 'word/numbering.xml', content: NUMBERING },
      {
        name: 'word/_rels/document.xml.rels',
        content: relations([
          ['styles', 'styles.xml'],
          ['numbering', 'numbering.xml'],
        ]),
      },
    ],
  );
}
