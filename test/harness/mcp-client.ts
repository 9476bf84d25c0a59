// Connects the official MCP client to an MCP server over stdio, as assistants do.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

interface ToolResult {
  isError?: boolean;
  content: { type: string; text: string }[];
}

/** The parts of the official client, `@modelcontextprotocol/sdk`, that the tests use. */
export interface McpClient {
  connect(transport: object): Promise<void>;
  listTools(): Promise<{ tools: { name: string; inputSchema: { properties?: Record<string, unknown> } }[] }>;
  callTool(call: { name: string; arguments: object }): Promise<ToolResult>;
  close(): Promise<void>;
}

/** The process of an MCP server. */
interface ServerProcess {
  command: string;
  args: string[];
  env: Record<string, string>;
  cwd: string;
}

/**
 * Starts an MCP server as a child process and connects a client to it.
 * @param packages folder with npm `firecrawl-mcp`, which depends on the official client too
 */
export async function connectMcp(packages: string, server: ServerProcess): Promise<McpClient> {
  const { resolve } = createRequire(join(packages, 'node_modules/firecrawl-mcp/package.json'));
  const load = (module: string): Promise<unknown> => import(pathToFileURL(resolve(module)).href);
  const { Client } = (await load('@modelcontextprotocol/sdk/client/index.js')) as {
    Client: new (about: { name: string; version: string }) => McpClient;
  };
  const { StdioClientTransport } = (await load('@modelcontextprotocol/sdk/client/stdio.js')) as {
    StdioClientTransport: new (process: ServerProcess & { stderr: 'ignore' }) => object;
  };
  const client = new Client({ name: 'parsemesh-tests', version: '1.0.0' });
  await client.connect(new StdioClientTransport({ ...server, stderr: 'ignore' }));
  return client;
}

export const parseTool = (client: McpClient, args: object): Promise<ToolResult> =>
  client.callTool({ name: 'firecrawl_parse', arguments: args });

export const textOf = ({ content }: ToolResult): string => content.map(({ text }) => text).join('');
