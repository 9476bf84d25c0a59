// The table of file formats: extension, MIME types, container and the queue of the service that converts the format.
import type { ConverterQueue } from './services.ts';

/**
 * The kind of file that a format is stored in. `zip`, `ole` (compound file binary), `rtf`, `pdf` and `image` start with magic bytes; `markup`
 * and `text` are detected by their content.
 */
export type Container = 'pdf' | 'zip' | 'ole' | 'rtf' | 'image' | 'markup' | 'text';

export interface FormatRow {
  /** Lower case, with the dot. */
  extension: `.${string}`;
  /** Responses contain the first one in `metadata.contentType`. All are accepted as the content type of the uploaded part. */
  mimeTypes: readonly [string, ...string[]];
  container: Container;
  /** Where a file of this format is converted: `libreoffice` if LibreOffice must convert it first. */
  queue: ConverterQueue;
  /** `image`: a picture without text of its own, so that OCR reads it. */
  kind: 'document' | 'image';
  /** Name of the format in error messages and in `/v2/parse/formats`. */
  label: string;
}

export const FORMATS = [
  {
    extension: '.html',
    mimeTypes: ['text/html'],
    container: 'markup',
    queue: 'html',
    kind: 'document',
    label: 'HTML',
  },
  {
    extension: '.htm',
    mimeTypes: ['text/html'],
    container: 'markup',
    queue: 'html',
    kind: 'document',
    label: 'HTML',
  },
  {
    extension: '.xhtml',
    mimeTypes: ['application/xhtml+xml'],
    container: 'markup',
    queue: 'html',
    kind: 'document',
    label: 'XHTML',
  },
  {
    extension: '.pdf',
    mimeTypes: ['application/pdf', 'application/x-pdf'],
    container: 'pdf',
    queue: 'pdf',
    kind: 'document',
    label: 'PDF',
  },
  {
    extension: '.docx',
    mimeTypes: ['application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
    container: 'zip',
    queue: 'office',
    kind: 'document',
    label: 'Word',
  },
  {
    extension: '.doc',
    mimeTypes: ['application/msword'],
    container: 'ole',
    queue: 'libreoffice',
    kind: 'document',
    label: 'Word 97-2003',
  },
  {
    extension: '.docm',
    mimeTypes: ['application/vnd.ms-word.document.macroEnabled.12', 'application/vnd.ms-word.document.macroenabled.12'],
    container: 'zip',
    queue: 'office',
    kind: 'document',
    label: 'Word with macros',
  },
  {
    extension: '.odt',
    mimeTypes: ['application/vnd.oasis.opendocument.text'],
    container: 'zip',
    queue: 'office',
    kind: 'document',
    label: 'OpenDocument text',
  },
  {
    extension: '.ods',
    mimeTypes: ['application/vnd.oasis.opendocument.spreadsheet'],
    container: 'zip',
    queue: 'office',
    kind: 'document',
    label: 'OpenDocument spreadsheet',
  },
  {
    extension: '.odp',
    mimeTypes: ['application/vnd.oasis.opendocument.presentation'],
    container: 'zip',
    queue: 'office',
    kind: 'document',
    label: 'OpenDocument presentation',
  },
  {
    extension: '.rtf',
    mimeTypes: ['application/rtf', 'text/rtf'],
    container: 'rtf',
    queue: 'libreoffice',
    kind: 'document',
    label: 'Rich Text',
  },
  {
    extension: '.xlsx',
    mimeTypes: ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
    container: 'zip',
    queue: 'office',
    kind: 'document',
    label: 'Excel',
  },
  {
    extension: '.xls',
    mimeTypes: ['application/vnd.ms-excel'],
    container: 'ole',
    queue: 'libreoffice',
    kind: 'document',
    label: 'Excel 97-2003',
  },
  {
    extension: '.xlsm',
    mimeTypes: ['application/vnd.ms-excel.sheet.macroEnabled.12', 'application/vnd.ms-excel.sheet.macroenabled.12'],
    container: 'zip',
    queue: 'office',
    kind: 'document',
    label: 'Excel with macros',
  },
  {
    extension: '.xlsb',
    mimeTypes: [
      'application/vnd.ms-excel.sheet.binary.macroEnabled.12',
      'application/vnd.ms-excel.sheet.binary.macroenabled.12',
    ],
    container: 'zip',
    queue: 'libreoffice',
    kind: 'document',
    label: 'Excel binary',
  },
  {
    extension: '.pptx',
    mimeTypes: ['application/vnd.openxmlformats-officedocument.presentationml.presentation'],
    container: 'zip',
    queue: 'office',
    kind: 'document',
    label: 'PowerPoint',
  },
  {
    extension: '.ppt',
    mimeTypes: ['application/vnd.ms-powerpoint'],
    container: 'ole',
    queue: 'libreoffice',
    kind: 'document',
    label: 'PowerPoint 97-2003',
  },
  {
    extension: '.pptm',
    mimeTypes: [
      'application/vnd.ms-powerpoint.presentation.macroEnabled.12',
      'application/vnd.ms-powerpoint.presentation.macroenabled.12',
    ],
    container: 'zip',
    queue: 'office',
    kind: 'document',
    label: 'PowerPoint with macros',
  },
  {
    extension: '.epub',
    mimeTypes: ['application/epub+zip'],
    container: 'zip',
    queue: 'html',
    kind: 'document',
    label: 'EPUB',
  },
  { extension: '.png', mimeTypes: ['image/png'], container: 'image', queue: 'pdf', kind: 'image', label: 'PNG' },
  {
    extension: '.jpg',
    mimeTypes: ['image/jpeg', 'image/jpg'],
    container: 'image',
    queue: 'pdf',
    kind: 'image',
    label: 'JPEG',
  },
  {
    extension: '.jpeg',
    mimeTypes: ['image/jpeg', 'image/jpg'],
    container: 'image',
    queue: 'pdf',
    kind: 'image',
    label: 'JPEG',
  },
  { extension: '.tiff', mimeTypes: ['image/tiff'], container: 'image', queue: 'pdf', kind: 'image', label: 'TIFF' },
  { extension: '.tif', mimeTypes: ['image/tiff'], container: 'image', queue: 'pdf', kind: 'image', label: 'TIFF' },
  { extension: '.webp', mimeTypes: ['image/webp'], container: 'image', queue: 'pdf', kind: 'image', label: 'WebP' },
  {
    extension: '.bmp',
    mimeTypes: ['image/bmp', 'image/x-ms-bmp', 'image/x-bmp'],
    container: 'image',
    queue: 'pdf',
    kind: 'image',
    label: 'BMP',
  },
  { extension: '.gif', mimeTypes: ['image/gif'], container: 'image', queue: 'pdf', kind: 'image', label: 'GIF' },
  {
    extension: '.csv',
    mimeTypes: ['text/csv', 'application/csv'],
    container: 'text',
    queue: 'csv',
    kind: 'document',
    label: 'CSV',
  },
  {
    extension: '.tsv',
    mimeTypes: ['text/tab-separated-values'],
    container: 'text',
    queue: 'csv',
    kind: 'document',
    label: 'TSV',
  },
  {
    extension: '.txt',
    mimeTypes: ['text/plain'],
    container: 'text',
    queue: 'html',
    kind: 'document',
    label: 'Plain text',
  },
  {
    extension: '.md',
    mimeTypes: ['text/markdown', 'text/x-markdown'],
    container: 'text',
    queue: 'html',
    kind: 'document',
    label: 'Markdown',
  },
  {
    extension: '.markdown',
    mimeTypes: ['text/markdown', 'text/x-markdown'],
    container: 'text',
    queue: 'html',
    kind: 'document',
    label: 'Markdown',
  },
  {
    extension: '.eml',
    mimeTypes: ['message/rfc822'],
    container: 'text',
    queue: 'html',
    kind: 'document',
    label: 'Mail message',
  },
  {
    extension: '.dotx',
    mimeTypes: ['application/vnd.openxmlformats-officedocument.wordprocessingml.template'],
    container: 'zip',
    queue: 'office',
    kind: 'document',
    label: 'Word template',
  },
  {
    extension: '.dotm',
    mimeTypes: ['application/vnd.ms-word.template.macroEnabled.12', 'application/vnd.ms-word.template.macroenabled.12'],
    container: 'zip',
    queue: 'office',
    kind: 'document',
    label: 'Word template with macros',
  },
  {
    extension: '.dot',
    mimeTypes: ['application/msword'],
    container: 'ole',
    queue: 'libreoffice',
    kind: 'document',
    label: 'Word 97-2003 template',
  },
  {
    extension: '.xltx',
    mimeTypes: ['application/vnd.openxmlformats-officedocument.spreadsheetml.template'],
    container: 'zip',
    queue: 'office',
    kind: 'document',
    label: 'Excel template',
  },
  {
    extension: '.xltm',
    mimeTypes: [
      'application/vnd.ms-excel.template.macroEnabled.12',
      'application/vnd.ms-excel.template.macroenabled.12',
    ],
    container: 'zip',
    queue: 'office',
    kind: 'document',
    label: 'Excel template with macros',
  },
  {
    extension: '.xlt',
    mimeTypes: ['application/vnd.ms-excel'],
    container: 'ole',
    queue: 'libreoffice',
    kind: 'document',
    label: 'Excel 97-2003 template',
  },
  {
    extension: '.potx',
    mimeTypes: ['application/vnd.openxmlformats-officedocument.presentationml.template'],
    container: 'zip',
    queue: 'office',
    kind: 'document',
    label: 'PowerPoint template',
  },
  {
    extension: '.potm',
    mimeTypes: [
      'application/vnd.ms-powerpoint.template.macroEnabled.12',
      'application/vnd.ms-powerpoint.template.macroenabled.12',
    ],
    container: 'zip',
    queue: 'office',
    kind: 'document',
    label: 'PowerPoint template with macros',
  },
  {
    extension: '.pot',
    mimeTypes: ['application/vnd.ms-powerpoint'],
    container: 'ole',
    queue: 'libreoffice',
    kind: 'document',
    label: 'PowerPoint 97-2003 template',
  },
  {
    extension: '.ppsx',
    mimeTypes: ['application/vnd.openxmlformats-officedocument.presentationml.slideshow'],
    container: 'zip',
    queue: 'office',
    kind: 'document',
    label: 'PowerPoint show',
  },
  {
    extension: '.ppsm',
    mimeTypes: [
      'application/vnd.ms-powerpoint.slideshow.macroEnabled.12',
      'application/vnd.ms-powerpoint.slideshow.macroenabled.12',
    ],
    container: 'zip',
    queue: 'office',
    kind: 'document',
    label: 'PowerPoint show with macros',
  },
  {
    extension: '.pps',
    mimeTypes: ['application/vnd.ms-powerpoint'],
    container: 'ole',
    queue: 'libreoffice',
    kind: 'document',
    label: 'PowerPoint 97-2003 show',
  },
  {
    extension: '.ott',
    mimeTypes: ['application/vnd.oasis.opendocument.text-template'],
    container: 'zip',
    queue: 'office',
    kind: 'document',
    label: 'OpenDocument text template',
  },
  {
    extension: '.ots',
    mimeTypes: ['application/vnd.oasis.opendocument.spreadsheet-template'],
    container: 'zip',
    queue: 'office',
    kind: 'document',
    label: 'OpenDocument spreadsheet template',
  },
  {
    extension: '.otp',
    mimeTypes: ['application/vnd.oasis.opendocument.presentation-template'],
    container: 'zip',
    queue: 'office',
    kind: 'document',
    label: 'OpenDocument presentation template',
  },
  {
    extension: '.fodt',
    mimeTypes: ['application/vnd.oasis.opendocument.text-flat-xml'],
    container: 'markup',
    queue: 'office',
    kind: 'document',
    label: 'Flat OpenDocument text',
  },
  {
    extension: '.fods',
    mimeTypes: ['application/vnd.oasis.opendocument.spreadsheet-flat-xml'],
    container: 'markup',
    queue: 'office',
    kind: 'document',
    label: 'Flat OpenDocument spreadsheet',
  },
  {
    extension: '.fodp',
    mimeTypes: ['application/vnd.oasis.opendocument.presentation-flat-xml'],
    container: 'markup',
    queue: 'office',
    kind: 'document',
    label: 'Flat OpenDocument presentation',
  },
  {
    extension: '.msg',
    mimeTypes: ['application/vnd.ms-outlook', 'application/x-msg'],
    container: 'ole',
    queue: 'html',
    kind: 'document',
    label: 'Outlook message',
  },
] as const satisfies readonly FormatRow[];

export type Extension = (typeof FORMATS)[number]['extension'];

export const EXTENSIONS: readonly Extension[] = FORMATS.map((row) => row.extension);

const BY_EXTENSION: ReadonlyMap<string, FormatRow> = new Map(FORMATS.map((row) => [row.extension, row]));

/** The row of an extension (with the dot, in any case), or undefined if the format is not supported. */
export function formatByExtension(extension: string): FormatRow | undefined {
  return BY_EXTENSION.get(extension.toLowerCase());
}

/** The first row with this MIME type (parameters and case are ignored), or undefined. */
export function formatByMimeType(contentType: string): FormatRow | undefined {
  const mime = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return FORMATS.find((row) => row.mimeTypes.some((known) => known.toLowerCase() === mime));
}
