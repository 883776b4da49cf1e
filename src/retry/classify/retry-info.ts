import { read, readText } from "./inspect.js";

const RETRY_INFO = "google.rpc.RetryInfo";
/** Details beyond this are not looked at: a status carries a handful. */
const MOST_DETAILS = 32;
const NANOS_PER_MS = 1_000_000;
/** What a protobuf Duration can hold. A negative one comes out of the wire as far more. */
const LONGEST_SECONDS = 315_576_000_000;

/**
 * The wait that a status asks for with `google.rpc.RetryInfo`, in milliseconds: decoded by the client (Connect's
 * `details`, google-gax's `statusDetails`), or still in the trailer `grpc-status-details-bin`.
 */
export function retryInfoMs(error: unknown, trailer: unknown): number | undefined {
  for (const list of [read(error, "statusDetails"), read(error, "details")])
    for (const detail of Array.isArray(list) ? (list.slice(0, MOST_DETAILS) as unknown[]) : []) {
      const found = fromDetail(detail);
      if (found !== undefined) return found;
    }
  const bytes = bytesOf(trailer);
  if (bytes === undefined) return undefined;
  for (const any of fieldsOf(bytes, 3)) {
    const [type] = fieldsOf(any, 1);
    const [value] = fieldsOf(any, 2);
    if (type !== undefined && value !== undefined && isRetryInfo(textOf(type))) return fromMessage(value);
  }
  return undefined;
}

function fromDetail(detail: unknown): number | undefined {
  const type = readText(detail, "type") ?? readText(detail, "@type") ?? readText(detail, "$typeName") ?? "";
  if (!isRetryInfo(type)) return undefined;
  const value = bytesOf(read(detail, "value"));
  if (value !== undefined) return fromMessage(value);
  for (const holder of [detail, read(detail, "debug"), read(detail, "value")]) {
    const delay = read(holder, "retryDelay") ?? read(holder, "retry_delay");
    if (delay !== undefined) return fromDelay(delay);
  }
  return undefined;
}

function isRetryInfo(type: string): boolean {
  return type === RETRY_INFO || type.endsWith(`/${RETRY_INFO}`);
}

/** A duration as JSON writes it ("1.5s"), or as clients decode it. */
function fromDelay(delay: unknown): number | undefined {
  if (typeof delay === "string") {
    const seconds = /^(?<seconds>\d{1,12}(?:\.\d{1,9})?)s$/.exec(delay)?.groups?.["seconds"];
    return seconds === undefined ? undefined : milliseconds(Number(seconds), 0);
  }
  return milliseconds(count(read(delay, "seconds")), count(read(delay, "nanos")));
}

/** Clients give 64 bits as a number, a bigint, a text, or an object that turns into a text. */
function count(value: unknown): number {
  if (value === undefined || value === null) return 0;
  if (typeof value === "number") return value;
  try {
    const text = `${value as bigint}`;
    return /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  } catch {
    return Number.NaN;
  }
}

function milliseconds(seconds: number, nanos: number): number | undefined {
  const ms = Math.ceil(seconds * 1000 + nanos / NANOS_PER_MS);
  return seconds >= 0 && seconds <= LONGEST_SECONDS && nanos >= 0 && nanos < 1e9 ? ms : undefined;
}

/** RetryInfo: its first field is a Duration of seconds (1) and nanoseconds (2). */
function fromMessage(message: Uint8Array): number | undefined {
  const [duration] = fieldsOf(message, 1);
  return duration === undefined
    ? undefined
    : milliseconds(numberField(duration, 1), numberField(duration, 2));
}

function bytesOf(value: unknown): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value;
  if (typeof value !== "string" || value === "") return undefined;
  try {
    const plain = value.replaceAll("-", "+").replaceAll("_", "/");
    return Uint8Array.from(globalThis.atob(plain), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function textOf(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes.subarray(0, 200));
}

/** The length-delimited fields of a protobuf message with one number. */
function fieldsOf(message: Uint8Array, number: number): Uint8Array[] {
  return entriesOf(message)
    .filter((entry) => entry.number === number && typeof entry.value !== "number")
    .map(({ value }) => value as Uint8Array);
}

function numberField(message: Uint8Array, number: number): number {
  const found = entriesOf(message).find((entry) => entry.number === number);
  return typeof found?.value === "number" ? found.value : 0;
}

interface Entry {
  readonly number: number;
  readonly value: number | Uint8Array;
}

/** The fields of a message, as far as it can be read. */
function entriesOf(message: Uint8Array): Entry[] {
  const entries: Entry[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; shift < 64; shift += 7) {
      const byte = message[at] ?? 0;
      at += 1;
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) break;
    }
    return value;
  };
  // What is cut off is not guessed.
  const add = (number: number, value: Entry["value"]): void => {
    if (at <= message.length) entries.push({ number, value });
  };
  while (at < message.length && entries.length < 4 * MOST_DETAILS) {
    const tag = varint();
    const number = Math.floor(tag / 8);
    const wire = tag % 8;
    if (wire === 0) add(number, varint());
    else if (wire === 1) at += 8;
    else if (wire === 5) at += 4;
    else if (wire === 2) {
      const length = varint();
      const value = message.subarray(at, at + length);
      at += length;
      add(number, value);
    } else break;
  }
  return entries;
}
