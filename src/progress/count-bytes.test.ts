import { PassThrough, Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { describe, expect, it } from "vitest";
import { countBytes } from "./count-bytes.js";

const chunks = [Buffer.from("one"), new Uint8Array(5), Buffer.alloc(0), Buffer.from("three")];

/** A Web stream that counts how often it was asked, and remembers why it was cancelled. */
function asked(values: readonly unknown[], failure?: Error) {
  const record = { pulls: 0, cancelled: undefined as unknown };
  const left = [...values];
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        record.pulls += 1;
        if (left.length > 0) controller.enqueue(left.shift() as Uint8Array);
        else if (failure === undefined) controller.close();
        else controller.error(failure);
      },
      cancel(reason) {
        record.cancelled = reason;
      },
    },
    { highWaterMark: 0 },
  );
  return { record, stream };
}

describe("countBytes of a Web stream", () => {
  it("hands the very chunks on and counts them", async () => {
    const seen: number[] = [];
    const counted = countBytes(asked(chunks).stream, { onBytes: (bytes) => seen.push(bytes) });
    const got: unknown[] = [];
    for await (const chunk of counted.stream) got.push(chunk);
    expect(got).toHaveLength(4);
    expect(got.every((chunk, index) => chunk === chunks[index])).toBe(true);
    expect(counted.bytes).toBe(13);
    expect(seen).toEqual([3, 8, 8, 13]);
  });

  it("reads nothing that nobody asked for", async () => {
    const { record, stream } = asked(chunks);
    const counted = countBytes(stream);
    await new Promise((resolve) => setImmediate(resolve));
    expect([record.pulls, counted.bytes]).toEqual([0, 0]);
    const reader = counted.stream.getReader();
    await reader.read();
    await new Promise((resolve) => setImmediate(resolve));
    expect([record.pulls, counted.bytes]).toEqual([1, 3]);
  });

  it("passes an error on, by identity", async () => {
    const failure = new Error("engine gone");
    const reader = countBytes(asked([chunks[0]], failure).stream).stream.getReader();
    await reader.read();
    await expect(reader.read()).rejects.toBe(failure);
  });

  it("passes cancellation on, also while a read is pending", async () => {
    const { record, stream } = asked(chunks);
    await countBytes(stream).stream.cancel("enough");
    expect(record.cancelled).toBe("enough");
    let why: unknown;
    const never = new ReadableStream({ cancel: (reason) => void (why = reason) });
    const reader = countBytes(never).stream.getReader();
    const pending = reader.read();
    await reader.cancel("given up");
    expect([await pending, why]).toEqual([{ done: true, value: undefined }, "given up"]);
  });

  it("refuses a chunk that is no bytes, and tells the source", async () => {
    const { record, stream } = asked([{ json: true }]);
    await expect(countBytes(stream).stream.getReader().read()).rejects.toThrow(
      'chunk must be bytes or text, got {"json":true}',
    );
    expect(record.cancelled).toBeInstanceOf(Error);
  });

  it("refuses one that somebody else reads", () => {
    const { stream } = asked([]);
    stream.getReader();
    expect(() => countBytes(stream)).toThrow("a stream that nobody reads");
  });

  it.each<[string, () => Promise<void>]>([
    ["rejects", () => Promise.reject(new Error("cancel failed"))],
    ["never settles", () => new Promise(() => undefined)],
  ])("says what was wrong with a chunk where cancelling the source %s", async (_what, cancel) => {
    const source = new ReadableStream({ pull: (controller) => controller.enqueue(5), cancel });
    await expect(countBytes(source).stream.getReader().read()).rejects.toThrow("chunk must be bytes or text");
  });

  it("passes an error on to a reader that waits for the end only", async () => {
    let fail: (error: unknown) => void = () => undefined;
    const source = new ReadableStream<Uint8Array>({
      start: (controller) => {
        fail = (error) => controller.error(error);
      },
    });
    const { closed } = countBytes(source).stream.getReader();
    const failure = new Error("engine gone");
    fail(failure);
    await expect(closed).rejects.toBe(failure);
  });

  it("survives a callback that throws", async () => {
    const errors: unknown[] = [];
    const counted = countBytes(asked(chunks).stream, {
      onBytes: () => {
        throw new Error("callback");
      },
      onError: (error) => errors.push(error),
    });
    expect((await new Response(counted.stream).arrayBuffer()).byteLength).toBe(13);
    expect([counted.bytes, errors.length]).toEqual([13, 4]);
  });
});

describe("countBytes of a Node stream", () => {
  it("is the stream itself, and does not make it flow", async () => {
    const source = Readable.from(chunks, { objectMode: false });
    const counted = countBytes(source);
    expect(counted.stream).toBe(source);
    await new Promise((resolve) => setImmediate(resolve));
    expect([source.readableFlowing, counted.bytes]).toEqual([null, 0]);
  });

  it.each<[string, (stream: Readable) => Promise<unknown>]>([
    ["iterated over", (stream) => stream.toArray()],
    ["piped", (stream) => pipeline(stream, new PassThrough().resume())],
    ["flowing", (stream) => new Promise((resolve) => stream.on("end", resolve).resume())],
    [
      "read by hand",
      (stream) =>
        new Promise((resolve) => {
          stream.on("end", resolve).on("readable", () => {
            while (stream.read(2) !== null);
            while (stream.read() !== null);
          });
        }),
    ],
    [
      "turned into a Web stream",
      (stream) => new Response(Readable.toWeb(stream) as ReadableStream).arrayBuffer(),
    ],
  ])("counts each byte once when %s", async (_how, drain) => {
    const source = new PassThrough();
    const counted = countBytes(source);
    const drained = drain(source);
    for (let index = 0; index < 100; index += 1) source.write(Buffer.alloc(1000));
    source.end(Buffer.from("end"));
    await drained;
    expect(counted.bytes).toBe(100_003);
  });

  it("holds the source back as far as the reader does", async () => {
    const source = new PassThrough({ highWaterMark: 1000 });
    const counted = countBytes(source);
    const slow = new Writable({ highWaterMark: 1, write: () => undefined });
    counted.stream.pipe(slow);
    for (let index = 0; index < 50; index += 1) source.write(Buffer.alloc(1000));
    await new Promise((resolve) => setImmediate(resolve));
    expect(counted.bytes).toBe(1000);
  });

  it("counts text as UTF-8", async () => {
    const text = "aé€😀\ud800x";
    const source = Readable.from([text], { objectMode: false, encoding: "utf8" });
    const counted = countBytes(source);
    await counted.stream.toArray();
    expect(counted.bytes).toBe(Buffer.byteLength(text));
  });

  it.each(["hex", "base64", "base64url", "latin1", "ascii", "binary", "utf16le", "ucs-2"] as const)(
    "counts the bytes that %s was made of",
    async (encoding) => {
      const source = Readable.from([Buffer.alloc(7, 0xe9), Buffer.alloc(3, 0x80)], { objectMode: false });
      source.setEncoding(encoding);
      const counted = countBytes(source);
      await counted.stream.toArray();
      expect(counted.bytes).toBe(10);
    },
  );

  it("passes errors and destruction through, and refuses chunks that are no bytes", async () => {
    const failure = new Error("engine gone");
    const source = new PassThrough();
    const counted = countBytes(source);
    source.destroy(failure);
    await expect(counted.stream.toArray()).rejects.toBe(failure);
    await expect(countBytes(Readable.from([{ json: true }])).stream.toArray()).rejects.toThrow(
      "chunk must be bytes or text",
    );
  });
});

describe("countBytes of anything else", () => {
  it.each([null, undefined, 5, "text", {}, { on: () => undefined }])("refuses %j", (stream) => {
    expect(() => countBytes(stream as never)).toThrow("stream must be a readable Web or Node stream");
  });
});
