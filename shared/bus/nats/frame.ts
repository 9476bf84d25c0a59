// One message for a header and the bytes beside it: four bytes of header length (big endian), the header as JSON, the bytes.

const LENGTH_BYTES = 4;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

export interface Frame {
  header: unknown;
  body: Uint8Array;
}

/** Puts header and body in one message. */
export function encodeFrame(header: unknown, body: Uint8Array = new Uint8Array()): Uint8Array {
  const json = encoder.encode(JSON.stringify(header));
  const frame = new Uint8Array(LENGTH_BYTES + json.length + body.length);
  new DataView(frame.buffer).setUint32(0, json.length);
  frame.set(json, LENGTH_BYTES);
  frame.set(body, LENGTH_BYTES + json.length);
  return frame;
}

/** Takes a message apart; the body shares its memory. @throws RangeError or SyntaxError on a message that is no frame */
export function decodeFrame(message: Uint8Array): Frame {
  const length = new DataView(message.buffer, message.byteOffset, message.byteLength).getUint32(0);
  const start = LENGTH_BYTES + length;
  if (start > message.length) throw new RangeError('the frame ends within its header');
  return {
    header: JSON.parse(decoder.decode(message.subarray(LENGTH_BYTES, start))) as unknown,
    body: message.subarray(start),
  };
}
