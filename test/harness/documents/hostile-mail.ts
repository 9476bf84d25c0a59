// Mail messages that try to exhaust the server: many parts, deep nesting, long headers, and encodings that inflate or never end.
import type { Hostile } from './hostile.ts';

const TEXT = 'Content-Type: text/plain; charset=utf-8\r\n\r\n';

/** A multipart message in which each level contains only the next one. */
function nested(levels: number): string {
  const opening = Array.from(
    { length: levels },
    (_, level) => `Content-Type: multipart/mixed; boundary=b${level}x\r\n\r\n--b${level}x\r\n`,
  );
  return `Subject: deep\r\n${opening.join('')}${TEXT}words\r\n`;
}

const mail = (what: string, make: () => string): Hostile => ({
  what,
  fileName: 'a.eml',
  make: () => Buffer.from(make()),
});

export const HOSTILE_MAIL: readonly Hostile[] = [
  mail(
    '10,000 parts',
    () => `Content-Type: multipart/mixed; boundary=b\r\n\r\n${`--b\r\n${TEXT}word\r\n`.repeat(10_000)}--b--`,
  ),
  mail(
    '1,000,000 boundaries',
    () => `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\n'.repeat(1_000_000)}`,
  ),
  mail('multipart nesting of 100', () => nested(100)),
  mail('multipart nesting of 100,000', () => nested(100_000)),
  mail(
    '100,000 messages in messages',
    () => `${'Subject: s\r\nContent-Type: message/rfc822\r\n\r\n'.repeat(100_000)}Subject: last\r\n\r\nwords`,
  ),
  mail('a header of 10 MB', () => `Subject: ${'x'.repeat(10_000_000)}\r\n\r\nbody`),
  mail('1,000,000 recipients', () => `To: ${'a@b.example, '.repeat(1_000_000)}c@d.example\r\n\r\nbody`),
  mail('100,000 encoded words', () => `Subject: ${'=?utf-8?q?a?= '.repeat(100_000)}\r\n\r\nbody`),
  mail('40 MB of invalid base64', () => `Content-Transfer-Encoding: base64\r\n${TEXT}${'%'.repeat(40_000_000)}`),
  mail('20 MB of quote signs', () => `${TEXT}${'>'.repeat(20_000_000)}`),
  mail(
    'a boundary of 1,000,000 characters',
    () => `Content-Type: multipart/mixed; boundary=${'b'.repeat(1_000_000)}\r\n\r\n--b\r\n\r\nwords`,
  ),
];
