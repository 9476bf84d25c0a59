// Decides the resolution of an image, from which the page gets its size in points.
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';

export interface Resolution {
  /** Pixels per inch. */
  x: number;
  y: number;
}

/** Below this, the value is the default of a program and says nothing about paper: 72 (Exif 3.0, 4.6.5.1) or the 96 of Windows screens. */
const LEAST_DPI = 100;
const MOST_DPI = 2_400;
/**
 * Above this, OCR uses fewer pixels than there are. It is believed only of images with more pixels than OCR takes: a page of 200 dpi that
 * states 1,000 could not be read.
 */
const FINE_DPI = 400;
/** Inches of the long side of a sheet: a stamp, and an A0 sheet with room. */
const SHEET_INCHES = [1, 60] as const;
/** Ratio of the resolutions of a fax: 204 by 98 (TIFF/FX, RFC 3949, 3.5). */
const MOST_ASPECT = 2.2;
/** Square inches of an A4 or letter sheet, the usual subject of a scan or of a photo of a page. */
const SHEET_AREA = 96;
const ESTIMATE_RANGE = [72, 600] as const;

/**
 * The stated resolution if it makes a plausible sheet, and otherwise that of a sheet of the usual size.
 * @param stated of the file, 0 where it says nothing
 */
export function resolutionOf(width: number, height: number, stated: Resolution | undefined): Resolution {
  if (stated && isPlausible(width, height, stated)) return stated;
  const dpi = Math.sqrt((width * height) / SHEET_AREA);
  const usual = Math.min(ESTIMATE_RANGE[1], Math.max(ESTIMATE_RANGE[0], dpi));
  return { x: usual, y: usual };
}

function isPlausible(width: number, height: number, { x, y }: Resolution): boolean {
  if (Math.max(x, y) < LEAST_DPI || Math.max(x, y) > MOST_DPI) return false;
  if (Math.max(x, y) > FINE_DPI && width * height <= DOCUMENT_LIMITS.ocrPagePixels) return false;
  if (Math.max(x, y) > Math.min(x, y) * MOST_ASPECT) return false;
  const inches = Math.max(width / x, height / y);
  return inches >= SHEET_INCHES[0] && inches <= SHEET_INCHES[1];
}
