// Every row of SPEC sections 2, 4, 5, 7, 8 and 9 and every line of DECISIONS, over HTTP against the started product, over both transports.
import { after, before, describe, test } from 'node:test';
import { type Product, skipReason, startProduct, TRANSPORTS } from '../harness/product.ts';
import { rows as badInput } from './bad-input.rows.ts';
import { rows as blocks } from './blocks.rows.ts';
import { rows as endpoints } from './endpoints.rows.ts';
import { rows as errors } from './errors.rows.ts';
import { rows as formats } from './formats.rows.ts';
import { rows as limits } from './limits.rows.ts';
import { rows as markdown } from './markdown.rows.ts';
import { rows as metadata } from './metadata.rows.ts';
import { rows as effects } from './option-effects.rows.ts';
import { rows as options } from './options.rows.ts';
import { rows as parsers } from './parsers.rows.ts';
import { rows as plans } from './plans.rows.ts';
import { rows as redact } from './redact.rows.ts';
import { rows as request } from './request.rows.ts';
import { rows as response } from './response.rows.ts';
import type { Row } from './row.ts';
import { rows as running } from './running.rows.ts';
import { rows as sdk } from './sdk.rows.ts';

// What takes longest (a stalled upload waits 30 s) comes first, so that the rest runs beside it.
const ROWS: readonly Row[] = [
  ...limits,
  ...errors,
  ...plans,
  ...endpoints,
  ...request,
  ...badInput,
  ...options,
  ...effects,
  ...formats,
  ...parsers,
  ...blocks,
  ...redact,
  ...response,
  ...markdown,
  ...metadata,
  ...running,
  ...sdk,
];
const only = process.env.ROWS === undefined ? undefined : new RegExp(process.env.ROWS, 'i');
const chosen = ROWS.filter((row) => only === undefined || only.test(row.name));

for (const transport of TRANSPORTS)
  describe(`contract over ${transport}`, { skip: skipReason(transport) }, () => {
    let product: Product;
    before(async () => {
      product = await startProduct({ transport });
    });
    after(async () => {
      await product?.stop();
    });

    const declare = (rows: readonly Row[]) => {
      for (const row of rows) test(row.name, { timeout: 240_000 }, (context) => row.run(product, context));
    };
    describe('rows that come first', () => declare(chosen.filter((row) => row.alone === 'first')));
    describe('rows side by side', { concurrency: 6 }, () => declare(chosen.filter((row) => !row.alone)));
    describe('rows that come last', () => declare(chosen.filter((row) => row.alone === 'last')));
  });
