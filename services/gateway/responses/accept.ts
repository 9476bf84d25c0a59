// Chooses the media type and the encoding of a response from the headers of the request.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import Negotiator from 'negotiator';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';

/**
 * The value of the media type that the client prefers.
 * @param byType values by media type. The first one is returned if the client likes several equally well, and also if it accepts none: many HTTP
 * clients send an `Accept` header that their user did not choose.
 */
export function chooseMediaType<T>({ headers }: IncomingMessage, byType: Readonly<Record<string, T>>): T {
  const types = Object.keys(byType);
  const preferred = new Negotiator({ headers: withoutLongHeaders(headers) }).mediaType(types) ?? types[0];
  const chosen = preferred === undefined ? undefined : byType[preferred];
  if (chosen === undefined) throw new RangeError('there is no media type to choose');
  return chosen;
}

/** The type declarations of the package omit this form of the method. */
interface EncodingNegotiator {
  encodings(available: readonly string[], options: { preferred: readonly string[] }): string[];
}

/** The encoding that the client prefers. @param preferred encodings besides `identity`; the first one is returned if the client likes several equally well */
export function chooseEncoding({ headers }: IncomingMessage, preferred: readonly string[]): string | undefined {
  const negotiator: EncodingNegotiator = new Negotiator({ headers: withoutLongHeaders(headers) });
  return negotiator.encodings([...preferred, 'identity'], { preferred })[0];
}

/** Ignores headers whose parsing would cost a noticeable time. */
function withoutLongHeaders(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const bounded = (value: string | undefined) =>
    value === undefined || value.length > REQUEST_LIMITS.acceptLength ? undefined : value;
  return { accept: bounded(headers.accept), 'accept-encoding': bounded(headers['accept-encoding']?.toString()) };
}
