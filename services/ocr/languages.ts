// Reads and checks the names of OCR languages that a job or the configuration gives, independent of the engine.
import { ParseError } from '#shared/contract/errors.ts';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';

const DEFAULT_LANGUAGE = 'eng';

export interface LanguageSettings {
  /** OCR_LANGUAGES: language codes, separated by `+`, commas or spaces. */
  languages: string | undefined;
  /** TESSDATA_PREFIX: the folder of the Tesseract models, or its parent folder. */
  folder: string | undefined;
}

/** Reads the two variables that configure OCR languages. */
export function readLanguageSettings(environment: NodeJS.ProcessEnv = process.env): LanguageSettings {
  return { languages: environment.OCR_LANGUAGES, folder: environment.TESSDATA_PREFIX };
}

/** The languages of the configuration, in order of preference. */
export function configuredLanguages(settings: LanguageSettings = readLanguageSettings()): string[] {
  const codes = (settings.languages ?? '').split(/[+,\s]+/).filter((code) => code !== '');
  return codes.length === 0 ? [DEFAULT_LANGUAGE] : codes;
}

/** @throws ParseError BAD_REQUEST if there are too many languages. */
export function checkLanguageCount(languages: readonly string[]): void {
  if (languages.length > REQUEST_LIMITS.ocrLanguages)
    throw new ParseError(
      'BAD_REQUEST',
      `Bad Request: at most ${REQUEST_LIMITS.ocrLanguages} OCR languages can be used together`,
    );
}

export function unknownLanguage(language: string, available: readonly string[]): ParseError {
  const message = `the OCR language \`${language.slice(0, 40)}\` is not installed on this server. Installed languages: ${available.length > 0 ? available.join(', ') : 'none'}`;
  return new ParseError('BAD_REQUEST', `Bad Request: ${message}`, {
    details: [{ path: 'language', message, code: 'custom' }],
  });
}
