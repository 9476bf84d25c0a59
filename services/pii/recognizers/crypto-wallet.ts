// Addresses of crypto wallets, by their own checksums.
import { base58CheckValid, bech32Valid } from '../checksums.ts';
import { ALL_MODES, type Recognizer, type Span } from '../recognizer.ts';

const BASE58_ADDRESS = /(?<![A-Za-z0-9])[13LMTDX][1-9A-HJ-NP-Za-km-z]{25,34}(?![A-Za-z0-9])/g;
const BECH32_ADDRESS = /(?<![A-Za-z0-9])(?:bc1|tb1|ltc1|addr1|cosmos1)[02-9ac-hj-np-z]{11,99}(?![A-Za-z0-9])/g;
const ETHEREUM_ADDRESS = /(?<![A-Za-z0-9])0x[0-9a-fA-F]{40}(?![A-Za-z0-9])/g;

export const cryptoWallet: Recognizer = {
  entity: 'FINANCIAL',
  name: 'crypto-wallet',
  modes: ALL_MODES,
  inUrls: true,
  find(text) {
    const spans: Span[] = [];
    const add = (pattern: RegExp, valid: (address: string) => boolean): void => {
      for (const match of text.matchAll(pattern))
        if (valid(match[0]))
          spans.push({ start: match.index, end: match.index + match[0].length, entity: 'FINANCIAL', score: 0.97 });
    };
    add(BASE58_ADDRESS, base58CheckValid);
    add(BECH32_ADDRESS, bech32Valid);
    // EIP-55 hides a checksum in the letters' case, by Keccak, which Node's crypto has not: forty hex digits behind 0x are enough.
    add(ETHEREUM_ADDRESS, () => true);
    return spans;
  },
};
