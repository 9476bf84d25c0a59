// Turns the Authorization header into a key, or into the one 401 that tells nothing about why.
import type { IncomingMessage } from 'node:http';
import { ParseError } from '#shared/contract/errors.ts';
import type { Key, KeySource, Permission } from './keys.ts';

/** RFC 6750, 2.1, with any printable token, since clients of the hosted service bring keys of their own shape. */
const BEARER = /^Bearer +([\x21-\x7e]{1,512}) *$/i;

/**
 * The key a request carries.
 * @throws ParseError UNAUTHORIZED where it is missing, malformed, unknown or revoked; SERVICE_UNAVAILABLE before any key is known
 */
export function authenticate(request: IncomingMessage, keys: KeySource): Key {
  if (!keys.ready())
    throw new ParseError(
      'SERVICE_UNAVAILABLE',
      'Service Unavailable: this server has not loaded its API keys yet. Send the request again.',
      { retryAfterSeconds: 5 },
    );
  const token = BEARER.exec(request.headers.authorization ?? '')?.[1];
  const key = token === undefined ? undefined : keys.find(token);
  if (!key) throw new ParseError('UNAUTHORIZED');
  return key;
}

const REFUSALS: Record<Permission, string> = {
  parse: 'Forbidden: this API key may not use parse',
  zdr: 'Forbidden: zero data retention is not enabled for this API key; leave out `zeroDataRetention` or use a key that allows it',
  audit: 'Forbidden: audit events are not enabled for this API key',
};

/** @throws ParseError FORBIDDEN where the key lacks the permission */
export function requirePermission(key: Key, permission: Permission): void {
  if (!key.allow.includes(permission)) throw new ParseError('FORBIDDEN', REFUSALS[permission]);
}
