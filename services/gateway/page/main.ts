// Starts the page: connects the form, the request and the result.
import type { Options } from './code.ts';
import { CodeView } from './code-view.ts';
import { announce, required, scrollBehavior } from './elements.ts';
import { failureCard } from './failure-view.ts';
import { FileField } from './file-field.ts';
import { KeyField } from './key.ts';
import { FormError, OptionsForm } from './options-form.ts';
import type { PageSource } from './pages-view.ts';
import { type ApiFailure, type Outcome, RequestError, sendParse } from './parse-request.ts';
import { PdfFile } from './pdf-file.ts';
import { ProgressView } from './progress-view.ts';
import { redactionOf } from './redactions.ts';
import { ResultView } from './result-view.ts';
import { formatOf, loadSettings, type PageSettings } from './settings.ts';
import { countText, durationText, sizeText } from './units.ts';

/** The name in the shown code while no file is chosen. */
const EXAMPLE_NAME = 'document.pdf';

class App {
  readonly #settings: PageSettings;
  readonly #form = required('request', HTMLFormElement);
  readonly #parse = required('parse', HTMLButtonElement);
  readonly #cancel = required('cancel', HTMLButtonElement);
  readonly #message = required('form-message', HTMLElement);
  readonly #start = required('start', HTMLElement);
  readonly #error = required('error', HTMLElement);
  readonly #outcome = required('outcome', HTMLElement);
  readonly #progress = new ProgressView();
  readonly #key: KeyField;
  readonly #file: FileField;
  readonly #options: OptionsForm;
  readonly #code: CodeView;
  #running: AbortController | undefined;
  #result: ResultView | undefined;
  #pdf: PdfFile | undefined;
  #pictureUrl = '';

  constructor(settings: PageSettings) {
    this.#settings = settings;
    this.#options = new OptionsForm(this.#form, settings);
    this.#key = new KeyField(() => this.#onInput());
    this.#file = new FileField(settings, () => this.#onInput());
    this.#code = new CodeView('start', this.#codeRequest({}, EXAMPLE_NAME));
    required('start-code', HTMLElement).append(this.#code.host);
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#submit();
    });
    this.#form.addEventListener('input', () => this.#onInput());
    this.#cancel.addEventListener('click', () => this.#running?.abort());
    for (const id of ['sample', 'sample-start'])
      required(id, HTMLButtonElement).addEventListener('click', () => void this.#parseSample());
    this.#onInput();
    // Before, a click would be lost.
    for (const id of ['parse', 'sample', 'sample-start']) required(id, HTMLButtonElement).disabled = false;
  }

  #codeRequest(options: Options, fileName: string) {
    return { url: location.origin, key: this.#key.value, fileName, options };
  }

  /** Keeps the shown code equal to the form. */
  #onInput(): void {
    this.#message.textContent = '';
    try {
      const name = this.#file.file?.name ?? EXAMPLE_NAME;
      this.#code.update(this.#codeRequest(this.#options.read(name), name));
    } catch (error) {
      if (!(error instanceof FormError)) throw error;
    }
  }

  async #parseSample(): Promise<void> {
    try {
      await this.#file.useSample();
    } catch (error) {
      this.#message.textContent = messageOf(error);
      return;
    }
    await this.#submit();
  }

  async #submit(): Promise<void> {
    if (this.#running) return;
    this.#message.textContent = '';
    this.#key.keep();
    const key = this.#key.value;
    const { file } = this.#file;
    if (key === '') {
      this.#key.ask();
      this.#message.textContent = 'Paste an API key first.';
      return;
    }
    if (!file) {
      this.#file.focus();
      this.#message.textContent = 'Choose a file first.';
      return;
    }
    let options: Options;
    try {
      options = this.#options.read(file.name);
    } catch (error) {
      if (!(error instanceof FormError)) throw error;
      this.#message.textContent = error.message;
      error.field.closest('details')?.setAttribute('open', '');
      error.field.focus();
      return;
    }
    await this.#run(key, file, options);
  }

  async #run(key: string, file: File, options: Options): Promise<void> {
    const running = new AbortController();
    this.#running = running;
    this.#setBusy(true);
    this.#clear();
    this.#progress.start(file.name);
    try {
      if (file.size > this.#settings.fileBytes) throw new RequestError(tooLarge(file, this.#settings));
      const outcome = await sendParse({
        key,
        file,
        options,
        signal: running.signal,
        onProgress: (progress) => this.#progress.show(progress),
      });
      await this.#show(file, options, outcome);
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#progress.stop();
      this.#running = undefined;
      this.#setBusy(false);
    }
  }

  #setBusy(busy: boolean): void {
    // The button is not disabled, because a disabled button loses the focus.
    this.#parse.setAttribute('aria-disabled', String(busy));
    const hadFocus = document.activeElement === this.#cancel;
    this.#cancel.hidden = !busy;
    if (!busy && hadFocus) this.#parse.focus();
  }

  #clear(): void {
    this.#result?.close();
    this.#result = undefined;
    void this.#pdf?.close();
    this.#pdf = undefined;
    URL.revokeObjectURL(this.#pictureUrl);
    this.#start.hidden = true;
    this.#error.hidden = true;
    this.#outcome.hidden = true;
    this.#error.replaceChildren();
    this.#outcome.replaceChildren();
    // On a narrow screen the progress and the result are below the form.
    document.getElementById('result')?.scrollIntoView({ block: 'nearest', behavior: scrollBehavior() });
  }

  async #show(file: File, options: Options, outcome: Outcome): Promise<void> {
    const pages = await this.#openPages(file, options, outcome);
    const view = new ResultView({
      fileName: file.name,
      outcome,
      pages,
      request: this.#codeRequest(options, file.name),
      redaction: redactionOf(options, this.#settings.piiEntities),
    });
    this.#result = view;
    this.#outcome.hidden = false;
    view.mount(this.#outcome);
    const { numPages } = outcome.data.metadata;
    announce(
      `Done in ${durationText(outcome.totalMs)}${numPages === undefined ? '' : `, ${countText(numPages, 'page')}`}. ${outcome.data.warning ?? ''}`,
    );
  }

  /** What the browser can draw of the file itself. The result is shown without it if the browser cannot open it. */
  async #openPages(file: File, options: Options, { data }: Outcome) {
    const nothing = { source: { kind: 'none' } satisfies PageSource as PageSource, ratio: undefined, count: 0 };
    if (data.metadata.contentType === 'application/pdf') {
      try {
        this.#pdf = await PdfFile.open(file, this.#settings.pdfjs, passwordOf(options));
        const { ratio } = await this.#pdf.sizeOf(data.blocks?.[0]?.pageNumber ?? 1);
        return { source: { kind: 'pdf' as const, file: this.#pdf }, ratio, count: this.#pdf.pageCount };
      } catch {
        return nothing;
      }
    }
    if (!formatOf(file.name, this.#settings)?.hasPages) return nothing;
    this.#pictureUrl = URL.createObjectURL(file);
    return { source: { kind: 'picture' as const, url: this.#pictureUrl }, ratio: undefined, count: 1 };
  }

  #fail(error: unknown): void {
    if (error instanceof DOMException && error.name === 'AbortError') {
      this.#start.hidden = false;
      this.#message.textContent = 'Cancelled.';
      return;
    }
    const failure: ApiFailure = error instanceof RequestError ? error.failure : { status: 0, error: messageOf(error) };
    this.#error.hidden = false;
    this.#error.replaceChildren(failureCard(failure));
    if (failure.status === 401) this.#key.ask();
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A browser reports a response that arrives during the upload as a lost connection, so the page checks the size itself. */
function tooLarge(file: File, settings: PageSettings): ApiFailure {
  return {
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
    error: `Payload Too Large: the file has ${sizeText(file.size)}, and this server accepts at most ${sizeText(settings.fileBytes)}. It was not sent.`,
  };
}

function passwordOf({ parsers }: Options): string | undefined {
  const [parser] = (parsers ?? []) as { password?: string }[];
  return parser?.password;
}

new App(await loadSettings());
