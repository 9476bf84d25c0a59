// Chooses the media type of a response from the `Accept` header of the request.
import type { IncomingMessage } from 'node:http';
import Negotiator from 'negotiator';

/**
 * The value of the media type that the client prefers.
 * @param byType values by media type. The first one is returned if the client likes several equally well, and also if it accepts none: many HTTP
 * clients send an `Accept` header that their user did not choose.
 */
export function chooseMediaType<T>({ headers }: IncomingMessage, byType: Readonly<Record<string, T>>): T {
  const types = Object.keys(byType);
  const preferred = new Negotiator({ headers }).mediaType(types) ?? types[0];
  const chosen = preferred === undefined ? undefined : byType[preferred];
  if (chosen === undefined) throw new RangeError('there is no media type to choose');
  return chosen;
}
