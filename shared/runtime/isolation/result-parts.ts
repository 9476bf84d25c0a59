// Passes the parts of a result from the frames of an isolated process to the store, one at a time, so that no result is in memory as a whole.

/** A stream of bytes that one side writes and the other reads. Each part waits until it is read. */
export class ResultParts implements AsyncIterable<Uint8Array> {
  #end: { error?: Error } | undefined;
  #part: { body: AsyncIterable<Uint8Array>; read: () => void } | undefined;
  #wake: (() => void) | undefined;
  #stopped = false;

  /** Resolves when the part is read, or when the reader has stopped. */
  add(body: AsyncIterable<Uint8Array>): Promise<void> {
    if (this.#stopped || this.#end) return Promise.resolve();
    return new Promise((read) => {
      this.#part = { body, read };
      this.#wake?.();
    });
  }

  /** No part follows. @param error the result is incomplete; the reader gets this error */
  end(error?: Error): void {
    this.#end ??= error ? { error } : {};
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const part = this.#part;
        if (part) {
          yield* part.body;
          this.#part = undefined;
          part.read();
        } else if (this.#end) {
          if (this.#end.error) throw this.#end.error;
          return;
        } else
          await new Promise<void>((wake) => {
            this.#wake = wake;
          });
      }
    } finally {
      this.#stopped = true;
      this.#part?.read();
    }
  }
}
