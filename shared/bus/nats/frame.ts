// Encodes a header and a body as one message: the header length (4 bytes, big endian), the header as JSON, the body.

const LENGTH_BYTES = 4;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

interface Frame {
  header: unknown;
  body: Uint8Array;
}

export function encodeFrame(header: unknown, body: Uint8Array = new Uint8Array()): Uint8Array {
  const json = encoder.encode(JSON.stringify(header));
  const frame = new Uint8Array(LENGTH_BYTES + json.length + body.length);
  new DataView(frame.buffer).setUint32(0, json.length);
  frame.set(json, LENGTH_BYTES);
  frame.set(body, LENGTH_BYTES + json.length);
  return frame;
}

/**
 * Decodes a message. The body shares the memory of the message.
 * @throws RangeError or SyntaxError if the message is not a frame
 */
export function decodeFrame(message: Uint8Array): Frame {
  const length = new DataView(message.buffer, message.byteOffset, message.byteLength).getUint32(0);
  const start = LENGTH_BYTES + length;
  if (start > message.length) throw new RangeError('the frame is shorter than its header');
  return {
    header: JSON.parse(decoder.decode(message.subarray(LENGTH_BYTES, start))) as unknown,
    body: message.subarray(start),
  };
}
