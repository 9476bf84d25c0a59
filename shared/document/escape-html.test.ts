// Checks what escapeHtml escapes, drops and keeps.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { escapeHtml } from './escape-html.ts';

test('escapes markup and quotes, drops control characters and keeps white space', () => {
  assert.equal(escapeHtml('<a href="b">&amp;'), '&lt;a href=&quot;b&quot;&gt;&amp;amp;');
  assert.equal(escapeHtml('a\u0000b\u0008c\u001fd\ufffee\uffff'), 'abcde');
  // Office formats use the vertical tab as a line break.
  assert.equal(escapeHtml('a\t\n\v\f\rb'), 'a\t\n\v\f\rb');
});
