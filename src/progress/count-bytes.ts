import { invalid, SlipwayError, show } from "../errors.js";

/** A stream of Node's kind, by shape: what counting needs of it. */
export interface NodeReadable {
  on(event: string, listener: (...args: never[]) => void): unknown;
  pipe(...args: never[]): unknown;
  destroy(error?: Error): unknown;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- declarations of streams differ in the arguments
  emit(event: any, ...args: any[]): boolean;
}

/** How bytes are counted. */
export interface CountBytesOptions {
  /** Called with the count after each chunk. What it throws disturbs the stream no more than a listener would. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
  /** Receives what `onBytes` threw. Default: ignored. */
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
 * A Web stream is locked and another one is given to read instead. A Node stream is given back itself; counting does
 * not make it flow. Text counts as UTF-8. A chunk that is neither bytes nor text is an error of the stream.
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
  throw invalid("INVALID_OPTION", "countBytes", "stream", "a readable Web or Node stream", stream);
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

  add(chunk: unknown): void {
    this.bytes += sizeOf(chunk);
    try {
      this.#options.onBytes?.(this.bytes);
    } catch (error) {
      this.#report(error);
    }
  }

  #report(error: unknown): void {
    try {
      this.#options.onError?.(error);
    } catch {
      // An error handler that throws has nobody left to tell.
    }
  }
}

function isWebStream(stream: unknown): stream is ReadableStream<unknown> {
  return has(stream, "getReader") && has(stream, "tee");
}

function isNodeStream(stream: unknown): stream is NodeReadable {
  return has(stream, "on") && has(stream, "emit") && has(stream, "pipe") && has(stream, "read");
}

function has(value: unknown, method: string): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as Record<string, unknown>)[method] === "function"
  );
}

/** Pulls one chunk for each that is asked for: a queue of its own would read ahead. */
function throughWeb(source: ReadableStream<unknown>, counter: Counter): ReadableStream<unknown> {
  if (source.locked)
    throw invalid("INVALID_OPTION", "countBytes", "stream", "a stream that nobody reads", "a locked stream");
  const reader = source.getReader();
  return new ReadableStream<unknown>(
    {
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
          await reader.cancel(error);
          throw error;
        }
        controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
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
        counter.add(args[0]);
      } catch (error) {
        stream.destroy(error as Error);
        return false;
      }
    }
    return emit.call(this, event, ...args);
  };
  return stream;
}

function sizeOf(chunk: unknown): number {
  if (typeof chunk === "string") return utf8Length(chunk);
  const size: unknown =
    typeof chunk === "object" && chunk !== null ? (chunk as ArrayBufferView).byteLength : undefined;
  if (typeof size === "number") return size;
  throw new SlipwayError(
    "INVALID_OPTION",
    `countBytes cannot count a chunk that is neither bytes nor text: ${show(chunk)}`,
    {
      field: "chunk",
      value: chunk,
    },
  );
}

/** Without encoding it: that would be the copy that is not made. */
function utf8Length(text: string): number {
  let length = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 0x80) length += 1;
    else if (code < 0x800) length += 2;
    else if (code >= 0xd800 && code < 0xdc00 && isLowSurrogate(text.charCodeAt(index + 1))) {
      length += 4;
      index += 1;
    } else length += 3;
  }
  return length;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code < 0xe000;
}
