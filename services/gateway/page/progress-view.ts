// Shows how far the request is, for the eye and for screen readers.
import { announce, required } from './elements.ts';
import type { Progress } from './parse-request.ts';
import { durationText, sizeText } from './units.ts';

/** Screen readers hear a new count at most this often. */
const ANNOUNCE_INTERVAL_MS = 3_000;

export const STAGE_NAMES: Readonly<Record<string, string>> = {
  upload: 'Upload',
  queue: 'Queue',
  convert: 'Convert',
  ocr: 'of which OCR',
  redact: 'Redact',
  enrich: 'Enrich',
};

const STAGE_TEXTS: Readonly<Record<string, string>> = {
  upload: 'Uploading',
  queue: 'Waiting for a free slot',
  convert: 'Reading the document',
  ocr: 'Reading the pages with OCR',
  redact: 'Redacting personal data',
  enrich: 'Writing the summary and the JSON',
};

export class ProgressView {
  readonly #host = required('progress', HTMLElement);
  readonly #bar = required('progress-bar', HTMLProgressElement);
  readonly #text = required('progress-text', HTMLElement);
  readonly #time = required('progress-time', HTMLElement);
  #startedAt = 0;
  #stage = '';
  #announcedAt = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  start(fileName: string): void {
    required('progress-title', HTMLElement).textContent = `Parsing ${fileName}`;
    this.#startedAt = performance.now();
    this.#stage = '';
    this.#host.hidden = false;
    this.#timer = setInterval(() => this.#showTime(), 200);
    this.#showTime();
    this.show({ stage: 'upload' });
  }

  show({ stage, done, total }: Progress): void {
    const known = done !== undefined && total !== undefined && total > 0;
    if (known) {
      this.#bar.max = total;
      this.#bar.value = done;
    } else this.#bar.removeAttribute('value');
    const count = !known
      ? ''
      : stage === 'upload'
        ? `: ${sizeText(done)} of ${sizeText(total)}`
        : `: ${done} of ${total} pages`;
    const text = `${STAGE_TEXTS[stage] ?? 'Working'}${count}`;
    this.#text.textContent = text;
    const now = performance.now();
    if (stage !== this.#stage || now - this.#announcedAt > ANNOUNCE_INTERVAL_MS) {
      announce(text);
      this.#stage = stage;
      this.#announcedAt = now;
    }
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#host.hidden = true;
  }

  #showTime(): void {
    this.#time.textContent = durationText(performance.now() - this.#startedAt);
  }
}
