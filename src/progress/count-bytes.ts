import { hasMethod, invalid } from "../errors.js";
import { callHook } from "../events/index.js";

/** A stream of Node's kind, by shape: what counting needs of it. */
export interface NodeReadable {
  /** Adds a listener. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- declarations of streams differ in the arguments
  on(event: any, listener: (...args: any[]) => void): unknown;
  /** Hands the bytes on to a writable stream. */
  pipe(...args: never[]): unknown;
  /** Ends the stream before its end. */
  destroy(error?: Error): unknown;
  /** Encoding of chunks that are text, so that they are counted as the bytes that they were. */
  readonly readableEncoding?: string | null | undefined;
  /** Calls the listeners. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- declarations of streams differ in the arguments
  emit(event: any, ...args: any[]): boolean;
}

/** How bytes are counted. */
export interface CountBytesOptions {
  /** Called with the count after each chunk. What it throws disturbs the stream no more than a listener would. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
  /** Receives what `onBytes` threw. Default: `console.error`. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/**
 * A stream whose bytes are counted.
 *
 * @public
 */
export interface CountedStream<Stream> {
  /** Read this one. */
  readonly stream: Stream;
  /** Bytes that have been handed to the reader so far. */
  readonly bytes: number;
}

/**
 * Counts the bytes that flow through a Web or Node stream. Chunks are handed on as they are, by reference: nothing is
 * copied, and nothing is read ahead of the reader. Backpressure, errors and cancellation pass through.
 *
 * A Web stream is locked and another one is given to read instead, by an ordinary reader. A Node stream is given back itself; counting does
 * not make it flow. Text counts as the
 * bytes that a Node stream decoded it from, else as UTF-8. A chunk that is neither bytes nor text is an error of the stream.
 *
 * @throws {@link SlipwayError} `INVALID_OPTION` when `stream` is no readable stream, or one that is being read.
 *
 * @example
 * ```ts
 * import { countBytes } from "slipway/progress";
 *
 * const source = new Blob(["four", "teen bytes"]).stream();
 * const counted = countBytes(source, { onBytes: (bytes) => console.log(bytes) });
 * await new Response(counted.stream).text();
 * counted.bytes; // => 14
 * ```
 *
 * @public
 */
export function countBytes<Chunk>(
  stream: ReadableStream<Chunk>,
  options?: CountBytesOptions,
): CountedStream<ReadableStream<Chunk>>;
export function countBytes<Stream extends NodeReadable>(
  stream: Stream,
  options?: CountBytesOptions,
): CountedStream<Stream>;
export function countBytes(
  stream: ReadableStream<unknown> | NodeReadable,
  options: CountBytesOptions = {},
): CountedStream<unknown> {
  const counter = new Counter(options);
  if (isWebStream(stream)) return counted(throughWeb(stream, counter), counter);
  if (isNodeStream(stream)) return counted(throughNode(stream, counter), counter);
  throw invalid(
    "INVALID_OPTION",
    "countBytes",
    "stream",
    "a readable Web or Node stream",
    stream,
    typeof stream,
  );
}

function counted<Stream>(stream: Stream, counter: Counter): CountedStream<Stream> {
  return {
    stream,
    get bytes() {
      return counter.bytes;
    },
  };
}

class Counter {
  bytes = 0;
  readonly #options: CountBytesOptions;

  constructor(options: CountBytesOptions) {
    this.#options = options;
  }

  add(chunk: unknown, encoding?: unknown): void {
    this.bytes += sizeOf(chunk, encoding);
    const { onBytes, onError } = this.#options;
    callHook(onBytes, this.bytes, onError);
  }
}

function isWebStream(stream: unknown): stream is ReadableStream<unknown> {
  return ["getReader", "tee"].every((name) => hasMethod(stream, name));
}

function isNodeStream(stream: unknown): stream is NodeReadable {
  return ["on", "emit", "pipe", "read"].every((name) => hasMethod(stream, name));
}

/** Pulls one chunk for each that is asked for: a queue of its own would read ahead. */
function throughWeb(source: ReadableStream<unknown>, counter: Counter): ReadableStream<unknown> {
  if (source.locked)
    throw invalid("INVALID_OPTION", "countBytes", "stream", "a stream that nobody reads", "a locked stream");
  const reader = source.getReader();
  return new ReadableStream<unknown>(
    {
      start(controller) {
        // A reader that waits for the end instead of the next chunk hears of an error as well.
        reader.closed.catch((error: unknown) => {
          controller.error(error);
        });
      },
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) {
          reader.releaseLock();
          controller.close();
          return;
        }
        try {
          counter.add(value);
        } catch (error) {
          // What the source makes of it, and when, is not the reader's concern.
          reader.cancel(error).catch(ignore);
          throw error;
        }
        controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

function ignore(): void {
  // Said elsewhere already.
}

/**
 * Every chunk that a Node stream hands out passes `emit("data")` once, whether it flows, is read or is iterated over.
 * A listener would make it flow; looking on does not.
 */
function throughNode<Stream extends NodeReadable>(stream: Stream, counter: Counter): Stream {
  const emit = stream.emit;
  stream.emit = function (this: unknown, event: unknown, ...args: unknown[]): boolean {
    if (event === "data") {
      try {
        counter.add(args[0], stream.readableEncoding);
      } catch (error) {
        stream.destroy(error as Error);
        return false;
      }
    }
    return emit.call(this, event, ...args);
  };
  return stream;
}

function sizeOf(chunk: unknown, encoding: unknown): number {
  if (typeof chunk === "string") return textSize(chunk, encoding);
  const size: unknown = (chunk as ArrayBufferView | null | undefined)?.byteLength;
  if (typeof size === "number") return size;
  throw invalid("INVALID_OPTION", "countBytes", "chunk", "bytes or text", chunk);
}

/** How many bytes a text was decoded from. Without an encoding, and in one that is not known here, it is UTF-8. */
function textSize(text: string, encoding: unknown): number {
  switch (encoding) {
    case "latin1":
    case "binary":
    case "ascii":
      return text.length;
    case "utf16le":
    case "utf-16le":
    case "ucs2":
    case "ucs-2":
      return 2 * text.length;
    case "hex":
      return text.length / 2;
    case "base64":
    case "base64url":
      return Math.floor((text.replace(/=+$/, "").length * 3) / 4);
    default:
      return new TextEncoder().encode(text).byteLength;
  }
}
