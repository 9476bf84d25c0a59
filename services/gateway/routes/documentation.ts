// Serves the API reference at /docs and /openapi.json, with all scripts and styles from this server, so that it works offline.
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { openApiDocument } from '#shared/contract/openapi.ts';
import type { Handler } from '../app.ts';

const DAY_SECONDS = 86_400;
/** Allows scripts and styles from this server only. Swagger UI also sets inline styles and embeds its icons as data URIs. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Parsemesh API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
</head>
<body>
<div id="swagger-ui"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

const START = `window.ui = SwaggerUIBundle({ url: '/openapi.json', dom_id: '#swagger-ui', deepLinking: true, validatorUrl: null });
`;

const ASSETS: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

/** Handlers by path. @param version of the product, shown in the document */
export function documentationHandlers(version: string): Record<string, Handler> {
  let document: string | undefined;
  const page: Handler = (_request, response) => {
    response.setHeader('Content-Security-Policy', PAGE_POLICY);
    send(response, 'text/html; charset=utf-8', PAGE);
  };
  return {
    '/openapi.json': (_request, response) => {
      document ??= JSON.stringify(openApiDocument({ version }));
      send(response, 'application/json; charset=utf-8', document);
    },
    '/docs': page,
    '/docs/start.js': (_request, response) => send(response, 'text/javascript; charset=utf-8', START),
    ...Object.fromEntries(Object.entries(ASSETS).map(([name, type]) => [`/docs/${name}`, sendAsset(name, type)])),
  };
}

function send(response: ServerResponse, contentType: string, body: string | Buffer): void {
  response.writeHead(200, { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}

function sendAsset(name: string, contentType: string): Handler {
  return async (_request, response) => {
    const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
    const body = await readFile(join(folder, name));
    response.setHeader('Cache-Control', `public, max-age=${DAY_SECONDS}`);
    send(response, contentType, body);
  };
}
