// Lists the source that mode auto must use for each page of development files with text and scans, as decided by a person who read the page.

/**
 * `text`: the text layer has the visible text, also under a scan; OCR may add text of pictures. `pictures`: as `text`, but OCR must add the
 * text of pictures on the page. `ocr`: only OCR can read the page. `nothing`: the page is blank.
 */
export type PageSource = 'text' | 'pictures' | 'ocr' | 'nothing';

const SCAN: readonly PageSource[] = ['ocr'];
const TEXT: readonly PageSource[] = ['text'];

/** One letter for each page: `t` text, `p` pictures, `o` ocr; others: nothing. */
const pages = (letters: string): readonly PageSource[] =>
  [...letters].map(
    (letter) => (({ t: 'text', p: 'pictures', o: 'ocr' })[letter] as PageSource | undefined) ?? 'nothing',
  );

/** Sources of the pages by path below the folder of the corpora. */
export const AUTO_PAGES: Readonly<Record<string, readonly PageSource[]>> = {
  'ocr/dev/olm-buildingnotes.pdf': SCAN,
  'ocr/dev/olm-multi_column_miss.pdf': SCAN,
  'ocr/dev/olm-small_page_size.pdf': SCAN,
  'ocr/dev/syn-sans-025-medium.pdf': SCAN,
  'ocr/dev/syn-serif-042-heavy.pdf': SCAN,
  'ocr/dev/syn-table-128-medium.pdf': SCAN,
  'ocr/dev/syn-table-197-heavy.pdf': SCAN,
  'ocr/dev/syn-twocol-014-heavy.pdf': SCAN,
  'ocr/dev/tess-8071_093.3B.tif': SCAN,
  'ocr/dev/tess-8087_054.3B.tif': SCAN,
  'ocr/dev/tess-phototest-rotated-R.png': SCAN,
  // Handwriting: photographs without a text layer, and pages of a notebook with the text that its program recognized.
  'pdf/olmocr/dev/pdf/buildingnotes.pdf': SCAN,
  'pdf/olmocr/dev/pdf/lincoln_letter.pdf': SCAN,
  'pdf/olmocr/dev/pdf/mattsnotes.pdf': pages('ttt'),
  // A scan of a library with a correct text layer.
  'pdf/olmocr/dev/pdf/small_page_size.pdf': TEXT,
  'pdf/olmocr/dev/pdf/discoverworld_crazy_table4.pdf': TEXT,
  'pdf/olmocr/dev/pdf/math_2503_04086.pdf': TEXT,
  'pdf/olmocr/dev/pdf/mathfuncs.pdf': TEXT,
  'pdf/olmocr/dev/pdf/mathfuncs_colswitch.pdf': TEXT,
  'pdf/olmocr/dev/pdf/headers_footers/ff1fc6a205ad039139ce566851b6b260c929_pg1.pdf': TEXT,
  'pdf/olmocr/dev/pdf/headers_footers/ff3d6e051903fe5ca9bc172ece14964c5632_pg1.pdf': TEXT,
  // Text and charts that are pictures.
  'pdf/icdar2013/dev/pdf/eu-021.pdf': pages('pptppptpp'),
  'pdf/icdar2013/dev/pdf/eu-023.pdf': pages('pptp'),
  'pdf/icdar2013/dev/pdf/eu-024.pdf': pages('ppp'),
  'pdf/icdar2013/dev/pdf/us-010.pdf': pages('ttt'),
  // A book with screenshots. Its second last page is blank.
  'pdf/robust/dev/pdf/docling--redp5110_sampled.pdf': pages('tttttttttttttppt-t'),
};
