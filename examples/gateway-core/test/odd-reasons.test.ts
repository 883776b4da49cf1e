import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PermanentDriverError } from "../src/driver/driver.js";
import type { Gateway } from "../src/gateway/gateway.js";
import { closestWord } from "../src/record/closest-word.js";
import { gatewayReasons } from "../src/record/reasons.js";
import { Bench } from "./bench.js";

describe("a permanent failure by a reason that is none", () => {
  let bench: Bench;
  let gateway: Gateway;
  let logged: string;
  beforeEach(async () => {
    bench = await Bench.open();
    logged = "";
    const log = (...line: unknown[]): void => void (logged += JSON.stringify(line));
    gateway = await bench.gateway("one", { log });
  });
  afterEach(() => bench.close());

  it.each<[string, unknown, string]>([
    ["nothing", undefined, "LocalDriverFailed"],
    ["a number", 7, "LocalDriverFailed"],
    ["an object", {}, "LocalDriverFailed"],
    ["an empty text", "", "NoReasonReported"],
    ["a sentence", "image missing!", "image_missing"],
    ["a word of every object", "__proto__", "proto__"],
    ["a text of any length", "X".repeat(1_000_000), "X".repeat(1024)],
    ["a secret", "Key_sk-secret-value", "Key__hidden"],
  ])("ends the sandbox by one that a condition takes: %s", async (_what, reason, expected) => {
    const policy = { version: 1, env: { KEY: "sk-secret-value" } };
    const { record } = await gateway.create({ ...bench.request, policy });
    await bench.settle();
    bench.driver.launches.at(-1)?.fail(new PermanentDriverError(reason as string, "why"));
    await bench.settle();
    const { phase, reason: kept, message } = await bench.read(gateway, record.id);
    expect({ phase, kept, message }).toEqual({ phase: "Error", kept: expected, message: "why" });
    expect(logged).not.toContain("sk-secret-value");
  });
});

describe("the closest word", () => {
  it("of one that is far longer than each is none, and soon said", () => {
    // A comparison of these letter by letter takes longer than a test may.
    expect(closestWord("x".repeat(5_000_000), Object.keys(gatewayReasons.reasons))).toBe(null);
  });
});
