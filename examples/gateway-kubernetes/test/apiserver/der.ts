/** The few forms of ASN.1 DER that a certificate is made of (X.690). */

function tlv(tag: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  if (body.length < 128) return Buffer.concat([Buffer.from([tag, body.length]), body]);
  const hex = body.length.toString(16);
  const length = Buffer.from(hex.padStart(hex.length + (hex.length % 2), "0"), "hex");
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length]), length, body]);
}

export const sequence = (...parts: readonly Buffer[]): Buffer => tlv(0x30, ...parts);
export const set = (...parts: readonly Buffer[]): Buffer => tlv(0x31, ...parts);
export const octets = (body: Buffer): Buffer => tlv(0x04, body);
export const bits = (body: Buffer, unused = 0): Buffer => tlv(0x03, Buffer.from([unused]), body);
export const utf8 = (text: string): Buffer => tlv(0x0c, Buffer.from(text));
export const truth = (): Buffer => tlv(0x01, Buffer.from([0xff]));
/** `[number]` around other elements. */
export const explicit = (number: number, ...parts: readonly Buffer[]): Buffer => tlv(0xa0 | number, ...parts);
/** `[number]` in place of a primitive element's own tag. */
export const implicit = (number: number, body: Buffer): Buffer => tlv(0x80 | number, body);

/** A positive integer from its bytes, in the shortest form, which is the only one allowed. */
export function integer(padded: Buffer): Buffer {
  const first = padded.findIndex((byte) => byte !== 0);
  const bytes = first > 0 ? padded.subarray(first) : padded;
  return tlv(0x02, (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const groups = [part & 0x7f];
    for (let left = part >> 7; left > 0; left >>= 7) groups.unshift((left & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return tlv(0x06, Buffer.from(bytes));
}

/** UTCTime: good until 2049, as X.509 wants it. */
export function utcTime(ms: number): Buffer {
  const text = new Date(ms).toISOString().slice(2, 19).replaceAll(/[-T:]/g, "");
  return tlv(0x17, Buffer.from(`${text}Z`));
}
