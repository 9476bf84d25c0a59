// Posts JSON to the HTTP endpoint of a model and retries once if the server has closed a reused connection.
import {
  globalAgent as httpAgent,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';
import { globalAgent as httpsAgent, request as httpsRequest } from 'node:https';

export interface PostRequest {
  url: string;
  headers?: Record<string, string>;
  body: unknown;
  signal: AbortSignal;
  /** Maximum size of the body of a 2xx response, in bytes. */
  responseBytesMax: number;
}

export interface PostResponse {
  status: number;
  headers: IncomingHttpHeaders;
  /** Empty unless the status is 2xx: any other response is not read. */
  body: string;
}

export class ResponseTooLargeError extends Error {
  override readonly name = 'ResponseTooLargeError';
}

/** The connection was reset before the first byte of a response. */
class ResetBeforeResponseError extends Error {
  override readonly name = 'ResetBeforeResponseError';
}

/**
 * Sends `body` as JSON. Redirects are not followed. If the connection is reset before the first byte of a response, the request is
 * sent once more on a new connection: a server can close an idle connection at the moment when a request is sent on it.
 * @throws ResponseTooLargeError, an AbortError of the signal, or the network's error
 */
export async function postJson(request: PostRequest): Promise<PostResponse> {
  try {
    return await send(request);
  } catch (error) {
    if (!(error instanceof ResetBeforeResponseError) || request.signal.aborted) throw error;
    closeIdleConnections();
    return await send(request);
  }
}

/** Forces the next request to open a new connection. */
function closeIdleConnections(): void {
  for (const agent of [httpAgent, httpsAgent])
    for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}

async function send({ url, headers, body, signal, responseBytesMax }: PostRequest): Promise<PostResponse> {
  const payload = Buffer.from(JSON.stringify(body));
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const open = new URL(url).protocol === 'https:' ? httpsRequest : httpRequest;
    const request = open(url, {
      method: 'POST',
      signal,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...headers,
        'content-length': payload.length,
      },
    });
    let answered = false;
    request.once('socket', (socket) => {
      const onData = (): void => {
        answered = true;
      };
      socket.once('data', onData);
      request.once('close', () => socket.off('data', onData));
    });
    request.on('response', resolve);
    request.on('error', (cause: NodeJS.ErrnoException) => {
      const reset = cause.code === 'ECONNRESET' || cause.code === 'EPIPE';
      reject(reset && !answered ? new ResetBeforeResponseError('connection reset', { cause }) : cause);
    });
    request.end(payload);
  });
  const status = response.statusCode ?? 0;
  if (status < 200 || status > 299) {
    response.destroy();
    return { status, headers: response.headers, body: '' };
  }
  return { status, headers: response.headers, body: await readBody(response, responseBytesMax) };
}

async function readBody(response: IncomingMessage, most: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop early destroys the response and its connection.
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.byteLength;
    if (size > most) throw new ResponseTooLargeError(`the response has more than ${most} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
