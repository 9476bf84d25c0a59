// An OpenAI-compatible HTTP server with fixed answers, so that summary and json are tested without a model.
import { createServer } from 'node:http';

export interface ModelServer {
  /** The value of `LLM_BASE_URL`. */
  url: string;
  /** All request bodies. */
  prompts: string[];
  stop(): Promise<void>;
}

/** Answers, and the words in a prompt that select another answer. */
export const ANSWERS = {
  /** The answer to other prompts with a response format. */
  boats: { boats: [{ name: 'Petrel', length: 42 }] },
  /** A prompt with these words gets a text that matches no schema. */
  nonsense: 'PLEASE-ANSWER-NONSENSE',
  /** A prompt with these words gets JSON that does not match the schema first, and the boats the second time. */
  repair: 'PLEASE-ANSWER-WRONG-ONCE',
  /** A prompt with these words gets status 500. */
  fault: 'PLEASE-FAIL',
  summary: 'A keeper counted herons.',
} as const;

/** Starts the server. It answers requests with a response format with JSON, and others with a summary. */
export async function startModelServer(): Promise<ModelServer> {
  const prompts: string[] = [];
  const wrongOnce = new Set<string>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      prompts.push(body);
      if (request.url !== '/v1/chat/completions' || body.includes(ANSWERS.fault)) {
        response.writeHead(request.url === '/v1/chat/completions' ? 500 : 404).end();
        return;
      }
      const wantsJson = body.includes('"response_format"');
      let content = wantsJson ? JSON.stringify(ANSWERS.boats) : ANSWERS.summary;
      if (body.includes(ANSWERS.nonsense)) content = 'I would rather not.';
      if (body.includes(ANSWERS.repair) && !wrongOnce.has(ANSWERS.repair)) {
        wrongOnce.add(ANSWERS.repair);
        content = '{"boats": "none"}';
      }
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({
          id: 'x',
          object: 'chat.completion',
          choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }],
        }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/v1`,
    prompts,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
