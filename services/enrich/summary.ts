// Writes the `summary` format: with the configured model, or by extraction if there is none.
import { ParseError } from '#shared/contract/errors.ts';
import { MODEL_LIMITS } from '#shared/contract/limits.ts';
import type { ModelConfig } from '#shared/runtime/config.ts';
import { type ChatLimits, ChatRefusedError, complete } from './chat.ts';
import { excerptOf } from './excerpt.ts';
import { summarizeByExtraction } from './extractive.ts';
import { summaryMessages } from './prompt.ts';
import type { TextStart } from './record-text.ts';

interface Summary {
  text: string;
  warnings: string[];
}

const NO_MODEL =
  'The summary is extractive: no language model is configured (set LLM_BASE_URL), so its sentences are quoted from the document.';
const NO_TEXT = 'The document has no text to summarize.';

/**
 * A summary of the Markdown. It is empty, with a warning, if there is no text.
 * @throws ParseError the errors of `complete`
 */
export async function summarize(
  markdown: TextStart,
  config: ModelConfig | undefined,
  limits: ChatLimits,
  language?: string,
): Promise<Summary> {
  if (markdown.text.trim() === '') return { text: '', warnings: [NO_TEXT] };
  if (!config) return { text: summarizeByExtraction(markdown.text, language), warnings: [NO_MODEL] };
  const { text, warning } = excerptOf(markdown);
  try {
    const answer = (await complete(config, { messages: summaryMessages(text) }, limits)).trim();
    if (answer === '')
      throw new ParseError('BAD_GATEWAY', 'Bad Gateway: the language model returned an empty summary; try again');
    return { text: answer.slice(0, MODEL_LIMITS.modelSummaryUnits), warnings: warning === undefined ? [] : [warning] };
  } catch (error) {
    if (!(error instanceof ChatRefusedError)) throw error;
    throw new ParseError(
      'BAD_GATEWAY',
      'Bad Gateway: the language model endpoint refused the request; the document may be too long for the model',
      { cause: error },
    );
  }
}
