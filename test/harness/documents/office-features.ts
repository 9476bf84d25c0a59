// Generates office files with headers, footnotes, tracked changes, comments, hidden sheets, hidden slides and speaker notes.
import { escapeXml, HEAD, packageOf, relations, TYPE } from './ooxml.ts';

const WORD = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
const WORD_PART = 'application/vnd.openxmlformats-officedocument.wordprocessingml';
const run = (text: string) => `<w:r><w:t xml:space="preserve">${escapeXml(text)}</w:t></w:r>`;

const MAIN_TYPES = {
  'word/document.xml': `${WORD_PART}.document.main+xml`,
  'xl/workbook.xml': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml',
  'ppt/presentation.xml': 'application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml',
} as const;

/** A package without its main part, although its content types list that part. */
export function packageWithoutMainPart(main: keyof typeof MAIN_TYPES): Buffer {
  return packageOf(main, { [main]: MAIN_TYPES[main] }, [
    { name: main.replace(/[^/]+$/, 'media/note.txt'), content: 'x' },
  ]);
}

/** A .docx with a header, a footer, a footnote, an insertion, a deletion and a comment. The text of each part names the part. */
export function reviewedDocx(): Buffer {
  const author = 'w:author="Ana" w:date="2024-05-01T00:00:00Z"';
  const body = [
    `<w:p>${run('Opening paragraph')}<w:r><w:footnoteReference w:id="2"/></w:r>${run(' goes on.')}</w:p>`,
    `<w:p>${run('Kept ')}<w:ins w:id="11" ${author}>${run('inserted')}</w:ins><w:del w:id="12" ${author}><w:r><w:delText>deleted</w:delText></w:r></w:del>${run(' words.')}</w:p>`,
    `<w:p><w:commentRangeStart w:id="5"/>${run('Commented sentence.')}<w:commentRangeEnd w:id="5"/><w:r><w:commentReference w:id="5"/></w:r></w:p>`,
    '<w:sectPr><w:headerReference w:type="default" r:id="rId1"/><w:footerReference w:type="default" r:id="rId2"/></w:sectPr>',
  ];
  const part = (tag: string, inner: string) =>
    `${HEAD}<w:${tag} xmlns:w="${WORD}" xmlns:r="${TYPE}">${inner}</w:${tag}>`;
  return packageOf(
    'word/document.xml',
    {
      'word/document.xml': `${WORD_PART}.document.main+xml`,
      'word/header1.xml': `${WORD_PART}.header+xml`,
      'word/footer1.xml': `${WORD_PART}.footer+xml`,
      'word/footnotes.xml': `${WORD_PART}.footnotes+xml`,
      'word/comments.xml': `${WORD_PART}.comments+xml`,
    },
    [
      { name: 'word/document.xml', content: part('document', `<w:body>${body.join('')}</w:body>`) },
      {
        name: 'word/_rels/document.xml.rels',
        content: relations([
          ['header', 'header1.xml'],
          ['footer', 'footer1.xml'],
          ['footnotes', 'footnotes.xml'],
          ['comments', 'comments.xml'],
        ]),
      },
      { name: 'word/header1.xml', content: part('hdr', `<w:p>${run('Header words')}</w:p>`) },
      { name: 'word/footer1.xml', content: part('ftr', `<w:p>${run('Footer words')}</w:p>`) },
      {
        name: 'word/footnotes.xml',
        content: part(
          'footnotes',
          `<w:footnote w:type="separator" w:id="0"><w:p><w:r><w:separator/></w:r></w:p></w:footnote><w:footnote w:type="continuationSeparator" w:id="1"><w:p><w:r><w:continuationSeparator/></w:r></w:p></w:footnote><w:footnote w:id="2"><w:p><w:r><w:footnoteRef/></w:r>${run(' Footnote words.')}</w:p></w:footnote>`,
        ),
      },
      {
        name: 'word/comments.xml',
        content: part('comments', `<w:comment w:id="5" ${author}><w:p>${run('Comment words')}</w:p></w:comment>`),
      },
    ],
  );
}

/** An .xlsx with a visible, a hidden and a very hidden sheet. */
export function hiddenSheetXlsx(): Buffer {
  const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
  const sheets: readonly (readonly [name: string, state: string])[] = [
    ['Shown', ''],
    ['Tucked', ' state="hidden"'],
    ['Buried', ' state="veryHidden"'],
  ];
  return packageOf(
    'xl/workbook.xml',
    {
      'xl/workbook.xml': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml',
      ...Object.fromEntries(
        sheets.map((_, index) => [
          `xl/worksheets/sheet${index + 1}.xml`,
          'application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml',
        ]),
      ),
    },
    [
      {
        name: 'xl/workbook.xml',
        content: `${HEAD}<workbook xmlns="${main}" xmlns:r="${TYPE}"><sheets>${sheets.map(([name, state], index) => `<sheet name="${name}" sheetId="${index + 1}"${state} r:id="rId${index + 1}"/>`).join('')}</sheets></workbook>`,
      },
      {
        name: 'xl/_rels/workbook.xml.rels',
        content: relations(sheets.map((_, index) => ['worksheet', `worksheets/sheet${index + 1}.xml`])),
      },
      ...sheets.map(([name], index) => ({
        name: `xl/worksheets/sheet${index + 1}.xml`,
        content: `${HEAD}<worksheet xmlns="${main}"><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>${name} cell</t></is></c><c r="B1"><v>7</v></c></row></sheetData></worksheet>`,
      })),
    ],
  );
}

const DRAW = 'http://schemas.openxmlformats.org/drawingml/2006/main';
const NAMES = `xmlns:a="${DRAW}" xmlns:r="${TYPE}" xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"`;
const SLIDE_PART = 'application/vnd.openxmlformats-officedocument.presentationml';

function shapes(items: readonly (readonly [kind: string, text: string])[]): string {
  const shape = ([kind, text]: readonly [string, string], index: number) =>
    `<p:sp><p:nvSpPr><p:cNvPr id="${index + 2}" name="${kind}"/><p:cNvSpPr/><p:nvPr><p:ph type="${kind}"${kind === 'body' ? ' idx="1"' : ''}/></p:nvPr></p:nvSpPr><p:spPr><a:xfrm><a:off x="600000" y="${300000 + index * 1700000}"/><a:ext cx="8000000" cy="1500000"/></a:xfrm></p:spPr><p:txBody><a:bodyPr/><a:p><a:r><a:t>${escapeXml(text)}</a:t></a:r></a:p></p:txBody></p:sp>`;
  return `<p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>${items.map(shape).join('')}</p:spTree></p:cSld>`;
}

/** A .pptx with three slides: the first has speaker notes, the second is hidden. */
export function notedPptx(): Buffer {
  const slides: readonly (readonly [title: string, show: string])[] = [
    ['First slide', ''],
    ['Hidden slide', ' show="0"'],
    ['Last slide', ''],
  ];
  return packageOf(
    'ppt/presentation.xml',
    {
      'ppt/presentation.xml': `${SLIDE_PART}.presentation.main+xml`,
      'ppt/notesSlides/notesSlide1.xml': `${SLIDE_PART}.notesSlide+xml`,
      ...Object.fromEntries(slides.map((_, index) => [`ppt/slides/slide${index + 1}.xml`, `${SLIDE_PART}.slide+xml`])),
    },
    [
      {
        name: 'ppt/presentation.xml',
        content: `${HEAD}<p:presentation ${NAMES}><p:sldIdLst>${slides.map((_, index) => `<p:sldId id="${256 + index}" r:id="rId${index + 1}"/>`).join('')}</p:sldIdLst><p:sldSz cx="9144000" cy="6858000"/><p:notesSz cx="6858000" cy="9144000"/></p:presentation>`,
      },
      {
        name: 'ppt/_rels/presentation.xml.rels',
        content: relations(slides.map((_, index) => ['slide', `slides/slide${index + 1}.xml`])),
      },
      ...slides.map(([title, show], index) => ({
        name: `ppt/slides/slide${index + 1}.xml`,
        content: `${HEAD}<p:sld ${NAMES}${show}>${shapes([
          ['title', title],
          ['body', `${title} body.`],
        ])}</p:sld>`,
      })),
      {
        name: 'ppt/slides/_rels/slide1.xml.rels',
        content: relations([['notesSlide', '../notesSlides/notesSlide1.xml']]),
      },
      {
        name: 'ppt/notesSlides/notesSlide1.xml',
        content: `${HEAD}<p:notes ${NAMES}>${shapes([['body', 'Speaker notes words.']])}</p:notes>`,
      },
      { name: 'ppt/notesSlides/_rels/notesSlide1.xml.rels', content: relations([['slide', '../slides/slide1.xml']]) },
    ],
  );
}
