// Serves the API reference at /docs and /openapi.json, with all scripts and styles from this server, so that it works offline.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { openApiDocument } from '#shared/contract/openapi.ts';
import type { Handler } from '../app.ts';
import { sendCompressible } from '../responses/compression.ts';
import { JSON_TYPE } from '../responses/json.ts';

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
  const page: Handler = (request, response) => {
    response.setHeader('Content-Security-Policy', PAGE_POLICY);
    sendCompressible(request, response, 'text/html; charset=utf-8', PAGE);
  };
  return {
    '/openapi.json': (request, response) => {
      document ??= JSON.stringify(openApiDocument({ version }));
      sendCompressible(request, response, JSON_TYPE, document);
    },
    '/docs': page,
    '/docs/start.js': (request, response) =>
      sendCompressible(request, response, 'text/javascript; charset=utf-8', START),
    ...Object.fromEntries(Object.entries(ASSETS).map(([name, type]) => [`/docs/${name}`, sendAsset(name, type)])),
  };
}

function sendAsset(name: string, contentType: string): Handler {
  return async (request, response) => {
    const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
    const body = await readFile(join(folder, name));
    response.setHeader('Cache-Control', `public, max-age=${DAY_SECONDS}`);
    sendCompressible(request, response, contentType, body);
  };
}
