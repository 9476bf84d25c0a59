// Defines how a payload is stored in NATS: one message per chunk, on subjects that name the service that may read it.
import { randomUUID } from 'node:crypto';
import { PayloadMissingError } from '../bus.ts';
import { type Durability, PAYLOAD_STREAMS, payloadSubject } from './topology.ts';

/**
 * Where a payload is stored. Reader and writer are tokens of its subjects, so the permissions of a NATS user can be limited to
 * the payloads of one service. The id is random and cannot be guessed from other ids.
 */
export interface PayloadAddress {
  durability: Durability;
  /** The service that may read the payload. */
  reader: string;
  /** The service that stored it. */
  writer: string;
  id: string;
}

const TOKEN = /^[a-z0-9-]{1,64}$/;

/** The address of a new payload. @throws RangeError if a service name cannot be a token of a subject */
export function newAddress(address: Omit<PayloadAddress, 'id'>): PayloadAddress {
  for (const service of [address.reader, address.writer])
    if (!TOKEN.test(service)) throw new RangeError(`not a service name: ${JSON.stringify(service)}`);
  return { ...address, id: randomUUID() };
}

export const formatAddress = ({ reader, writer, id }: PayloadAddress): string => `${reader}.${writer}.${id}`;

/**
 * Reads the id of a reference, which may come from a compromised process: a token such as `*` would select other payloads.
 * @throws PayloadMissingError if it is not an id that `formatAddress` wrote
 */
export function parseAddress(ref: { id: string; volatile: boolean }): PayloadAddress {
  const [reader = '', writer = '', id = '', ...rest] = ref.id.split('.');
  if (rest.length > 0 || ![reader, writer, id].every((token) => TOKEN.test(token)))
    throw new PayloadMissingError('the payload does not exist: its reference is not valid');
  return { durability: ref.volatile ? 'volatile' : 'durable', reader, writer, id };
}

export const streamOf = ({ durability }: PayloadAddress): string => PAYLOAD_STREAMS[durability];

/** The subject of one chunk, counted from 0; `>` for all chunks. */
export const chunkSubject = (address: PayloadAddress, index: number | '>'): string =>
  `${payloadSubject(address.durability)}.${formatAddress(address)}.${index}`;
