// Parses files with Parsemesh and writes the Markdown of FILE.pdf to FILE.md.
import { openAsBlob } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const { PARSEMESH_URL, PARSEMESH_KEY } = process.env;
const OPTIONS = { formats: ['markdown'], timeout: 300_000 };
const ATTEMPTS = 5;

/** Returns `data` of the response. @throws Error with the message of the server */
async function parse(path) {
  for (let attempt = 1; ; attempt++) {
    const form = new FormData();
    form.append('options', JSON.stringify(OPTIONS));
    // The file is read while it is sent.
    form.append('file', await openAsBlob(path), basename(path));
    const response = await fetch(`${PARSEMESH_URL}/v2/parse`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${PARSEMESH_KEY}` },
      body: form,
    });
    const body = await response.json();
    if (response.ok) return body.data;
    if (![429, 503].includes(response.status) || attempt === ATTEMPTS)
      throw new Error(`${path}: ${body.code}: ${body.error}`);
    await sleep(Number(response.headers.get('retry-after') ?? 1) * 1000);
  }
}

for (const path of process.argv.slice(2)) {
  try {
    const data = await parse(path);
    const target = `${path.slice(0, path.length - extname(path).length)}.md`;
    await writeFile(target, data.markdown);
    console.log(`${target}: ${data.metadata.creditsUsed} credits`);
    if (data.warning) console.error(`${path}: warning: ${data.warning}`);
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
