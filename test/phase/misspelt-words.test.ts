import { describe, expect, it } from "vitest";
import {
  acceptOperation,
  applyRecovery,
  applyShutdown,
  planRecovery,
  planShutdown,
  Reconciler,
  resolveFailedOperation,
  type SandboxRecord,
} from "../../src/index.js";
import { MemoryRecordStore, VirtualClock } from "../../src/testing/index.js";

const record: SandboxRecord = { phase: "Ready", desired: "running", since: 0 };
const marked: SandboxRecord = { ...record, shutdownStopAt: 5 };
const gate = { allowed: true, route: "stop", rule: "stop-anything" } as const;
const sweep = { managesLifecycle: true, now: 1 };

const OPERATIONS = 'operation must be "start" or "stop" or "delete"';
const RESULTS = 'result must be "ok" or "not-found" or "error"';

/** No words of these functions, though objects have some of them. */
const misspelt: readonly unknown[] = [
  "Stop",
  "restart",
  "",
  "__proto__",
  "constructor",
  null,
  undefined,
  7,
  ["stop"],
];

describe("a word that these functions do not know", () => {
  it.each<[string, (word: never) => unknown, string]>([
    ["acceptOperation", (word) => acceptOperation(record, word, gate, { now: 1 }), OPERATIONS],
    ["resolveFailedOperation", (word) => resolveFailedOperation(record, record, word, null, 1), OPERATIONS],
    ["applyRecovery", (word) => applyRecovery(marked, word, "ok", sweep), 'call must be "start" or "stop"'],
    ["applyRecovery", (word) => applyRecovery(marked, "stop", word, sweep), RESULTS],
    ["applyShutdown", (word) => applyShutdown(marked, word, sweep), RESULTS],
  ])("is refused by %s", (_name, call, says) => {
    for (const word of misspelt) {
      const expected = { code: "INVALID_OPTION", field: says.split(" ")[0] };
      expect(() => call(word as never)).toThrow(expect.objectContaining(expected) as Error);
      expect(() => call(word as never)).toThrow(`${says}, got `);
    }
  });

  it("is not asked for where the gate refuses", () => {
    const refused = {
      allowed: false,
      reason: "Deleting",
      message: "",
      rule: "start-while-deleting",
    } as const;
    expect(acceptOperation(record, "restart" as never, refused, undefined as never).refused).toBe("Deleting");
  });
});

describe("a moment that is none", () => {
  it.each<[string, (options: never) => unknown]>([
    ["acceptOperation", (options) => acceptOperation(record, "stop", gate, options)],
    ["planRecovery", (options) => planRecovery(marked, options)],
    ["applyRecovery", (options) => applyRecovery(record, "start", "ok", options)],
    ["planShutdown", (options) => planShutdown(record, options)],
    ["applyShutdown", (options) => applyShutdown(marked, "error", options)],
  ])("is written into no record by %s", (_name, call) => {
    for (const now of [undefined, null, "5", Number.NaN, 5n, new Date(5)])
      expect(() => call({ managesLifecycle: true, now } as never)).toThrow(
        expect.objectContaining({ code: "INVALID_OPTION", field: "now" }) as Error,
      );
  });
});

describe("an operation that cannot be carried out", () => {
  it.each<[string, unknown, unknown, string]>([
    ["a misspelt word", "restart", { call: () => Promise.resolve() }, "operation"],
    ["a word of every object", "constructor", { call: () => Promise.resolve() }, "operation"],
    ["no options", "stop", undefined, "options"],
    ["no call", "stop", {}, "call"],
    ["a call that is none", "stop", { call: "docker stop" }, "call"],
  ])("is named before its intent is written: %s", async (_what, operation, options, field) => {
    const store = new MemoryRecordStore();
    store.put("sb", record);
    const source = {
      list: () => Promise.resolve({ items: [], cursor: null }),
      get: () => Promise.resolve(null),
      async *watch() {},
    };
    const reconciler = new Reconciler({ store, source, clock: new VirtualClock() });
    await expect(reconciler.operate("sb", operation as never, options as never)).rejects.toMatchObject({
      code: "INVALID_OPTION",
      field,
    });
    expect([store.writes, store.peek("sb")]).toEqual([0, record]);
  });
});
