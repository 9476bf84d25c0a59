// Maps our reading options to the values of Tesseract's own variables, for both ways to run it.
import type { ReadingOptions } from './engine.ts';

/** tessedit_pageseg_mode (Tesseract, PageSegMode): 3 is automatic without orientation detection, 6 is one uniform block of text. */
export const PAGE_SEGMENTATION: Readonly<Record<ReadingOptions['layout'], string>> = { page: '3', block: '6' };

/** thresholding_method: 0 is Otsu (global), 2 is Sauvola (local). */
export const THRESHOLDING: Readonly<Record<ReadingOptions['threshold'], string>> = { global: '0', local: '2' };
