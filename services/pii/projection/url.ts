// Projects a URL with its percent-encoding decoded, so that `%40` is found as `@`.
import { readReference } from '#shared/document/source/character-references.ts';
import type { ProjectionBuilder } from './projection.ts';

const ENCODED = /%[0-9a-f]{2}/iy;

/** Bytes of the UTF-8 sequence that starts with this byte. */
const sequenceLength = (first: number): number =>
  first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;

/** Adds source[start, end) to a `url` builder, on a new line. `data:` URLs are left out, because they contain encoded files. */
export function projectUrl(builder: ProjectionBuilder, source: string, start: number, end: number): void {
  builder.startLine();
  if (/^\s{0,9}data:/i.test(source.slice(start, start + 15))) return;
  let index = start;
  let copied = start;
  while (index < end) {
    const character = source[index];
    if (character !== '%' && character !== '&') {
      index += 1;
      continue;
    }
    let text: string | undefined;
    let length = 0;
    if (character === '&') {
      const reference = readReference(source, index);
      text = reference?.text;
      length = reference?.length ?? 0;
    } else {
      ENCODED.lastIndex = index;
      if (ENCODED.test(source)) {
        length = sequenceLength(Number.parseInt(source.slice(index + 1, index + 3), 16)) * 3;
        try {
          text = decodeURIComponent(source.slice(index, index + length));
        } catch {
          text = undefined;
        }
      }
    }
    if (text === undefined || index + length > end) {
      index += 1;
      continue;
    }
    builder.copy(source, copied, index);
    builder.emit(text, index, index + length);
    index += length;
    copied = index;
  }
  builder.copy(source, copied, end);
}
