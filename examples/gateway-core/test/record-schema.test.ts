import { describe, expect, it } from "vitest";
import { CorruptRecordError, decodeRecord } from "../src/record/record-schema.js";
import { recordWith } from "./records.js";

/** As version 1 wrote it: without what version 2 added. */
function version1(): Record<string, unknown> {
  const { updatedAt, previousFinishedAt, isolationBackend, restarts, restartAt, ...rest } = recordWith();
  expect([updatedAt, previousFinishedAt, isolationBackend, restarts, restartAt]).toHaveLength(5);
  const instance = { id: "i-1", run: 1, handle: { pid: 7 }, startedAt: 5 };
  return { ...rest, schemaVersion: 1, run: 1, instance };
}

describe("a record of version 1", () => {
  it("is brought up to date, and nothing of it is guessed", () => {
    const old = version1();
    const record = decodeRecord("sb", old);
    expect(record).toMatchObject({
      schemaVersion: 2,
      updatedAt: record.since,
      isolationBackend: null,
      restarts: 0,
    });
    expect(record.instance).toEqual({ id: "i-1", run: 1, handle: { pid: 7 }, startedAt: 5, launchedAt: 5 });
    const waiting = { ...old, instance: { id: "i-1", run: 1, handle: null, startedAt: 5 } };
    expect(decodeRecord("sb", waiting).instance?.launchedAt).toBeNull();
    expect(decodeRecord("sb", { ...old, instance: null }).instance).toBeNull();
  });

  it("is corrupt when a field of its own version is missing, and so is one of a later version", () => {
    const { steps, ...rest } = version1();
    expect(steps).toEqual([]);
    expect(() => decodeRecord("sb", rest)).toThrow(CorruptRecordError);
    expect(() => decodeRecord("sb", rest)).toThrow(/steps/);
    expect(() => decodeRecord("sb", { ...recordWith(), schemaVersion: 3 })).toThrow(/schemaVersion/);
    expect(() => decodeRecord("sb", null)).toThrow(CorruptRecordError);
  });

  it("is as good as one that was written today", () => {
    const record = recordWith({ isolationBackend: "strict", restarts: 2, restartAt: 9 });
    expect(decodeRecord("sb", JSON.parse(JSON.stringify(record)))).toEqual(record);
  });
});
