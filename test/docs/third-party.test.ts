// Tests how the generator of THIRD-PARTY-NOTICES.md reads the Dockerfile. test/e2e/image-files.test.ts checks that the file is current.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { debianPackages, debianTable } from './third-party.ts';

test('Debian packages are read from apt-get commands and build arguments, without the stage that builds Node', () => {
  const dockerfile = [
    'ARG LANGUAGES="eng deu"',
    'ARG OFFICE_PACKAGES="libreoffice-writer-nogui fonts-liberation"',
    'FROM x AS node',
    'RUN apt-get install -y --no-install-recommends binutils',
    'FROM y AS system',
    'RUN apt-get update \\',
    ` && apt-get install -y --no-install-recommends tini $(for language in \${LANGUAGES}; do echo "tesseract-ocr-\${language}"; done) \\`,
    ' && cd /tmp && apt-get download tesseract-ocr \\',
    `RUN apt-get install -y --no-install-recommends \${OFFICE_PACKAGES} \\`,
  ].join('\n');
  assert.deepEqual(debianPackages(dockerfile), [
    'fonts-liberation',
    'libreoffice-writer-nogui',
    'tesseract-ocr',
    'tesseract-ocr-deu',
    'tesseract-ocr-eng',
    'tini',
  ]);
  assert.throws(() => debianPackages(dockerfile.replace('tini', `\${OTHER}`)), /which is not a name/);
});

test('a Debian package without a known licence is an error', () =>
  assert.throws(() => debianTable(['tini', 'libother']), /add the licence of libother/));
