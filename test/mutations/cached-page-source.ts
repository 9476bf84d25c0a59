// Caches what a PDF engine reads from a file during mutation testing, because mutants change only the layout code.
import { openPageSource as open } from '#services/pdf/source/open-page-source.ts';
import type { PageContent } from '#services/pdf/source/page-model.ts';
import type { PageSource } from '#services/pdf/source/page-source.ts';

const sources = new WeakMap<Uint8Array, Promise<PageSource>>();

export function openPageSource(...args: Parameters<typeof open>): Promise<PageSource> {
  const [bytes] = args;
  const source = sources.get(bytes) ?? open(...args).then(withCache);
  sources.set(bytes, source);
  return source;
}

function withCache(source: PageSource): PageSource {
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
    // Stays open, because later runs read from it.
    close: async () => undefined,
  };
}
