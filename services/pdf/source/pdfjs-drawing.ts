// Reads lines, filled areas and image boxes out of pdf.js operator lists.
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { concatenate, type Matrix, mapBox } from './geometry.ts';
import { MarkCollector } from './marks.ts';
import type { PageContent } from './page-model.ts';
import { RulingCollector } from './rulings.ts';

interface OperatorList {
  fnArray: number[];
  argsArray: unknown[];
}

type OpCodes = Record<
  | 'save'
  | 'restore'
  | 'transform'
  | 'setLineWidth'
  | 'setFillRGBColor'
  | 'setStrokeRGBColor'
  | 'constructPath'
  | 'stroke'
  | 'closeStroke'
  | 'fill'
  | 'eoFill'
  | 'fillStroke'
  | 'eoFillStroke'
  | 'closeFillStroke'
  | 'closeEOFillStroke'
  | 'paintImageXObject'
  | 'paintInlineImageXObject'
  | 'paintImageMaskXObject'
  | 'paintFormXObjectBegin'
  | 'paintFormXObjectEnd'
  | 'beginMarkedContent'
  | 'beginMarkedContentProps'
  | 'endMarkedContent',
  number
>;

/** Numbers that follow each path operator of pdf.js: move, line, cubic, quadratic, close. */
const OPERANDS = [2, 2, 6, 4, 0];
const MAX_DEPTH = 512;

interface State {
  matrix: Matrix;
  lineWidth: number;
  fill: number;
  stroke: number;
}

export function readDrawing(
  ops: OpCodes,
  list: OperatorList,
  display: Matrix,
  width: number,
  height: number,
): Pick<PageContent, 'rulings' | 'regions' | 'marks' | 'images' | 'objects' | 'slants' | 'cutDrawing'> {
  const rulings = new RulingCollector({ x0: 0, y0: 0, x1: width, y1: height });
  const marks = new MarkCollector();
  const tags: unknown[] = [];
  const images: PageContent['images'] = [];
  const strokes = new Set([
    ops.stroke,
    ops.closeStroke,
    ops.fillStroke,
    ops.eoFillStroke,
    ops.closeFillStroke,
    ops.closeEOFillStroke,
  ]);
  const fills = new Set([
    ops.fill,
    ops.eoFill,
    ops.fillStroke,
    ops.eoFillStroke,
    ops.closeFillStroke,
    ops.closeEOFillStroke,
  ]);
  const pictures = new Set([ops.paintImageXObject, ops.paintInlineImageXObject, ops.paintImageMaskXObject]);
  const stack: State[] = [];
  let state: State = { matrix: display, lineWidth: 1, fill: 0, stroke: 0 };
  const count = Math.min(list.fnArray.length, DOCUMENT_LIMITS.pdfPageOperators);
  for (let i = 0; i < count; i++) {
    const op = list.fnArray[i];
    const args = (list.argsArray[i] ?? []) as unknown[];
    if (op === ops.save || op === ops.paintFormXObjectBegin) {
      if (stack.length < MAX_DEPTH) stack.push({ ...state });
      if (op === ops.paintFormXObjectBegin) state.matrix = withTransform(state.matrix, args[0]);
    } else if (op === ops.restore || op === ops.paintFormXObjectEnd) state = stack.pop() ?? state;
    else if (op === ops.transform) state.matrix = withTransform(state.matrix, args);
    else if (op === ops.setLineWidth) state.lineWidth = Number(args[0]) || 0;
    else if (op === ops.setFillRGBColor) state.fill = readColor(args);
    else if (op === ops.setStrokeRGBColor) state.stroke = readColor(args);
    else if (op !== undefined && pictures.has(op)) {
      const [, pixelWidth, pixelHeight] = args;
      images.push({
        box: mapBox(state.matrix, 0, 0, 1, 1),
        pixelWidth: Number(pixelWidth) || 0,
        pixelHeight: Number(pixelHeight) || 0,
      });
    } else if (op === ops.constructPath) {
      const paint = Number(args[0]);
      const path = Array.isArray(args[1]) ? args[1][0] : undefined;
      if (!(path instanceof Float32Array) || !(strokes.has(paint) || fills.has(paint))) continue;
      const scale = Math.sqrt(Math.abs(state.matrix.a * state.matrix.d - state.matrix.b * state.matrix.c));
      const label = tags.at(-1) === 'Lbl';
      walkPath(path, state.matrix, (points, closed, curved) => {
        const { lineWidth, fill, stroke } = state;
        const width = lineWidth * scale;
        if (strokes.has(paint)) {
          rulings.stroke(points, closed, curved, width, stroke);
          if (closed) marks.add(points, curved, { filled: false, color: stroke, width }, label);
        }
        if (fills.has(paint)) {
          rulings.fill(points, curved, fill);
          marks.add(points, curved, { filled: true, color: fill }, label);
        }
      });
    } else if (op === ops.beginMarkedContent || op === ops.beginMarkedContentProps) {
      if (tags.length < MAX_DEPTH) tags.push(args[0]);
    } else if (op === ops.endMarkedContent) tags.pop();
  }
  return {
    ...rulings.finish(),
    marks: marks.finish(),
    images,
    objects: list.fnArray.length,
    cutDrawing: list.fnArray.length > count,
  };
}

function withTransform(matrix: Matrix, values: unknown): Matrix {
  if (!Array.isArray(values) && !(values instanceof Float32Array)) return matrix;
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = Array.from(values, Number);
  return concatenate({ a, b, c, d, e, f }, matrix);
}

/** `#rrggbb`, as pdf.js gives colours. */
function readColor(args: readonly unknown[]): number {
  const [value] = args;
  return typeof value === 'string' && /^#[\da-f]{6}$/i.test(value) ? Number.parseInt(value.slice(1), 16) : 0;
}

function walkPath(
  path: Float32Array,
  matrix: Matrix,
  paint: (points: number[], closed: boolean, curved: boolean) => void,
): void {
  let points: number[] = [];
  let curved = false;
  const flush = (closed: boolean) => {
    if (points.length >= 4) paint(points, closed, curved);
    points = [];
    curved = false;
  };
  for (let i = 0; i < path.length; ) {
    const op = path[i] ?? 0;
    const operands = OPERANDS[op];
    if (operands === undefined) return;
    if (op === 0) flush(false);
    if (op === 2 || op === 3) curved = true;
    for (let n = i + 1; n + 1 <= i + operands; n += 2) {
      const x = path[n] ?? 0;
      const y = path[n + 1] ?? 0;
      points.push(matrix.a * x + matrix.c * y + matrix.e, matrix.b * x + matrix.d * y + matrix.f);
    }
    if (op === 4) flush(true);
    i += 1 + operands;
  }
  flush(false);
}
