// Finds the model files of Tesseract. They come from the system or a mounted folder and are never downloaded.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ParseError } from '#shared/contract/errors.ts';
import { isLanguageCode } from '#shared/contract/ocr-languages.ts';
import { type LanguageSettings, readLanguageSettings } from './languages.ts';

const DEBIAN_ROOT = '/usr/share/tesseract-ocr';
const OTHER_FOLDERS = ['/usr/share/tessdata', '/usr/local/share/tessdata', '/opt/homebrew/share/tessdata'];
const EXTENSION = '.traineddata';
/** Models of page orientation and of equations, which are not languages. */
const NOT_LANGUAGES: readonly string[] = ['osd', 'equ'];

/** Paths of model files by language code, in order of preference. */
export type Models = ReadonlyMap<string, string>;

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The folders that are searched for models, in this order. */
export function modelFolders(settings: LanguageSettings = readLanguageSettings()): string[] {
  if (settings.folder) return [settings.folder, join(settings.folder, 'tessdata')];
  const debian = listFolder(DEBIAN_ROOT)
    .sort()
    .reverse()
    .map((version) => join(DEBIAN_ROOT, version, 'tessdata'));
  return [...debian, ...OTHER_FOLDERS];
}

/** Codes of the languages whose models are installed, sorted. */
export function installedLanguages(): string[] {
  const codes = modelFolders()
    .flatMap(listFolder)
    .filter((name) => name.endsWith(EXTENSION))
    .map((name) => name.slice(0, -EXTENSION.length));
  return [...new Set(codes)].filter((code) => !NOT_LANGUAGES.includes(code)).sort();
}

/**
 * Finds the model of each language.
 * @throws ParseError SERVICE_UNAVAILABLE if a model is not installed.
 */
export function findModels(languages: readonly string[]): Models {
  const folders = modelFolders();
  return new Map(
    languages.map((language) => {
      const path = isLanguageCode(language)
        ? folders.map((folder) => join(folder, language + EXTENSION)).find(existsSync)
        : undefined;
      if (path === undefined) throw missingModel(language);
      return [language, path];
    }),
  );
}

function missingModel(language: string): ParseError {
  const shown = isLanguageCode(language) ? language : 'eng';
  return new ParseError(
    'SERVICE_UNAVAILABLE',
    `OCR is not available: the language data \`${shown}\` is not installed on this server. Its operator can run \`apt-get install tesseract-ocr-${shown.toLowerCase().replaceAll('_', '-')}\`, or set TESSDATA_PREFIX to a folder with the model.`,
  );
}

/** The error for models that exist but that Tesseract cannot load. */
export function unusableModels(languages: readonly string[], cause?: unknown): ParseError {
  return new ParseError(
    'SERVICE_UNAVAILABLE',
    `The OCR language data of \`${languages.join('+')}\` cannot be loaded. Install it again, for example with \`apt-get install --reinstall tesseract-ocr-eng\`.`,
    { cause },
  );
}
