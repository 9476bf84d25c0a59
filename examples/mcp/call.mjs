// Calls the tool firecrawl_parse of the MCP server in the settings file, and prints the Markdown of a file.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const [settingsFile, file] = process.argv.slice(2);
const { mcpServers } = JSON.parse(await readFile(settingsFile, 'utf8'));
const { command, args, env } = mcpServers.parsemesh;

const client = new Client({ name: 'parsemesh-example', version: '1.0.0' });
await client.connect(new StdioClientTransport({ command, args, env: { ...process.env, ...env } }));
const result = await client.callTool({ name: 'firecrawl_parse', arguments: { filePath: resolve(file) } });
const text = result.content.map((part) => part.text).join('');
await client.close();
if (result.isError) {
  console.error(text);
  process.exitCode = 1;
} else console.log(JSON.parse(text).data.markdown);
