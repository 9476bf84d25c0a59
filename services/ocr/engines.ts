// Lists the OCR engines and chooses one for the languages of a page. A new engine is one row of KINDS.
import { ConfigError } from '#shared/runtime/config.ts';
import type { Engine, EngineKind } from './engine.ts';
import { configuredLanguages, type LanguageSettings, readLanguageSettings, unknownLanguage } from './languages.ts';
import { modelFolders } from './tesseract-models.ts';
import { nativeTesseract } from './tesseract-native.ts';
import { wasmTesseract } from './tesseract-wasm.ts';

/** In order of preference: the installed tesseract needs less CPU time. */
const KINDS = { native: nativeTesseract, wasm: wasmTesseract } as const satisfies Record<string, EngineKind>;

/** Values of OCR_ENGINE (shared/runtime/config.ts validates it). */
export type EngineSetting = 'auto' | keyof typeof KINDS;

export function readEngineSetting(environment: NodeJS.ProcessEnv = process.env): EngineSetting {
  const { OCR_ENGINE: setting } = environment;
  return setting !== undefined && Object.hasOwn(KINDS, setting) ? (setting as EngineSetting) : 'auto';
}

/**
 * Loads an engine.
 * @param languages in order of preference; see `requestedLanguages`.
 * @throws ParseError BAD_REQUEST if no engine reads a requested language, SERVICE_UNAVAILABLE if the chosen engine cannot be loaded.
 */
export async function loadEngine(languages: readonly string[], setting: EngineSetting): Promise<Engine> {
  if (setting !== 'auto') return KINDS[setting].load(languages);
  const kind = Object.values(KINDS).find((candidate) => candidate.reads(languages)) ?? KINDS.wasm;
  return kind.load(languages);
}

/** Language codes that at least one engine can read on this machine. */
function availableLanguages(): string[] {
  return [...new Set(Object.values<EngineKind>(KINDS).flatMap((kind) => kind.languages()))].sort();
}

/**
 * Checks the languages that a job requests by name.
 * @throws ParseError BAD_REQUEST if a language is not available.
 */
export function checkRequestedLanguages(languages: readonly string[]): void {
  if (languages.length === 0) return;
  const available = availableLanguages();
  const missing = languages.find((language) => !available.includes(language));
  if (missing !== undefined) throw unknownLanguage(missing, available);
}

/**
 * Checks OCR_LANGUAGES at startup, so that the operator sees the error before the first scan. If OCR_LANGUAGES is not set, the default
 * language may be missing: everything except OCR works without it.
 * @throws ConfigError if OCR_LANGUAGES names a language that is not available.
 */
export function checkServerLanguages(settings: LanguageSettings = readLanguageSettings()): void {
  if (!settings.languages) return;
  const available = availableLanguages();
  const missing = configuredLanguages(settings).filter((language) => !available.includes(language));
  if (missing.length === 0) return;
  const files = missing.map((language) => `${language.slice(0, 40)}.traineddata`).join(' and no ');
  const installed = available.length > 0 ? `which has ${available.join(', ')}` : 'which has no models';
  throw new ConfigError(
    `configuration: OCR_LANGUAGES: there is no ${files} in ${modelFolders(settings).join(', ')}, ${installed}. Install the language (Debian: apt-get install tesseract-ocr-LANGUAGE), or put the file into a folder and set TESSDATA_PREFIX to that folder.`,
  );
}
