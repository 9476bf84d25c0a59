// Writes the fixtures that only other programs can write: legacy office files, a scan, an encrypted PDF and faxes. Run it by hand with soffice, pdftoppm and tiffcp installed.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Picture, printedPage, toSharp } from './documents/images.ts';
import { CONTENT, docx, imagePdf, pdf, pptx, xlsx } from './documents.ts';

const run = promisify(execFile);
const FIXTURES = fileURLToPath(new URL('../../fixtures', import.meta.url));
const folder = await mkdtemp(join(tmpdir(), 'parsemesh-fixtures-'));

async function convert(name: string, bytes: Uint8Array, target: string): Promise<Uint8Array> {
  const source = join(folder, name);
  await writeFile(source, bytes);
  const profile = `-env:UserInstallation=file://${join(folder, 'profile')}`;
  await run('soffice', [profile, '--headless', '--convert-to', target, '--outdir', join(folder, 'out'), source]);
  return readFile(join(folder, 'out', name.replace(/\.\w+$/, `.${target.split(':')[0]}`)));
}

/** Writes a bilevel page, and copies it with libtiff's own program. @param args of tiffcp */
async function fax(
  name: string,
  pages: readonly Picture[],
  dpi: [number, number],
  args: readonly string[],
): Promise<Uint8Array> {
  const sources: string[] = [];
  for (const [index, page] of pages.entries()) {
    const source = join(folder, `${index}-${name}`);
    const [xres, yres] = [dpi[0] / 25.4, dpi[1] / 25.4];
    const height = Math.round((page.height * dpi[1]) / dpi[0]);
    await toSharp(page)
      .resize({ width: page.width, height, fit: 'fill' })
      .threshold(160)
      .tiff({ compression: 'ccittfax4', bitdepth: 1, xres, yres })
      .toFile(source);
    sources.push(source);
  }
  const target = join(folder, name);
  await run('tiffcp', [...args, ...sources, target]);
  return readFile(target);
}

async function keep(format: string, name: string, bytes: Uint8Array): Promise<void> {
  await mkdir(join(FIXTURES, format), { recursive: true });
  await writeFile(join(FIXTURES, format, name), bytes);
}

try {
  await keep('doc', 'harbour-report.doc', await convert('harbour-report.docx', docx(CONTENT), 'doc'));
  await keep('xls', 'harbour-report.xls', await convert('harbour-report.xlsx', xlsx(CONTENT), 'xls'));
  const word = 'dot:MS Word 97 Vorlage';
  await keep('dot', 'harbour-report.dot', await convert('harbour-report.docx', docx(CONTENT), word));
  const excel = 'xlt:MS Excel 97 Vorlage/Template';
  await keep('xlt', 'harbour-report.xlt', await convert('harbour-report.xlsx', xlsx(CONTENT), excel));
  await keep('ppt', 'harbour-report.ppt', await convert('harbour-report.pptx', pptx(CONTENT), 'ppt'));

  const encryption = JSON.stringify({
    EncryptFile: { type: 'boolean', value: 'true' },
    DocumentOpenPassword: { type: 'string', value: 'heron' },
  });
  const encrypted = await convert('encrypted.docx', docx(CONTENT), `pdf:writer_pdf_Export:${encryption}`);
  await keep('pdf', 'encrypted-password-heron.pdf', encrypted);

  const text = await pdf([{ title: CONTENT.title, lines: CONTENT.paragraphs }]);
  await writeFile(join(folder, 'text.pdf'), text);
  await run('pdftoppm', ['-r', '200', '-mono', '-png', join(folder, 'text.pdf'), join(folder, 'page')]);
  const png = await readFile(join(folder, 'page-1.png'));
  await keep('pdf', 'scanned-page.png', png);
  await keep('pdf', 'scanned-harbour-report.pdf', await imagePdf([png]));

  const page = await printedPage(CONTENT);
  const one = 'group3-204-by-98-dpi.tif';
  await keep('tiff', one, await fax(one, [page], [204, 98], ['-c', 'g3:1d']));
  const three = 'three-pages-group3-2d-big-endian.tif';
  const titles = ['First watch', 'Second watch', 'Third watch'];
  const pages = await Promise.all(titles.map((title) => printedPage({ ...CONTENT, title, table: [] })));
  await keep('tiff', three, await fax(three, pages, [200, 200], ['-B', '-c', 'g3:2d']));
} finally {
  await rm(folder, { recursive: true, force: true });
}
