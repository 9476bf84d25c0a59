// Writes the same request as code: curl, Python and JavaScript.
/** The `options` of a request. */
export type Options = Readonly<Record<string, unknown>>;

export interface CodeRequest {
  /** Base URL of the API, without a slash at the end. */
  url: string;
  key: string;
  fileName: string;
  options: Options;
}

interface CodeSample {
  name: string;
  /** What to install first. */
  note: string;
  write: (request: CodeRequest) => string;
}

/** One word of a POSIX shell. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The value of `curl -F file=`. curl reads `"`, `\`, `;` and `,` in a file name as its own syntax unless the name is quoted. */
function curlFile(name: string): string {
  // A name that starts with `-` or a space is a path too if it starts with `./`.
  const path = /^[\w.]/.test(name) ? name : `./${name}`;
  return shellWord(/[";,\\]/.test(path) ? `file=@"${path.replaceAll(/["\\]/g, String.raw`\$&`)}"` : `file=@${path}`);
}

const hasOptions = ({ options }: CodeRequest): boolean => Object.keys(options).length > 0;
const json = (value: unknown): string => JSON.stringify(value, null, 2);
const indent = (text: string, by: string): string => text.replaceAll('\n', `\n${by}`);

function curl(request: CodeRequest): string {
  return [
    `curl -sS ${shellWord(`${request.url}/v2/parse`)}`,
    `-H ${shellWord(`Authorization: Bearer ${request.key}`)}`,
    `-F ${curlFile(request.fileName)}`,
    // Not -F, which would read `;` in a value as curl's own syntax.
    ...(hasOptions(request) ? [`--form-string ${shellWord(`options=${JSON.stringify(request.options)}`)}`] : []),
  ].join(' \\\n  ');
}

/** A Python literal of a JSON value. @param rename changes the keys of objects */
function pythonLiteral(value: unknown, rename: (key: string) => string = (key) => key): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map((item) => pythonLiteral(item, rename)).join(', ')}]`;
  if (typeof value === 'object')
    return `{${Object.entries(value)
      .map(([key, item]) => `${JSON.stringify(rename(key))}: ${pythonLiteral(item, rename)}`)
      .join(', ')}}`;
  return JSON.stringify(value);
}

function python(request: CodeRequest): string {
  const options = hasOptions(request)
    ? {
        define: `options = ${pythonLiteral(request.options)}\n`,
        send: '        data={"options": json.dumps(options)},\n',
      }
    : { define: '', send: '' };
  return `import json
import requests

${options.define}with open(${JSON.stringify(request.fileName)}, "rb") as file:
    response = requests.post(
        ${JSON.stringify(`${request.url}/v2/parse`)},
        headers={"Authorization": ${JSON.stringify(`Bearer ${request.key}`)}},
        files={"file": file},
${options.send}    )
print(json.dumps(response.json(), indent=2, ensure_ascii=False))
`;
}

const snakeCase = (key: string): string => key.replaceAll(/[A-Z]+/g, (letters) => `_${letters.toLowerCase()}`);

/** The options that the classes of the Python SDK have. It ignores or refuses the additions of Parsemesh. */
const PYTHON_SDK_OPTIONS =
  /^(?:formats|includeTags|excludeTags|onlyMainContent|timeout|removeBase64Images|blockAds|redactPII|parsers\.(?:type|mode|maxPages|blocks|pageMarkers))$/;

/** The options of the request that the Python SDK cannot send. */
function unknownToPythonSdk({ options }: CodeRequest): string[] {
  const names = Object.entries(options).flatMap(([name, value]) => {
    if (name === 'parsers')
      return (value as object[]).flatMap((parser) =>
        Object.entries(parser)
          .filter(([key, setting]) => !(key === 'pages' && typeof setting === 'boolean'))
          .map(([key]) => `parsers.${key}`),
      );
    const embedsPictures = name === 'formats' && JSON.stringify(value).includes('"embedded"');
    return [embedsPictures ? 'formats.images.embedded' : name];
  });
  return names.filter((name) => !PYTHON_SDK_OPTIONS.test(name));
}

function pythonSdk(request: CodeRequest): string {
  const unknown = unknownToPythonSdk(request);
  if (unknown.length > 0)
    return `# The Python SDK has no field for ${unknown.join(', ')}.
# Send the request as the tab "Python" shows it.
`;
  const fields = Object.entries(request.options).map(
    ([name, value]) =>
      `    ${snakeCase(name)}=${name === 'parsers' || name === 'redactPII' ? pythonLiteral(value, snakeCase) : pythonLiteral(value)},\n`,
  );
  const hasFields = hasOptions(request);
  const options = hasFields ? `, options=ParseOptions(\n${fields.join('')})` : '';
  return `from firecrawl import Firecrawl
${hasFields ? 'from firecrawl.v2.types import ParseOptions\n' : ''}
client = Firecrawl(api_key=${JSON.stringify(request.key)}, api_url=${JSON.stringify(request.url)})
document = client.parse(${JSON.stringify(request.fileName)}${options})
print(document.markdown)
`;
}

function javascriptSdk(request: CodeRequest): string {
  const options = hasOptions(request) ? `,\n  ${indent(json(request.options), '  ')},\n` : ',\n';
  return `import { readFile } from 'node:fs/promises';
import { Firecrawl } from 'firecrawl';

const client = new Firecrawl({ apiKey: ${JSON.stringify(request.key)}, apiUrl: ${JSON.stringify(request.url)} });
const document = await client.parse(
  { data: await readFile(${JSON.stringify(request.fileName)}), filename: ${JSON.stringify(request.fileName)} }${options});
console.log(document.markdown);
`;
}

function javascript(request: CodeRequest): string {
  const options = hasOptions(request) ? `body.append('options', JSON.stringify(${json(request.options)}));\n` : '';
  return `import { openAsBlob } from 'node:fs';

const body = new FormData();
${options}body.append('file', await openAsBlob(${JSON.stringify(request.fileName)}), ${JSON.stringify(request.fileName)});
const response = await fetch(${JSON.stringify(`${request.url}/v2/parse`)}, {
  method: 'POST',
  headers: { Authorization: ${JSON.stringify(`Bearer ${request.key}`)} },
  body,
});
console.log(JSON.stringify(await response.json(), null, 2));
`;
}

export const CODE_SAMPLES: readonly CodeSample[] = [
  { name: 'curl', note: '', write: curl },
  { name: 'Python', note: 'pip install requests', write: python },
  { name: 'Python SDK', note: 'pip install firecrawl-py', write: pythonSdk },
  { name: 'JavaScript', note: 'Node.js 20 or later, without packages', write: javascript },
  { name: 'JavaScript SDK', note: 'npm install firecrawl', write: javascriptSdk },
];
