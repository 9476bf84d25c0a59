// Reads which language model this server may ask, so that nothing else looks at the environment.

export interface ModelConfig {
  /** Without a slash at the end; `/chat/completions` is added. */
  baseUrl: string;
  apiKey: string | undefined;
  model: string;
}

const MODEL_DEFAULT = 'default';

/** `LLM_BASE_URL`, `LLM_API_KEY`, `LLM_MODEL`; undefined where no base URL is set, and then no request is ever made. */
export function readModelConfig(env: Readonly<Record<string, string | undefined>>): ModelConfig | undefined {
  const baseUrl = env.LLM_BASE_URL?.trim().replace(/\/+$/, '');
  if (!baseUrl) return undefined;
  return { baseUrl, apiKey: env.LLM_API_KEY?.trim() || undefined, model: env.LLM_MODEL?.trim() || MODEL_DEFAULT };
}
