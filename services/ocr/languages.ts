// Finds the language models that OCR may use, because they come from the system or a mounted folder and are never fetched.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ParseError } from '#shared/contract/errors.ts';
import { ConfigError } from '#shared/runtime/config.ts';

const DEBIAN_ROOT = '/usr/share/tesseract-ocr';
const OTHER_FOLDERS = ['/usr/share/tessdata', '/usr/local/share/tessdata', '/opt/homebrew/share/tessdata'];
const MODEL = '.traineddata';
/** tesseract's own names: eng, chi_sim, srp_latn, deu_frak. */
const LANGUAGE_NAME = /^[A-Za-z]{2,16}(?:_[A-Za-z]{1,16}){0,3}$/;
const MAX_LANGUAGES = 8;

export interface LanguageSettings {
  /** OCR_LANGUAGES: names joined by `+`, comma or blank. */
  languages: string | undefined;
  /** TESSDATA_PREFIX: the folder of the models, or the one above it. */
  folder: string | undefined;
}

/** Reads the two variables that say which languages OCR knows. */
export function readLanguageSettings(environment: NodeJS.ProcessEnv = process.env): LanguageSettings {
  return { languages: environment.OCR_LANGUAGES, folder: environment.TESSDATA_PREFIX };
}

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function modelFolders(settings: LanguageSettings): string[] {
  if (settings.folder) return [settings.folder, join(settings.folder, 'tessdata')];
  const debian = listFolder(DEBIAN_ROOT)
    .sort()
    .reverse()
    .map((version) => join(DEBIAN_ROOT, version, 'tessdata'));
  return [...debian, ...OTHER_FOLDERS];
}

/** Names of the languages whose models are installed (orientation and equation models are none). */
export function installedLanguages(settings: LanguageSettings): string[] {
  const names = modelFolders(settings)
    .flatMap(listFolder)
    .filter((name) => name.endsWith(MODEL));
  return [...new Set(names.map((name) => name.slice(0, -MODEL.length)))]
    .filter((name) => name !== 'osd' && name !== 'equ')
    .sort();
}

/**
 * The model file of each language, in the order asked for.
 * @param asked language names of the job; empty for the server's default.
 * @throws ParseError BAD_REQUEST where the job asks for what is no language or not installed, SERVICE_UNAVAILABLE where the default is not installed.
 */
export function resolveModels(asked: readonly string[], settings: LanguageSettings): Map<string, string> {
  const fromServer = asked.length === 0;
  const names = fromServer ? namesOf(settings) : asked;
  if (names.length > MAX_LANGUAGES)
    throw new ParseError('BAD_REQUEST', `Bad Request: at most ${MAX_LANGUAGES} OCR languages at once`);
  const folders = modelFolders(settings);
  const models = new Map<string, string>();
  for (const name of names.length === 0 ? ['eng'] : names) {
    const path = LANGUAGE_NAME.test(name)
      ? folders.map((folder) => join(folder, name + MODEL)).find(existsSync)
      : undefined;
    if (path === undefined) throw fromServer ? missingDefault(name) : unknownLanguage(name, settings);
    models.set(name, path);
  }
  return models;
}

/**
 * Tells an operator at the start what a caller would learn at the first scan. A language that nobody asked for by name (the default) may be missing:
 * everything but OCR works without it.
 * @throws ConfigError where OCR_LANGUAGES names what is no language or has no model
 */
export function checkServerLanguages(settings: LanguageSettings): void {
  if (!settings.languages) return;
  const installed = installedLanguages(settings);
  const missing = namesOf(settings).filter((name) => !installed.includes(name));
  if (missing.length === 0) return;
  const folders = modelFolders(settings).join(', ');
  const have = installed.length > 0 ? `which has ${installed.join(', ')}` : 'which has no model at all';
  throw new ConfigError(
    `configuration: OCR_LANGUAGES: there is no ${missing.map((name) => `${name.slice(0, 40)}${MODEL}`).join(' and no ')} in ${folders}, ${have}. Install it (Debian: apt-get install tesseract-ocr-LANGUAGE), or put the file into a folder and name that in TESSDATA_PREFIX.`,
  );
}

function namesOf(settings: LanguageSettings): string[] {
  return (settings.languages ?? 'eng').split(/[+,\s]+/).filter((name) => name !== '');
}

function missingDefault(name: string): ParseError {
  const shown = LANGUAGE_NAME.test(name) ? name : 'eng';
  return new ParseError(
    'SERVICE_UNAVAILABLE',
    `OCR is not available: the language data \`${shown}\` is not installed on this server. Its operator can run \`apt-get install tesseract-ocr-${shown.toLowerCase().replaceAll('_', '-')}\`, or name a folder of models in TESSDATA_PREFIX.`,
  );
}

function unknownLanguage(name: string, settings: LanguageSettings): ParseError {
  const installed = installedLanguages(settings);
  return new ParseError(
    'BAD_REQUEST',
    `Bad Request: the OCR language \`${name.slice(0, 40)}\` is not installed on this server; it has ${installed.length > 0 ? installed.join(', ') : 'none'}`,
  );
}

/** The error of an engine that does not take the models that are there. */
export function unusableModels(languages: string, cause?: unknown): ParseError {
  return new ParseError(
    'SERVICE_UNAVAILABLE',
    `The OCR language data of \`${languages}\` cannot be loaded. Install it again, for example with \`apt-get install --reinstall tesseract-ocr-eng\`.`,
    { cause },
  );
}
