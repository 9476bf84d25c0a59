// What one row of the coverage is: a line of SPEC or DECISIONS in words, and the requests that hold the product to it.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { ParseResponse } from '#shared/contract/response.ts';
import { type Answer, type ErrorBody, errorBody, type ParseRequest, parse, successData } from '../harness/client.ts';
import { csv } from '../harness/documents.ts';
import type { Product } from '../harness/product.ts';

export interface Row {
  /** Section and row, as SPEC.md or DECISIONS.md names it. */
  name: string;
  run(product: Product, context: TestContext): Promise<void>;
  /** Measures or disturbs the whole product: runs by itself, before or after the others. */
  alone?: 'first' | 'last';
}

export type Data = ParseResponse['data'];

/** Parses and asserts a documented 200. */
export async function parsed(product: Product, request: ParseRequest): Promise<Data> {
  return successData(await parse(product, request));
}

/** Parses and asserts a documented error. */
export async function refused(
  product: Product,
  request: ParseRequest,
  status: number,
  code?: string,
): Promise<ErrorBody> {
  return errorBody(await parse(product, request), status, code);
}

export const SMALL_CSV = { file: csv(), fileName: 'boats.csv' } as const;

/** An HTML upload around this body. */
export const page = (body: string, head = '<title>Page</title>') => ({
  file: `<!doctype html><html lang="en"><head><meta charset="utf-8">${head}</head><body>${body}</body></html>`,
  fileName: 'page.html',
});

/** The server still answers an ordinary request. */
export async function goesOn(product: Product): Promise<void> {
  const data = await parsed(product, SMALL_CSV);
  assert.match(data.markdown ?? '', /seventeen herons/);
}

/** Asserts a documented error and that the server goes on after it. */
export async function badInput(
  product: Product,
  answer: Promise<Answer>,
  status: number,
  code: string,
  says: RegExp,
): Promise<void> {
  const body = errorBody(await answer, status, code);
  assert.match(body.error, says, 'the message says what is wrong and what to do');
  await goesOn(product);
}

/** Asserts that `details` names this field. */
export function namesField(body: ErrorBody, path: string): void {
  const paths = (body.details ?? []).map((issue) => issue.path);
  assert.ok(
    paths.some((known) => known === path || known.startsWith(`${path}.`) || known.startsWith(`${path}[`)),
    `details names ${path}, not ${JSON.stringify(paths)}`,
  );
}

/** A whole `Retry-After` of at least one second. @returns the seconds */
export function retryAfter(answer: Answer): number {
  const value = String(answer.headers['retry-after'] ?? '');
  assert.match(value, /^[1-9]\d*$/, 'Retry-After is a whole number of seconds, at least 1');
  return Number(value);
}

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
