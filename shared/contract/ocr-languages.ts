// Reads lists of OCR languages such as "deu+eng" (docs/languages.md).
import { REQUEST_LIMITS } from './limits.ts';

/** ISO 639-2/T codes with an optional script, as Tesseract names its models: eng, chi_sim, srp_latn, deu_frak. */
const CODE = '[A-Za-z]{2,16}(?:_[A-Za-z]{1,16}){0,3}';
const LANGUAGE_CODE = new RegExp(`^${CODE}$`);

/** The syntax of a list as a pattern of JSON Schema. */
export const OCR_LANGUAGES_PATTERN = `^${CODE}(?:\\+${CODE}){0,${REQUEST_LIMITS.ocrLanguages - 1}}$`;

/** Which texts are lists of languages, in words for error messages. */
export const OCR_LANGUAGES_RULE = `names of OCR languages joined by \`+\`, such as \`eng\` or \`deu+eng\`, at most ${REQUEST_LIMITS.ocrLanguages}`;

export const isLanguageCode = (text: string): boolean => LANGUAGE_CODE.test(text);

/** The languages of a list that matches OCR_LANGUAGES_PATTERN, each once, in the order of the list. */
export const parseOcrLanguages = (text: string): string[] => [...new Set(text.split('+'))];
