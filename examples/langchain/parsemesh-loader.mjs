// A document loader for LangChain that parses files with Parsemesh.
import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { BaseDocumentLoader } from '@langchain/core/document_loaders/base';
import { Document } from '@langchain/core/documents';

/** Loads one document for each page of a PDF, and one document for any other file. */
export class ParsemeshLoader extends BaseDocumentLoader {
  /** @param options those of POST /v2/parse, for example `{ redactPII: true }` */
  constructor(path, { url, apiKey, options = {} }) {
    super();
    this.path = path;
    this.url = url;
    this.apiKey = apiKey;
    this.options = { parsers: [{ type: 'pdf', pages: true }], timeout: 300_000, ...options };
  }

  async load() {
    const form = new FormData();
    form.append('options', JSON.stringify(this.options));
    form.append('file', await openAsBlob(this.path), basename(this.path));
    const response = await fetch(`${this.url}/v2/parse`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${this.apiKey}` },
      body: form,
    });
    const body = await response.json();
    if (!response.ok) throw new Error(`${this.path}: ${response.status}: ${body.error}`);
    const { markdown, pages, metadata } = body.data;
    const source = { source: this.path, title: metadata.title ?? basename(this.path) };
    if (!pages) return [new Document({ pageContent: markdown, metadata: source })];
    return pages.map(
      ({ pageNumber, markdown: pageContent }) =>
        new Document({
          pageContent,
          metadata: { ...source, page: pageNumber - 1, total_pages: metadata.totalPages },
        }),
    );
  }
}

if (import.meta.filename === process.argv[1]) {
  const { PARSEMESH_URL: url, PARSEMESH_KEY: apiKey } = process.env;
  const loader = new ParsemeshLoader(process.argv[2], { url, apiKey });
  for (const document of await loader.load()) {
    console.log(document.metadata);
    console.log(document.pageContent);
  }
}
