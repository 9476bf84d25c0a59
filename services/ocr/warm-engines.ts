// Keeps a few loaded engines between pages, so that requests with different languages do not load their models for every page.
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { residentMiB } from '#shared/runtime/isolation/process-memory.ts';
import type { Engine } from './engine.ts';
import { type EngineSetting, loadEngine } from './engines.ts';
import { readLanguageSettings } from './languages.ts';

export class WarmEngines {
  /** By what they were loaded with. The engine that was used last is the last one. */
  readonly #engines = new Map<string, Engine>();
  readonly #limits: { ocrWarmEngines: number; ocrWarmMiB: number };

  constructor(limits: { ocrWarmEngines: number; ocrWarmMiB: number } = DOCUMENT_LIMITS) {
    this.#limits = limits;
  }

  /**
   * The engine of these languages: the one that is loaded, or a new one. It closes the engines that were not used for the longest time, so that at
   * most `ocrWarmEngines` are loaded, and only one if the process already uses `ocrWarmMiB`.
   * @throws as `loadEngine`
   */
  async take(languages: readonly string[], setting: EngineSetting): Promise<Engine> {
    const key = [setting, readLanguageSettings().folder ?? '', ...languages].join('+');
    const known = this.#engines.get(key);
    this.#engines.delete(key);
    if (known && !known.worn) {
      this.#engines.set(key, known);
      return known;
    }
    await known?.close();
    const isLarge = residentMiB(process.pid) > this.#limits.ocrWarmMiB;
    await this.#closeAllBut(isLarge ? 0 : this.#limits.ocrWarmEngines - 1);
    const loaded = await loadEngine(languages, setting);
    this.#engines.set(key, loaded);
    return loaded;
  }

  /** Closes an engine that failed. Its end may fail too. */
  async discard(engine: Engine): Promise<void> {
    for (const [key, one] of this.#engines) if (one === engine) this.#engines.delete(key);
    await engine.close().catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.#closeAllBut(0);
  }

  async #closeAllBut(kept: number): Promise<void> {
    for (const [key, engine] of [...this.#engines].slice(0, Math.max(0, this.#engines.size - kept))) {
      this.#engines.delete(key);
      await engine.close();
    }
  }
}
