// Defines a test case of the API contract and the assertions that the cases share.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { ParseResponse } from '#shared/contract/response.ts';
import { type Answer, type ErrorBody, errorBody, type ParseRequest, parse, successData } from '../harness/client.ts';
import { csv } from '../harness/documents.ts';
import type { Product } from '../harness/product.ts';

export interface ContractCase {
  /** One sentence about the interface. */
  name: string;
  run(product: Product, context: TestContext): Promise<void>;
  /** Runs the case alone, before or after all other cases, because it measures or disturbs the entire product. */
  alone?: 'first' | 'last';
}

export type Data = ParseResponse['data'];

/** Parses and asserts a documented 200. @returns its `data` */
export async function expectSuccess(product: Product, request: ParseRequest): Promise<Data> {
  return successData(await parse(product, request));
}

/** Parses and asserts a documented error. @returns its body */
export async function expectError(
  product: Product,
  request: ParseRequest,
  status: number,
  code?: string,
): Promise<ErrorBody> {
  return errorBody(await parse(product, request), status, code);
}

export const SMALL_CSV = { file: csv(), fileName: 'boats.csv' } as const;

/** An HTML upload with this body. */
export const htmlPage = (body: string, head = '<title>Page</title>') => ({
  file: `<!doctype html><html lang="en"><head><meta charset="utf-8">${head}</head><body>${body}</body></html>`,
  fileName: 'page.html',
});

/** Asserts that the server still parses a small file. */
export async function expectServing(product: Product): Promise<void> {
  const data = await expectSuccess(product, SMALL_CSV);
  assert.match(data.markdown ?? '', /seventeen herons/);
}

/** Asserts a documented error and that the server still works after it. */
export async function expectErrorThenServing(
  product: Product,
  answer: Promise<Answer>,
  status: number,
  code: string,
  message: RegExp,
): Promise<void> {
  const body = errorBody(await answer, status, code);
  assert.match(body.error, message);
  await expectServing(product);
}

/** Asserts that `details` names this field. */
export function expectFieldInDetails(body: ErrorBody, path: string): void {
  const paths = (body.details ?? []).map((issue) => issue.path);
  assert.ok(
    paths.some((known) => known === path || known.startsWith(`${path}.`) || known.startsWith(`${path}[`)),
    `details must name ${path}, but has ${JSON.stringify(paths)}`,
  );
}

/** Asserts a `Retry-After` of whole seconds, at least 1. @returns the seconds */
export function readRetryAfter(answer: Answer): number {
  const value = String(answer.headers['retry-after'] ?? '');
  assert.match(value, /^[1-9]\d*$/, 'Retry-After must be a whole number of seconds, at least 1');
  return Number(value);
}

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
