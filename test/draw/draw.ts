// Runs `npm run draw`: draws the detected blocks over the pages of a PDF, so that a person can check the layout analysis.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Canvas, createCanvas, GlobalFonts, type SKRSContext2D } from '@napi-rs/canvas';
import { convertPdf } from '#services/pdf/convert.ts';
import { openPageSource } from '#services/pdf/source/open-page-source.ts';
import type { GreyImage } from '#services/pdf/source/page-model.ts';
import type { JobContext } from '#shared/contract/jobs.ts';
import { readParseOptions } from '#shared/contract/options.ts';
import type { PagedBlock, PagedPage } from '#shared/document/document.ts';

const HELP = `npm run draw -- FILE.pdf... [--out DIR (default draw)] [--pages 1,3-5] [--dpi 90] [--password WORD]
  Writes one PNG per page. It shows the box, the type and the reading order of each block, and a line from block to block.
  Only the text layer is read, so pages without one have no text blocks.`;

/** Colours by label and by type of a block. The label has priority. */
const COLOURS: Readonly<Record<string, string>> = {
  title: '#b00020',
  section_header: '#e65100',
  list: '#2e7d32',
  code: '#5d4037',
  text: '#1565c0',
  table: '#6a1b9a',
  figure: '#00838f',
  caption: '#9e9d24',
  footnote: '#ad1457',
  formula: '#4527a0',
};
/** Running headers, running footers and page numbers. */
const FURNITURE_COLOUR = '#757575';

const context: JobContext = {
  signal: new AbortController().signal,
  requestId: 'draw',
  deadline: Number.MAX_SAFE_INTEGER,
  volatile: false,
  call: () => Promise.reject(new Error('mode fast must not call another service')),
};

function drawPage({ width, height, pixels }: GreyImage): Canvas {
  const canvas = createCanvas(width, height);
  const drawing = canvas.getContext('2d');
  const image = drawing.createImageData(width, height);
  for (let at = 0; at < pixels.length; at++) {
    // Lightens the page, so that the boxes are easy to see.
    image.data.fill(128 + ((pixels[at] ?? 255) >> 1), at * 4, at * 4 + 3);
    image.data[at * 4 + 3] = 255;
  }
  drawing.putImageData(image, 0, 0);
  return canvas;
}

function drawBlocks(drawing: SKRSContext2D, page: PagedPage, width: number, height: number): void {
  let previousEnd: { x: number; y: number } | undefined;
  drawing.font = '11px label';
  drawing.textBaseline = 'top';
  page.blocks.forEach((block, index) => {
    if (!block.bbox) return;
    const [x0, y0, x1, y1] = [
      block.bbox[0] * width,
      block.bbox[1] * height,
      block.bbox[2] * width,
      block.bbox[3] * height,
    ];
    const colour = colourOf(block);
    drawing.strokeStyle = colour;
    drawing.fillStyle = colour;
    drawing.globalAlpha = 0.1;
    drawing.fillRect(x0, y0, x1 - x0, y1 - y0);
    drawing.globalAlpha = 1;
    drawing.lineWidth = 1.5;
    drawing.setLineDash(block.furniture ? [4, 3] : []);
    drawing.strokeRect(x0, y0, x1 - x0, y1 - y0);
    drawing.setLineDash([]);
    if (previousEnd && !block.furniture) drawConnector(drawing, previousEnd, { x: x0, y: y0 });
    if (!block.furniture) previousEnd = { x: x0, y: y1 };
    const label = `${index + 1} ${block.type}${block.label === null ? '' : ` ${block.label}`}${block.continues === undefined ? '' : ' +'}`;
    const labelWidth = drawing.measureText(label).width + 6;
    const left = Math.min(x0, width - labelWidth);
    const top = Math.max(0, y0 - 13);
    drawing.fillStyle = colour;
    drawing.fillRect(left, top, labelWidth, 13);
    drawing.fillStyle = '#ffffff';
    drawing.fillText(label, left + 3, top + 1);
  });
}

function colourOf(block: PagedBlock): string {
  if (block.furniture) return FURNITURE_COLOUR;
  return COLOURS[block.label ?? ''] ?? COLOURS[block.type] ?? '#000000';
}

/** Draws a line from the bottom of one block to the top of the next. */
function drawConnector(drawing: SKRSContext2D, from: { x: number; y: number }, to: { x: number; y: number }): void {
  drawing.globalAlpha = 0.6;
  drawing.lineWidth = 1;
  drawing.beginPath();
  drawing.moveTo(from.x, from.y);
  drawing.lineTo(to.x, to.y);
  drawing.stroke();
  drawing.beginPath();
  drawing.arc(to.x, to.y, 3, 0, Math.PI * 2);
  drawing.fill();
  drawing.globalAlpha = 1;
}

/** Parses a list of 1-based page numbers such as `1,3-5`. @throws Error for another text */
function parsePageNumbers(list: string): Set<number> {
  return new Set(
    list.split(',').flatMap((part) => {
      const [, first, last] = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(part.trim()) ?? [];
      if (first === undefined)
        throw new Error(`--pages must be a list of numbers and ranges such as 1,3-5, not ${part}`);
      const from = Number(first);
      return Array.from({ length: Math.max(1, Number(last ?? first) - from + 1) }, (_, index) => from + index);
    }),
  );
}

interface DrawSettings {
  out: string;
  dpi: number;
  pages: Set<number> | undefined;
  password: string | undefined;
}

async function drawFile(path: string, { out, dpi, pages, password }: DrawSettings): Promise<void> {
  const bytes = readFileSync(path);
  const options = readParseOptions({ parsers: [{ type: 'pdf', mode: 'fast', ...(password ? { password } : {}) }] });
  const document = await convertPdf(
    { bytes, fileName: basename(path), extension: '.pdf' },
    { ...options, fields: ['blocks'] },
    context,
  );
  const source = await openPageSource(bytes, password);
  try {
    for (const page of document.pages ?? []) {
      if (pages && !pages.has(page.pageNumber)) continue;
      const image = await source.renderGrey(page.pageNumber - 1, dpi);
      const canvas = drawPage(image);
      drawBlocks(canvas.getContext('2d'), page, image.width, image.height);
      const target = join(out, `${basename(path, '.pdf')}-${page.pageNumber}.png`);
      writeFileSync(target, canvas.toBuffer('image/png'));
      console.log(`${target}: ${page.blocks.length} blocks`);
    }
  } finally {
    await source.close();
  }
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      out: { type: 'string', default: 'draw' },
      pages: { type: 'string' },
      dpi: { type: 'string', default: '90' },
      password: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help || positionals.length === 0) {
    console.error(HELP);
    return values.help ? 0 : 2;
  }
  const pdfjs = dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));
  GlobalFonts.registerFromPath(join(pdfjs, 'standard_fonts/LiberationSans-Regular.ttf'), 'label');
  mkdirSync(values.out, { recursive: true });
  const settings = {
    out: values.out,
    dpi: Math.min(300, Math.max(20, Number(values.dpi) || 90)),
    pages: values.pages === undefined ? undefined : parsePageNumbers(values.pages),
    password: values.password,
  };
  for (const path of positionals) await drawFile(path, settings);
  return 0;
}

if (import.meta.main) process.exitCode = await main();
