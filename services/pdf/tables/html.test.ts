// Holds the HTML of tables with and without a head.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TableGrid } from '../text/blocks.ts';
import { tableHtml } from './html.ts';

const grid = (headerRows: number): TableGrid => ({
  columns: 1,
  headerRows,
  rows: ['Bird', 'Gull'].map((text) => [{ text, html: text, column: 0, colspan: 1, rowspan: 1 }]),
});

test('a table without a head has no empty one, and a head alone no empty body', () => {
  assert.equal(
    tableHtml(grid(1)),
    '<table><thead><tr><th>Bird</th></tr></thead><tbody><tr><td>Gull</td></tr></tbody></table>',
  );
  assert.equal(tableHtml(grid(0)), '<table><tbody><tr><td>Bird</td></tr><tr><td>Gull</td></tr></tbody></table>');
  assert.equal(tableHtml(grid(2)), '<table><thead><tr><th>Bird</th></tr><tr><th>Gull</th></tr></thead></table>');
});
