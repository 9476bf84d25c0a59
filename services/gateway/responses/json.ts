// Sends small JSON responses.
import type { ServerResponse } from 'node:http';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** Writes the status and headers of a JSON response. @returns the text of the body, which the caller writes */
export function startJson(response: ServerResponse, status: number, body: object): string {
  const text = JSON.stringify(body);
  response.writeHead(status, { 'Content-Type': JSON_TYPE, 'Content-Length': Buffer.byteLength(text) });
  return text;
}

export function sendJson(response: ServerResponse, status: number, body: object): void {
  response.end(startJson(response, status, body));
}
