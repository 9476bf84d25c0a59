// What every answer must be, whatever was sent: never a 5xx, of the documented shape, every span exact.
import { errorResponseSchema, parseResponseSchema } from '#shared/contract/response.ts';
import type { Answer } from '../harness/client.ts';

/** Words of our own inside that no caller should read. */
const INSIDES =
  /\bat .{1,200}:\d+:\d+|node_modules|\/(?:tmp|home|root|usr)\/|Cannot read propert|is not a function|undefined/;

/** What is wrong with an answer, or undefined. */
export function faultOf(answer: Answer): string | undefined {
  if (answer.status >= 500) return `status ${answer.status}: ${answer.text.slice(0, 200)}`;
  if (answer.status !== 200) {
    const parsed = errorResponseSchema.safeParse(answer.body);
    if (!parsed.success) return `an error of another shape (${answer.status}): ${answer.text.slice(0, 200)}`;
    if (INSIDES.test(parsed.data.error)) return `the message shows the inside: ${parsed.data.error.slice(0, 200)}`;
    // The key has neither rate nor places: these would be faults of the count.
    return answer.status === 429 || answer.status === 401 || answer.status === 402
      ? `status ${answer.status} for a key without limits`
      : undefined;
  }
  const parsed = parseResponseSchema.safeParse(answer.body);
  if (!parsed.success) return `an answer of another shape: ${parsed.error.message.slice(0, 300)}`;
  const { markdown, blocks, pages } = parsed.data.data;
  for (const page of blocks ?? [])
    for (const { id, markdownSpan, content, bbox } of page.items) {
      if (bbox && !bbox.every((side) => side >= 0 && side <= 1)) return `the box of ${id} leaves the page: ${bbox}`;
      if (bbox && (bbox[0] > bbox[2] || bbox[1] > bbox[3])) return `the box of ${id} is turned inside out: ${bbox}`;
      if (markdownSpan && markdown !== undefined && markdown.slice(...markdownSpan) !== content)
        return `the span of ${id} cuts out something else`;
    }
  const numbers = [...(blocks ?? []), ...(pages ?? [])].map(({ pageNumber }) => pageNumber);
  return numbers.some((number) => number < 1) ? 'a page number below 1' : undefined;
}
