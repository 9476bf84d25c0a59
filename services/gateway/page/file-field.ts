// Takes the file: chosen, dropped anywhere on the page, or the sample document of the server.
import { announce, required } from './elements.ts';
import type { PageSettings } from './settings.ts';
import { sizeText } from './units.ts';

export class FileField {
  readonly #input = required('file', HTMLInputElement);
  readonly #drop = required('drop', HTMLElement);
  readonly #chosen = required('file-chosen', HTMLElement);
  readonly #onChange: () => void;
  #file: File | undefined;

  constructor(settings: PageSettings, onChange: () => void) {
    this.#onChange = onChange;
    this.#input.accept = settings.formats.map(({ extension }) => extension).join(',');
    required('file-hint', HTMLElement).textContent = `At most ${sizeText(settings.fileBytes)}`;
    this.#input.addEventListener('change', () => {
      const file = this.#input.files?.[0];
      if (file) this.set(file);
    });
    required('file-remove', HTMLButtonElement).addEventListener('click', () => {
      this.set(undefined);
      this.#input.focus();
    });
    this.#acceptDrops();
  }

  get file(): File | undefined {
    return this.#file;
  }

  set(file: File | undefined): void {
    const hadFocus = document.activeElement === this.#input;
    this.#file = file;
    this.#input.value = '';
    this.#drop.hidden = file !== undefined;
    this.#chosen.hidden = file === undefined;
    required('file-name', HTMLElement).textContent = file?.name ?? '';
    required('file-size', HTMLElement).textContent = file ? sizeText(file.size) : '';
    if (file && hadFocus) required('file-remove', HTMLButtonElement).focus();
    announce(file ? `${file.name} is chosen` : 'The file is removed');
    this.#onChange();
  }

  /** The sample document. @throws Error if the server does not have it */
  async useSample(): Promise<void> {
    const response = await fetch('/page/sample.pdf');
    if (!response.ok) throw new Error('This server has no sample document.');
    this.set(new File([await response.blob()], 'sample.pdf', { type: 'application/pdf' }));
  }

  focus(): void {
    this.#input.focus();
  }

  #acceptDrops(): void {
    const root = document.documentElement;
    const hasFile = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false;
    addEventListener('dragover', (event) => {
      if (!hasFile(event)) return;
      event.preventDefault();
      root.classList.add('dragging');
    });
    addEventListener('dragleave', (event) => {
      if (event.relatedTarget === null) root.classList.remove('dragging');
    });
    addEventListener('drop', (event) => {
      root.classList.remove('dragging');
      const file = event.dataTransfer?.files[0];
      if (!file) return;
      event.preventDefault();
      this.set(file);
    });
  }
}
