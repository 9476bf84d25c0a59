// Stands before the PDF engines while mutants are tried: what an engine read of a file is kept, since only what is made of it changes.
import { openPageSource as open } from '#services/pdf/source/open-page-source.ts';
import type { PageContent } from '#services/pdf/source/page-model.ts';
import type { PageSource } from '#services/pdf/source/page-source.ts';

const read = new WeakMap<Uint8Array, Promise<PageSource>>();

export function openPageSource(...args: Parameters<typeof open>): Promise<PageSource> {
  const [bytes] = args;
  const source = read.get(bytes) ?? open(...args).then(recorded);
  read.set(bytes, source);
  return source;
}

function recorded(source: PageSource): PageSource {
  const outline = source.outline();
  outline.catch(() => undefined);
  const pages = new Map<number, Promise<PageContent>>();
  return {
    engine: source.engine,
    pageCount: source.pageCount,
    info: source.info,
    outline: () => outline,
    readPage(index) {
      const page = pages.get(index) ?? source.readPage(index);
      pages.set(index, page);
      return page;
    },
    renderGrey: (index, dpi) => source.renderGrey(index, dpi),
    // The next trial reads on.
    close: async () => undefined,
  };
}
