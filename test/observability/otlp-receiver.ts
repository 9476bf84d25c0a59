// Receives spans over OTLP (HTTP and protobuf), so that tests can check what a running process exports.
import { createServer } from 'node:http';

export interface ReceivedSpan {
  /** `service.name` of the process. */
  service: string;
  traceId: string;
  spanId: string;
  /** Empty for a span without a parent. */
  parentId: string;
  name: string;
  /** 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  kind: number;
  /** Nanoseconds since the epoch. */
  start: bigint;
  end: bigint;
  attributes: Record<string, string | number | boolean>;
  /** 0 unset, 1 ok, 2 error. */
  status: number;
}

export interface OtlpReceiver {
  url: string;
  spans: readonly ReceivedSpan[];
  /** Body of each request. */
  bodies: readonly Buffer[];
  close(): Promise<void>;
}

type Field = bigint | Buffer;

/** Fields of a protobuf message by number (protobuf encoding: varint, fixed64, length-delimited, fixed32). */
function fieldsOf(message: Buffer): Map<number, Field[]> {
  const fields = new Map<number, Field[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const bytes = (length: number): Buffer => {
    if (at + length > message.length) throw new RangeError('the message ends inside a field');
    at += length;
    return message.subarray(at - length, at);
  };
  const read = (wireType: number): Field => {
    if (wireType === 0) return varint();
    if (wireType === 1) return bytes(8).readBigUInt64LE();
    if (wireType === 2) return bytes(Number(varint()));
    if (wireType === 5) return BigInt(bytes(4).readUInt32LE());
    throw new RangeError(`unknown wire type: ${wireType}`);
  };
  while (at < message.length) {
    const tag = Number(varint());
    const number = tag >> 3;
    fields.set(number, [...(fields.get(number) ?? []), read(tag & 7)]);
  }
  return fields;
}

const EMPTY = Buffer.alloc(0);
const parts = (fields: Map<number, Field[]>, number: number): Map<number, Field[]>[] =>
  (fields.get(number) ?? []).map((field) => fieldsOf(field as Buffer));
const bytesOf = (fields: Map<number, Field[]>, number: number): Buffer =>
  (fields.get(number)?.[0] as Buffer | undefined) ?? EMPTY;
const numberOf = (fields: Map<number, Field[]>, number: number): bigint =>
  (fields.get(number)?.[0] as bigint | undefined) ?? 0n;

/** opentelemetry.proto.common.v1.KeyValue: 1 key, 2 AnyValue (1 string, 2 bool, 3 int, 4 double). */
function attributesOf(fields: Map<number, Field[]>, number: number): ReceivedSpan['attributes'] {
  return Object.fromEntries(
    parts(fields, number).map((pair) => {
      const [value = new Map<number, Field[]>()] = parts(pair, 2);
      const key = bytesOf(pair, 1).toString();
      if (value.has(1)) return [key, bytesOf(value, 1).toString()];
      if (value.has(2)) return [key, numberOf(value, 2) === 1n];
      if (value.has(3)) return [key, Number(numberOf(value, 3))];
      return [key, String(numberOf(value, 4))];
    }),
  );
}

/** opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest. */
function decodeSpans(body: Buffer): ReceivedSpan[] {
  return parts(fieldsOf(body), 1).flatMap((resourceSpans) => {
    const [resource = new Map<number, Field[]>()] = parts(resourceSpans, 1);
    const service = String(attributesOf(resource, 1)['service.name']);
    return parts(resourceSpans, 2)
      .flatMap((scopeSpans) => parts(scopeSpans, 2))
      .map((span) => ({
        service,
        traceId: bytesOf(span, 1).toString('hex'),
        spanId: bytesOf(span, 2).toString('hex'),
        parentId: bytesOf(span, 4).toString('hex'),
        name: bytesOf(span, 5).toString(),
        kind: Number(numberOf(span, 6)),
        start: numberOf(span, 7),
        end: numberOf(span, 8),
        attributes: attributesOf(span, 9),
        status: Number(numberOf(parts(span, 15)[0] ?? new Map(), 3)),
      }));
  });
}

/** Starts a receiver on a free port of 127.0.0.1. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const bodies: Buffer[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      bodies.push(body);
      if (request.url === '/v1/traces' && request.headers['content-type'] === 'application/x-protobuf')
        spans.push(...decodeSpans(body));
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    spans,
    bodies,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
