import { describe, expect, it } from "vitest";
import { grpc, look, named } from "../../../test/retry/described-errors.js";

describe("a duration of RetryInfo", () => {
  const type = "google.rpc.RetryInfo";
  const wait = (detail: object, more: object = {}): number | undefined =>
    look(
      named("ConnectError", "busy", { code: 8, rawMessage: "busy", details: [{ type, ...detail }], ...more }),
    ).retryAfterMs;

  it.each<[unknown, number | undefined]>([
    ["4s", 4_000],
    ["12.5s", 12_500],
    ["0.123456789s", 124],
    ["1.5 s", undefined],
    ["1.5seconds", undefined],
    [{ seconds: 4 }, 4_000],
    [{ seconds: 0, nanos: 1 }, 1],
    [{ nanos: 5e8 }, 500],
    [{ seconds: 4n, nanos: 999_999_999 }, 5_000],
    [{ seconds: "40", nanos: null }, 40_000],
    [{ seconds: { toString: () => "40" } }, 40_000],
    [{ seconds: "4x" }, undefined],
    [{ seconds: "x4" }, undefined],
    [{ seconds: 4, nanos: -1 }, undefined],
    [{ seconds: 4, nanos: 1e9 }, undefined],
    [{ seconds: 315_576_000_000 }, 315_576_000_000_000],
    [{ seconds: 315_576_000_001 }, undefined],
    [{ seconds: Object.create(null) as object }, undefined],
  ])("of %o is %s ms", (retryDelay, ms) => {
    expect(wait({ retryDelay })).toBe(ms);
    expect(wait({ retry_delay: retryDelay })).toBe(ms);
    expect(wait({ debug: { retryDelay } })).toBe(ms);
    expect(wait({ value: { retryDelay } })).toBe(ms);
  });

  it("is read from the detail that has one, under each client's name of its type", () => {
    const retryDelay = "4s";
    for (const key of ["type", "@type", "$typeName"]) {
      const detail = { type: undefined, [key]: `type.googleapis.com/${type}`, retryDelay };
      expect(wait({}, { details: [{ type: "google.rpc.DebugInfo", retryDelay: "9s" }, detail] })).toBe(4_000);
    }
    expect(wait({}, { details: [{ retryDelay }] })).toBeUndefined();
    expect(wait({}, { details: [{ type: "xgoogle.rpc.RetryInfo", retryDelay }] })).toBeUndefined();
    expect(wait({}, { details: "none" })).toBeUndefined();
    // A detail that says nothing leaves the question to the next one.
    expect(wait({}, { details: [{ type }, { type, retryDelay }] })).toBe(4_000);
    const far = Array.from({ length: 32 }, () => ({ type: "google.rpc.DebugInfo" }));
    expect(wait({}, { details: [...far.slice(1), { type, retryDelay }] })).toBe(4_000);
    expect(wait({}, { details: [...far, { type, retryDelay }] })).toBeUndefined();
  });

  const field = (number: number, ...bytes: number[]): number[] => [number * 8 + 2, bytes.length, ...bytes];
  const text = (value: string): number[] => [...Buffer.from(value)];
  const status = (...any: number[]): Uint8Array => Uint8Array.from(field(3, ...any));
  const trailer = (bytes: Uint8Array | string): number | undefined =>
    look(grpc(8, "busy", { "grpc-status-details-bin": bytes })).retryAfterMs;
  const url = field(1, ...text(type));

  it("is read from the trailer past fields that it does not know, and in the other alphabet of base64", () => {
    const duration = field(1, 8, 4);
    const fixed64 = [4 * 8 + 1, 1, 2, 3, 4, 5, 6, 7, 8];
    const fixed32 = [5 * 8 + 5, 1, 2, 3, 4];
    for (const before of [[], fixed64, fixed32, field(6, 1, 2), [7 * 8, 5]]) {
      const bytes = status(...before, ...url, ...field(2, ...before, ...duration));
      expect(trailer(bytes)).toBe(4_000);
      const base64 = Buffer.from(bytes).toString("base64");
      expect(trailer(base64)).toBe(4_000);
      expect(trailer(Buffer.from(bytes).toString("base64url"))).toBe(4_000);
    }
    // Bytes that need the two letters in which the alphabets differ.
    const odd = status(
      ...url,
      ...field(2, ...duration),
      ...field(6, 251, 239, 190, 255, 255, 255, 251, 239, 190),
    );
    expect(Buffer.from(odd).toString("base64")).toMatch(/[+/]/);
    expect(trailer(Buffer.from(odd).toString("base64url"))).toBe(4_000);
  });

  it.each([
    ["has no type", status(...field(2, ...field(1, 8, 4)))],
    ["has no value", status(...url)],
    [
      "is of another type",
      status(...field(1, ...text("google.rpc.DebugInfo")), ...field(2, ...field(1, 8, 4))),
    ],
    ["has no duration", status(...url, ...field(2))],
    ["has a group, which nobody writes any more", status(3, ...url, ...field(2, ...field(1, 8, 4)))],
    ["has a type that is a number", status(8, 5, ...field(2, ...field(1, 8, 4)))],
    ["is empty", ""],
  ])("is none in a trailer that %s", (_what, bytes) => {
    expect(trailer(bytes)).toBeUndefined();
  });

  it("is zero where its fields are absent, as protobuf leaves them out", () => {
    expect(trailer(status(...url, ...field(2, ...field(1))))).toBe(0);
    expect(trailer(status(...url, ...field(2, ...field(1, ...field(1, 4)))))).toBe(0);
  });
});
