// Runs the cases of the API contract (docs/api.md) over HTTP against a started product, once for each transport, or against the server at PRODUCT_URL.
import { after, before, describe, type TestContext, test } from 'node:test';
import { type Product, skipReason, startProduct, TRANSPORTS } from '../harness/product.ts';
import { NotAvailableError, runningProduct } from '../harness/running-product.ts';
import { cases as badInput } from './bad-input.cases.ts';
import { cases as blocks } from './blocks.cases.ts';
import { cases as cli } from './cli.cases.ts';
import type { ContractCase } from './contract-case.ts';
import { cases as documentation } from './documentation.cases.ts';
import { cases as endpoints } from './endpoints.cases.ts';
import { cases as errors } from './errors.cases.ts';
import { cases as formats } from './formats.cases.ts';
import { cases as http } from './http.cases.ts';
import { cases as images } from './images.cases.ts';
import { cases as kinds } from './kinds.cases.ts';
import { cases as limits } from './limits.cases.ts';
import { cases as markdown } from './markdown.cases.ts';
import { cases as mcp } from './mcp.cases.ts';
import { cases as metadata } from './metadata.cases.ts';
import { cases as mistakes } from './mistakes.cases.ts';
import { cases as openWebui } from './open-webui.cases.ts';
import { cases as effects } from './option-effects.cases.ts';
import { cases as options } from './options.cases.ts';
import { cases as parsers } from './parsers.cases.ts';
import { cases as pictures } from './pictures.cases.ts';
import { cases as plans } from './plans.cases.ts';
import { cases as redact } from './redact.cases.ts';
import { cases as request } from './request.cases.ts';
import { cases as response } from './response.cases.ts';
import { cases as responseTypes } from './response-types.cases.ts';
import { cases as running } from './running.cases.ts';
import { cases as sdk } from './sdk.cases.ts';
import { cases as pythonSdk } from './sdk-python.cases.ts';

// The slowest cases come first (a stalled upload waits 30 s), so that the others run in parallel with them.
const CASES: readonly ContractCase[] = [
  ...limits,
  ...errors,
  ...plans,
  ...endpoints,
  ...documentation,
  ...request,
  ...badInput,
  ...mistakes,
  ...options,
  ...effects,
  ...formats,
  ...parsers,
  ...blocks,
  ...images,
  ...redact,
  ...response,
  ...responseTypes,
  ...markdown,
  ...kinds,
  ...pictures,
  ...metadata,
  ...http,
  ...running,
  ...openWebui,
  ...sdk,
  ...pythonSdk,
  ...cli,
  ...mcp,
];
const only = process.env.CASES === undefined ? undefined : new RegExp(process.env.CASES, 'i');
const chosen = CASES.filter((one) => only === undefined || only.test(one.name));

/** @param product the product, which is started before the first test runs */
function declareCases(product: () => Product): void {
  const run = async (one: ContractCase, context: TestContext): Promise<void> => {
    try {
      await one.run(product(), context);
    } catch (error) {
      if (!(error instanceof NotAvailableError)) throw error;
      context.skip(error.message);
    }
  };
  const declare = (cases: readonly ContractCase[]) => {
    for (const one of cases) test(one.name, (context) => run(one, context));
  };
  describe('cases that run first', () => declare(chosen.filter((one) => one.alone === 'first')));
  describe('cases that run in parallel', { concurrency: 6 }, () => declare(chosen.filter((one) => !one.alone)));
  describe('cases that run last', () => declare(chosen.filter((one) => one.alone === 'last')));
}

const server = runningProduct();
if (server) describe(`contract of ${server.url}`, () => declareCases(() => server));
else
  for (const transport of TRANSPORTS)
    describe(`contract over ${transport}`, { skip: skipReason(transport) }, () => {
      let product: Product;
      before(async () => {
        product = await startProduct({ transport });
      });
      after(async () => {
        await product?.stop();
      });
      declareCases(() => product);
    });
