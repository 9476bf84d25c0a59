// Checks that npm `firecrawl-mcp`, the public MCP server, works when only its API URL and key are set. The official MCP client calls it over stdio, as assistants do.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CONTENT, pdf } from '../harness/documents.ts';
import { connectMcp, type McpClient, parseTool, textOf } from '../harness/mcp-client.ts';
import { MCP_SERVER, npmPackages, orSkip } from '../harness/published-packages.ts';
import type { ContractCase } from './contract-case.ts';

const mcpCase = (name: string, check: (client: McpClient, folder: string) => Promise<void>): ContractCase => ({
  name: `npm \`${MCP_SERVER}\` ${name}`,
  run: async (product, context) => {
    const packages = await orSkip(context, npmPackages(MCP_SERVER));
    if (packages === undefined) return;
    const folder = await mkdtemp(join(tmpdir(), 'parsemesh-mcp-'));
    try {
      const lines = [...CONTENT.paragraphs, 'Write to anna@example.com.'];
      await writeFile(join(folder, 'report.pdf'), await pdf([{ title: CONTENT.title, lines }, { lines: ['Two.'] }]));
      const client = await connectMcp(packages, {
        command: process.execPath,
        args: [join(packages, 'node_modules/firecrawl-mcp/dist/index.js')],
        env: {
          PATH: process.env.PATH ?? '',
          HOME: folder,
          FIRECRAWL_API_URL: product.url,
          FIRECRAWL_API_KEY: product.key,
        },
        cwd: folder,
      });
      try {
        await check(client, folder);
      } finally {
        await client.close();
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
});

export const cases: ContractCase[] = [
  mcpCase('lists `firecrawl_parse`, and reads a local file as Markdown', async (client, folder) => {
    const { tools } = await client.listTools();
    const tool = tools.find(({ name }) => name === 'firecrawl_parse');
    assert.ok(tool?.inputSchema.properties?.filePath);
    const result = await parseTool(client, { filePath: join(folder, 'report.pdf') });
    assert.notEqual(result.isError, true, textOf(result));
    const { success, data } = JSON.parse(textOf(result));
    assert.equal(success, true);
    assert.match(data.markdown, /^# Harbour report\n\nThe lighthouse keeper counted seventeen herons\./);
  }),
  mcpCase('sends every option that its tool offers', async (client) => {
    const result = await parseTool(client, {
      filePath: 'report.pdf',
      contentType: 'application/pdf',
      formats: ['markdown', 'html', 'links', 'summary'],
      parsers: ['pdf'],
      pdfOptions: { maxPages: 1 },
      onlyMainContent: true,
      redactPII: true,
      includeTags: [],
      excludeTags: ['table'],
      removeBase64Images: true,
      skipTlsVerification: true,
      storeInCache: false,
      zeroDataRetention: true,
      maxAge: 0,
      proxy: 'auto',
    });
    assert.notEqual(result.isError, true, textOf(result));
    const { data } = JSON.parse(textOf(result));
    assert.match(data.markdown, /<EMAIL>/);
    assert.ok(data.html && data.links && data.summary);
    assert.equal(data.metadata.numPages, 1);
  }),
  mcpCase('reports the message of an error as the result of the tool', async (client, folder) => {
    await writeFile(join(folder, 'broken.pdf'), '%PDF-1.7\nbroken');
    const corrupt = await parseTool(client, { filePath: 'broken.pdf' });
    assert.equal(corrupt.isError, true);
    assert.match(textOf(corrupt), /422.*DOCUMENT_CORRUPT/);
    const noModel = await parseTool(client, {
      filePath: 'report.pdf',
      formats: ['json'],
      jsonOptions: { prompt: 'The number of herons' },
    });
    assert.equal(noModel.isError, true);
    assert.match(textOf(noModel), /400.*MODEL_NOT_CONFIGURED/);
    const missing = await parseTool(client, { filePath: 'missing.pdf' });
    assert.equal(missing.isError, true);
    assert.match(textOf(missing), /ENOENT|no such file/);
  }),
];
