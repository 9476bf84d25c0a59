// Chooses the engine of this machine: an installed tesseract where there is one, else the core that the product brings along.
import { dirname } from 'node:path';
import type { Engine } from './engine.ts';
import { NativeEngine, nativeVersion } from './native-engine.ts';
import { WasmEngine } from './wasm-engine.ts';

/** What OCR_ENGINE may say (shared/runtime/config.ts checks it). */
export type EngineSetting = 'auto' | 'native' | 'wasm';

export function readEngineSetting(environment: NodeJS.ProcessEnv = process.env): EngineSetting {
  const { OCR_ENGINE: said } = environment;
  return said === 'native' || said === 'wasm' ? said : 'auto';
}

/**
 * Loads an engine.
 * @param models path of the `.traineddata` file of each language, in order of preference.
 * @throws ParseError SERVICE_UNAVAILABLE where a model cannot be used, or `native` is asked for and not installed.
 */
export async function loadEngine(models: ReadonlyMap<string, string>, setting: EngineSetting): Promise<Engine> {
  const fits = () => new Set([...models.values()].map(dirname)).size === 1 && nativeVersion() !== undefined;
  return setting === 'native' || (setting === 'auto' && fits()) ? NativeEngine.load(models) : WasmEngine.load(models);
}
