// Checks what every response must fulfil, whatever the request was: no 5xx, the documented shape, exact spans.
import { errorResponseSchema, parseResponseSchema } from '#shared/contract/response.ts';
import type { Answer } from '../harness/client.ts';

/** Stack traces, paths and messages of JavaScript errors, which an error message must not contain. */
const INTERNALS =
  /\bat .{1,200}:\d+:\d+|node_modules|\/(?:tmp|home|root|usr)\/|Cannot read propert|is not a function|undefined/;

/** Describes what is wrong with a response, or returns undefined. */
export function findFault(answer: Answer): string | undefined {
  if (answer.status >= 500) return `status ${answer.status}: ${answer.text.slice(0, 200)}`;
  if (answer.status !== 200) {
    const parsed = errorResponseSchema.safeParse(answer.body);
    if (!parsed.success)
      return `an error without the documented shape (${answer.status}): ${answer.text.slice(0, 200)}`;
    if (INTERNALS.test(parsed.data.error))
      return `the message contains internal details: ${parsed.data.error.slice(0, 200)}`;
    // The key has no limits, so these statuses are wrong.
    return answer.status === 429 || answer.status === 401 || answer.status === 402
      ? `status ${answer.status} for a key without limits`
      : undefined;
  }
  const parsed = parseResponseSchema.safeParse(answer.body);
  if (!parsed.success) return `a response without the documented shape: ${parsed.error.message.slice(0, 300)}`;
  const { markdown, blocks, pages, images } = parsed.data.data;
  for (const page of blocks ?? [])
    for (const { id, markdownSpan, content, bbox } of page.items) {
      if (bbox && !bbox.every((side) => side >= 0 && side <= 1))
        return `the bbox of ${id} is outside the page: ${bbox}`;
      if (bbox && (bbox[0] > bbox[2] || bbox[1] > bbox[3])) return `the bbox of ${id} has swapped corners: ${bbox}`;
      if (markdownSpan && markdown !== undefined && markdown.slice(...markdownSpan) !== content)
        return `the markdownSpan of ${id} is not its content`;
    }
  const names = (images ?? []).flatMap((image) => (typeof image === 'object' && 'id' in image ? [image.id] : []));
  if (new Set(names).size < names.length) return `two pictures have the same id: ${names}`;
  const numbers = [...(blocks ?? []), ...(pages ?? [])].map(({ pageNumber }) => pageNumber);
  return numbers.some((number) => number < 1) ? 'a page number below 1' : undefined;
}
