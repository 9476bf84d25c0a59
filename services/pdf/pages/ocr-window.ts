// Holds back the pages of a document on their way to OCR: as many go as workers take, and a few wait ahead of them.
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';

/** A page that was let through. */
interface WindowPlace {
  /** A worker took it. Telling it again (another worker after the death of the first) changes nothing. */
  started(): void;
  /** It was answered, or will never be. */
  ended(): void;
}

export class OcrWindow {
  #waiting = 0;
  #underWay = 0;
  #wake: () => void = () => undefined;

  /** Resolves once one more page may go; one caller at a time. */
  async enter(): Promise<WindowPlace> {
    const { ocrPagesWaiting, ocrPagesInFlight } = TRANSPORT_LIMITS;
    while (this.#waiting >= ocrPagesWaiting || this.#underWay >= ocrPagesInFlight)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    this.#waiting += 1;
    this.#underWay += 1;
    let state: 'waiting' | 'started' | 'ended' = 'waiting';
    return {
      started: () => {
        if (state !== 'waiting') return;
        state = 'started';
        this.#waiting -= 1;
        this.#wake();
      },
      ended: () => {
        if (state === 'ended') return;
        if (state === 'waiting') this.#waiting -= 1;
        state = 'ended';
        this.#underWay -= 1;
        this.#wake();
      },
    };
  }
}
