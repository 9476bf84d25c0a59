// Authenticates a request by its bearer token and checks the permissions of its key.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ParseError } from '#shared/contract/errors.ts';
import { contextOf } from '../context.ts';
import { isExpired, type Key, type KeySource, type Permission } from './keys.ts';

/** The syntax of RFC 6750, section 2.1, but with any printable character, because clients may use keys that another service created. */
const BEARER = /^Bearer +([\x21-\x7e]{1,512}) *$/i;

/**
 * Returns the key of a request, and notes it in the context of the request.
 * @throws ParseError UNAUTHORIZED if it is missing, malformed, unknown or revoked, with the same message for all four, or if it has
 * expired, which only a client that has the key can see; SERVICE_UNAVAILABLE if the keys are not loaded yet
 */
export function authenticate(request: IncomingMessage, response: ServerResponse, keys: KeySource): Key {
  if (!keys.ready())
    throw new ParseError(
      'SERVICE_UNAVAILABLE',
      'Service Unavailable: this server has not loaded its API keys yet. Send the request again.',
      { retryAfterSeconds: 5 },
    );
  const token = BEARER.exec(request.headers.authorization ?? '')?.[1];
  const key = token === undefined ? undefined : keys.find(token);
  if (!key) throw new ParseError('UNAUTHORIZED');
  contextOf(response).key = key;
  if (isExpired(key, Date.now()))
    throw new ParseError(
      'UNAUTHORIZED',
      `Unauthorized: Invalid token: this API key expired on ${key.expires}; use a new key`,
    );
  return key;
}

const FORBIDDEN_MESSAGES: Record<Permission, string> = {
  parse: 'Forbidden: this API key does not allow `parse`; use a key that allows it',
  zdr: 'Forbidden: zero data retention is not enabled for this API key; leave out `zeroDataRetention`, or use a key that allows it',
  audit: 'Forbidden: audit events are not enabled for this API key; use a key that allows them',
};

/** @throws ParseError FORBIDDEN if the key lacks the permission */
export function requirePermission(key: Key, permission: Permission): void {
  if (!key.allow.includes(permission)) throw new ParseError('FORBIDDEN', FORBIDDEN_MESSAGES[permission]);
}
