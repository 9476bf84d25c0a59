// Keeps many small records as bytes in large pages, because JavaScript objects of millions of cells need ten times the memory.

const PAGE_BYTES = 1 << 20;
const FIRST_NUMBERS = 1024;

/** Records of bytes, each with an address. Records are only added. */
export class BytePages {
  /** A record that is larger than a page has a page of its own, which fills the places of several pages. */
  readonly #pages: Buffer[] = [];
  #filled = PAGE_BYTES;

  /** @returns the address of the record */
  add(record: Buffer): number {
    if (this.#filled + record.length > PAGE_BYTES) {
      const places = Math.max(1, Math.ceil(record.length / PAGE_BYTES));
      const page = Buffer.allocUnsafeSlow(places * PAGE_BYTES);
      for (let place = 0; place < places; place++) this.#pages.push(page.subarray(place * PAGE_BYTES));
      const address = (this.#pages.length - places) * PAGE_BYTES;
      record.copy(page);
      // What is left of the last place is used only if the record has a single one.
      this.#filled = places === 1 ? record.length : PAGE_BYTES;
      return address;
    }
    const page = this.#pages[this.#pages.length - 1] as Buffer;
    const offset = this.#filled;
    record.copy(page, offset);
    this.#filled += record.length;
    return (this.#pages.length - 1) * PAGE_BYTES + offset;
  }

  /** The bytes from an address to the end of its page. The record is at their start. */
  from(address: number): Buffer {
    const page = this.#pages[Math.floor(address / PAGE_BYTES)] as Buffer;
    return page.subarray(address % PAGE_BYTES);
  }
}

/** A list of integers from 0 to below 2^32, four bytes each. */
export class NumberList {
  #numbers = new Uint32Array(FIRST_NUMBERS);
  length = 0;

  push(number: number): void {
    if (this.length === this.#numbers.length) {
      const larger = new Uint32Array(this.length * 2);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    this.#numbers[this.length++] = number;
  }

  at(index: number): number {
    return this.#numbers[index] as number;
  }
}
