// Each recognizer against what it must find, marked by [[ ]], and what it must leave alone.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resolveOverlaps } from '../overlap.ts';
import { contextOf, type PiiMode, type Recognizer } from '../recognizer.ts';
import { RECOGNIZERS } from '../registry.ts';

/** Secrets are put together here, so that none lies in the repository. */
function random(length: number, alphabet = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789'): string {
  let state = 42 + length;
  const draw = (): string => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return alphabet[(state >>> 16) % alphabet.length]!;
  };
  // Lower case, upper case and a digit are always among them.
  return `aG7${Array.from({ length: length - 3 }, draw).join('')}`;
}
const hex = (length: number): string => random(length, '0123456789abcdef').replace('aG7', 'a07');
const dashes = '-'.repeat(5);

const CASES: Record<string, { mode?: PiiMode; texts: string[] }> = {
  email: {
    texts: [
      'a [[j.doe+x@sub.dept.example.co.uk]], b',
      "([[o'hara@firm.test]])",
      'mailto:[[a_b@xn--bcher-kva.example]]?subject=x',
      '[[müller@bücher.example]].',
      "'[[x@y.example]]'",
      'a@b',
      'pkg@1.2.3',
      'icon@2x.png',
      'postgres://app:pw123@db.internal/main',
      'git@github.com:acme/app.git',
      '@example.org',
      'see [[a@b.example]]:8080',
    ],
  },
  'email-spelled': { mode: 'fast', texts: ['write [[jane (at) example (dot) org]] now', 'meet at noon dot'] },
  phone: {
    texts: [
      'Tel: [[+1 (212) 555-0118]]',
      'Call me at [[020 7946 0509]] after five.',
      '| A | [[+44 7700 900401]] | open |',
      '[[(415) 555-0102]]',
      'fax [[555-0162]]',
      'Desk: [[+41 (0)96 471 07 95]]',
      'call [[345-899-3560x4587]]',
      'Tel: [[030 / 23125 522]]',
      'Range 626-723-382 to 746',
      'ISBN 978-0-179-48896-9',
      'Part No. 857-8169-80',
      'Invoice INV-7253-981116',
      '2023-10-18',
      'x = 7.197259058574199',
      '| 4904 | 811,644 | 9907078 |',
      'SSN: 460-89-9847',
      'ip 10.88.0.6 port 8083',
      'ext. 204, room 12',
      '$1,234,567.00',
      'Order no. 5622906389 shipped',
      '12-05-2019',
    ],
  },
  'phone-link': { texts: ['tel:[[+1-212-555-0108]]', 'https://wa.me/[[447700900123]]', 'hotel:+12'] },
  'payment-card': {
    texts: [
      'Card: [[4111 1111 1111 1111]], exp 09/27',
      'charged to [[378282246310005]]',
      'amex [[3782-822463-10005]]',
      'card [[4222222222222]]',
      'card [[6304000000000000]]',
      'no 4111111111111112',
      '41111111111111111111111',
      'id 630400000000',
      '1111 1111 1111 1111',
      'v4111111111111111',
    ],
  },
  iban: {
    texts: [
      'IBAN: [[GB33BUKB20201555555555]].',
      'to [[DE89 3704 0044 0532 0130 00]] by Friday',
      'DE89 3704 0044 0532 0130 01',
      'XX33BUKB20201555555555',
      'AGB33BUKB20201555555555',
    ],
  },
  'routing-number': { texts: ['ABA routing: [[021000021]]', 'Routing number [[021000021]], x', 'Number 021000021'] },
  'account-number': {
    texts: [
      'Acct # [[796718236794]]',
      'account number is [[12345678]]',
      'on account of 2019 losses',
      'account of 12345678 units',
    ],
  },
  'sort-code': { texts: ['Sort code [[69-96-25]] account', 'score 69-96-25'] },
  bic: { texts: ['BIC [[BUKBGB22]].', 'SWIFT/BIC: [[UBSWCHZH80A]]', 'the SWIFT language', 'BUKBGB22', 'BIC ABCDXQ22'] },
  'crypto-wallet': {
    texts: [
      'to [[1BoatSLRHtKNngkdXEeobR76b53LETtpyT]]',
      '[[bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4]]',
      '[[0x52908400098527886E0F7030069857D2E4169EE7]]',
      '1BoatSLRHtKNngkdXEeobR76b53LETtpyU',
      'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5',
    ],
  },
  'api-key': {
    texts: [
      `id [[${'AKI'}A${random(16, 'ABC2DEF3').toUpperCase()}]]`,
      `[[gh${'p_'}${random(36)}]] was`,
      `xoxb [[xo${'xb-'}123456789012-123456789012-${random(24)}]]`,
      `[[sk${'_live_'}${random(24)}]]`,
      `k=[[AI${'za'}${random(35)}]]`,
      `[[S${'G.'}${random(22)}.${random(43)}]]`,
      'sk-learn-contributors-guide-book',
      'AKIA',
      'npm_config_registry_of_the_company',
    ],
  },
  'private-key': {
    texts: [
      `a\n[[${dashes}BEGIN EC PRIVATE KEY${dashes}\n${random(64)}\n${dashes}END EC PRIVATE KEY${dashes}]]\nb`,
      `${dashes}BEGIN PUBLIC KEY${dashes}\nx\n${dashes}END PUBLIC KEY${dashes}`,
      `[[${dashes}BEGIN PRIVATE KEY${dashes}\n${random(64)}]]`,
    ],
  },
  'json-web-token': { texts: [`was [[e${'yJ'}${random(17)}.eyJ${random(40)}.${random(43)}]] (expired)`, 'eyJabc.def'] },
  'authorization-header': {
    texts: [
      `Authorization: Bearer [[${random(40)}]]`,
      'Bearer instruments of the company',
      'basic information about something',
    ],
  },
  'connection-string': {
    texts: [
      `postgres://app:[[${random(16)}]]@db.internal:5432/main`,
      'https://example.org:8080/a@b',
      `redis://:[[${random(10)}]]@cache`,
      `http://user:${'$'}{PASSWORD}@host`,
    ],
  },
  'assigned-secret': {
    texts: [
      `password: [[${random(12)}]]`,
      `My password is [[${random(10)}!]] please`,
      `DB_PASSWORD=[[${random(18)}]]`,
      `api_key = "[[${random(32)}]]"`,
      `secret_key: [[${hex(64)}]]`,
      'password: none',
      'api_key = "YOUR_API_KEY"',
      `AWS_SECRET_ACCESS_KEY=${'$'}{AWS_SECRET_ACCESS_KEY}`,
      'secret: changeme-placeholder',
      'Enter your API key in the settings page.',
      'the password is required',
      'token is invalid',
    ],
  },
  'named-token': { texts: [`the key [[${random(32)}]] was`, `${random(32)} stands alone`, `commit key ${hex(40)}`] },
  'loose-token': {
    mode: 'aggressive',
    texts: [`x [[${random(40)}]] y`, 'getElementsByClassNameAndSomethingElse2021Version', hex(64)],
  },
  'street-address': {
    texts: [
      'Bill to [[18 Harbour Street, Bristol BS1 4QA]]',
      'lives at [[5049 Harjukuja 54, SEINÄJOKI]]',
      'visit [[Hauptstraße 12]] soon',
      '[[Rua do Arenque 1634, Goiânia]]',
      '[[PSC 6293, Box 8158\nAPO AP 04336]]',
      'address is [[28245 Puruntie 82 Apt. 595\nLappeenranta\nFinland 53650]]',
      'On 15 March 2004 the',
      '12 Angry Men',
      'paid $12 Main Street',
      'Section 4 Table 5',
      'We sold 300 Widgets 12 times',
    ],
  },
  postcode: {
    texts: [
      'Bristol [[BS1 4QA]]',
      'my zip code is [[35350]]',
      'Austin, [[TX 78701]]',
      'part AB12',
      'Ottawa [[K1A 0B1]]',
      'code 35350',
    ],
  },
  'introduced-place': {
    texts: [
      'We moved here from [[Kenosha]]',
      'grew up in [[Remniku]].',
      'born in March',
      'I live in a house',
      'I am in [[Sutri]] for',
    ],
  },
  'listed-place': {
    mode: 'fast',
    texts: [
      'offices in [[Berlin]] and [[Hong Kong]]',
      'the [[United Kingdom]] and [[Iraq]]',
      'Reading is fun',
      'Chelsea won',
    ],
  },
  'titled-person': {
    texts: ['Mr. [[Pálffy]] is', 'Dr. [[Kyle Kuefer]]. Who', 'President of the', 'Sir bot', 'Capt. [[Jeff Davis]] who'],
  },
  'introduced-person': {
    texts: [
      'My name is [[Abbas Kadyrov]].',
      'Dear [[Jane]],',
      'directed by [[Joakim Westgård]] and',
      "I'm Happy",
      'This is Important',
      'Hi there',
      'Dear Customer,',
    ],
  },
  'acting-person': {
    texts: ['[[Tomomi Nishiyama]] lives at 5', '[[Leif]], can I please', 'Reuters said', 'The Council said', 'He said'],
  },
  'initialled-person': { texts: ['Meet [[Hanne I. Kreutzmann]] from', 'Vitamin C Complex', 'Section A Part'] },
  'listed-people': {
    texts: [
      'They: [[Hannah]], [[Anthony]], [[Derek]] and [[Gaetane]].',
      'Red, Green and Blue',
      'Monday, Tuesday and Friday',
    ],
  },
  'named-by-list': {
    texts: [
      'by [[Maria Gonzalez]] and',
      'The Bill passed; Grant funding will follow.',
      'Morgan Stanley Bank',
      'James Street',
    ],
  },
};

function marked(text: string): { plain: string; fragments: string[] } {
  return {
    plain: text.replaceAll('[[', '').replaceAll(']]', ''),
    fragments: [...text.matchAll(/\[\[([\s\S]*?)\]\]/g)].map((match) => match[1]!),
  };
}

function find(recognizer: Recognizer, text: string, mode: PiiMode): string[] {
  const spans = recognizer.find(text, contextOf(text, mode)).filter((span) => span.score >= 0.5);
  return resolveOverlaps(spans).map((span) => text.slice(span.start, span.end));
}

for (const [name, { mode = 'accurate', texts }] of Object.entries(CASES))
  describe(name, () => {
    const recognizer = RECOGNIZERS.find((row) => row.name === name);
    for (const text of texts) {
      const { plain, fragments } = marked(text);
      it(plain.slice(0, 24).replaceAll('\n', ' '), () => {
        assert.ok(recognizer);
        assert.ok(recognizer.modes.includes(mode));
        assert.deepEqual(find(recognizer, plain, mode), fragments);
      });
    }
  });

describe('the table', () => {
  it('names each recognizer once', () =>
    assert.equal(new Set(RECOGNIZERS.map((row) => row.name)).size, RECOGNIZERS.length));
  it('gives spans inside the text, on any text', () => {
    const texts = [
      '',
      '\n',
      '\u0000\uffff',
      '𝕵𝖆𝖓𝖊 😀@example.org',
      '('.repeat(300),
      'a@'.repeat(200),
      `${'1 '.repeat(300)}`,
      '|\n|\n|',
      'Mr. ',
      'password: ',
      '-----BEGIN PRIVATE KEY-----',
    ];
    for (const text of texts)
      for (const recognizer of RECOGNIZERS)
        for (const span of recognizer.find(text, contextOf(text, 'aggressive')))
          assert.ok(span.start >= 0 && span.start < span.end && span.end <= text.length, recognizer.name);
  });
});
