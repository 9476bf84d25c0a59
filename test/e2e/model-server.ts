// A small OpenAI-compatible server, so that summary and json run over the real wire without a model.
import { createServer } from 'node:http';

export interface ModelServer {
  /** For `LLM_BASE_URL`. */
  url: string;
  /** Every request body, as it came. */
  prompts: string[];
  stop(): Promise<void>;
}

/** Words in a prompt that choose what the server answers. */
export const ANSWERS = {
  /** Any prompt about boats. */
  boats: { boats: [{ name: 'Petrel', length: 42 }] },
  /** A prompt that holds this gets what no schema wants. */
  nonsense: 'PLEASE-ANSWER-NONSENSE',
  /** A prompt that holds this gets an empty boat list first and the boats once it is asked to repair. */
  repair: 'PLEASE-ANSWER-WRONG-ONCE',
  /** A prompt that holds this gets status 500. */
  fault: 'PLEASE-FAIL',
  summary: 'A keeper counted herons.',
} as const;

/** Answers as a chat-completions endpoint does; a request with a response format wants JSON, one without wants a summary. */
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
