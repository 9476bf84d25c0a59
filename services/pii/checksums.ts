// Verifies the check digits of cards, accounts and wallets, which distinguish them from other numbers.
import { createHash } from 'node:crypto';

/** ISO/IEC 7812-1 annex B (Luhn), over decimal digits. */
export function luhnValid(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    let value = digits.charCodeAt(digits.length - 1 - index) - 48;
    if (index % 2 === 1) value = value > 4 ? value * 2 - 9 : value * 2;
    sum += value;
  }
  return digits.length > 0 && sum % 10 === 0;
}

/** ISO 13616-1, MOD 97-10. `iban` has no blanks and is in upper case. */
export function ibanValid(iban: string): boolean {
  const turned = iban.slice(4) + iban.slice(0, 4);
  let rest = 0;
  for (const character of turned) {
    const value = Number.parseInt(character, 36);
    if (Number.isNaN(value)) return false;
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

/** American Bankers Association routing number: the sum with the weights 3, 7 and 1. About one number in ten passes, so the words around it must confirm it. */
export function abaSumValid(digits: string): boolean {
  const weights = [3, 7, 1];
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) sum += (digits.charCodeAt(index) - 48) * weights[index % 3]!;
  return sum % 10 === 0;
}

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Base58Check (Bitcoin, Litecoin, Tron): the last four bytes are the start of the double SHA-256 of the others. */
export function base58CheckValid(address: string): boolean {
  let value = 0n;
  for (const character of address) {
    const digit = BASE58.indexOf(character);
    if (digit < 0) return false;
    value = value * 58n + BigInt(digit);
  }
  const hex = value.toString(16);
  if (hex.length > 50) return false;
  const bytes = Buffer.from(hex.padStart(50, '0'), 'hex');
  const once = createHash('sha256').update(bytes.subarray(0, 21)).digest();
  return createHash('sha256').update(once).digest().subarray(0, 4).equals(bytes.subarray(21));
}

const BECH32 = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const BECH32_GENERATORS = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];

/** BIP 173 and BIP 350: bech32 and bech32m addresses in lower case. */
export function bech32Valid(address: string): boolean {
  const separator = address.lastIndexOf('1');
  if (separator < 1 || address.length > 110) return false;
  const prefix = address.slice(0, separator);
  const values = [...prefix]
    .map((c) => c.charCodeAt(0) >> 5)
    .concat(
      0,
      [...prefix].map((c) => c.charCodeAt(0) & 31),
    );
  for (const character of address.slice(separator + 1)) values.push(BECH32.indexOf(character));
  if (values.some((value) => value < 0)) return false;
  let checksum = 1;
  for (const value of values) {
    const top = checksum >>> 25;
    checksum = ((checksum & 0x1ffffff) << 5) ^ value;
    for (let bit = 0; bit < 5; bit += 1) if ((top >>> bit) & 1) checksum ^= BECH32_GENERATORS[bit]!;
  }
  return checksum === 1 || checksum === 0x2bc830a3;
}
