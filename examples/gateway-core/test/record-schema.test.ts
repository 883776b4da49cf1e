import { describe, expect, it } from "vitest";
import type { SandboxRecord } from "../src/record/record.js";
import { CorruptRecordError, decodeRecord } from "../src/record/record-schema.js";
import { recordProgress } from "../src/decide/progress-report.js";
import { stepViews } from "../src/http/step-view.js";
import { NOW, recordWith } from "./records.js";

/** As version 2 wrote it: with steps of its own shape. */
function version2(steps: readonly object[] = []): Record<string, unknown> {
  return { ...version3({ run: 3 }), schemaVersion: 2, steps };
}

/** As version 3 wrote it: without a word of what the end of a gateway had stopped. */
function version3(fields: Partial<SandboxRecord> = {}): Record<string, unknown> {
  const { shutdownStopAt, ...rest } = recordWith(fields);
  expect(shutdownStopAt).toBeNull();
  return { ...rest, schemaVersion: 3 };
}

/** As version 1 wrote it: without what version 2 added. */
function version1(): Record<string, unknown> {
  const { updatedAt, previousFinishedAt, isolationBackend, restarts, restartAt, ...rest } = version2();
  expect([updatedAt, previousFinishedAt, isolationBackend, restarts, restartAt]).toHaveLength(5);
  const instance = { id: "i-1", run: 1, handle: { pid: 7 }, startedAt: 5 };
  return { ...rest, run: 1, schemaVersion: 1, instance };
}

describe("a record of version 1", () => {
  it("is brought up to date, and nothing of it is guessed", () => {
    const old = version1();
    const record = decodeRecord("sb", old);
    expect(record).toMatchObject({
      schemaVersion: 4,
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
    expect(() => decodeRecord("sb", { ...recordWith(), schemaVersion: 5 })).toThrow(/schemaVersion/);
    expect(() => decodeRecord("sb", null)).toThrow(CorruptRecordError);
  });

  it("has the image that was asked for as its one step, of which nothing was heard", () => {
    expect(decodeRecord("sb", version1()).steps).toEqual(recordWith().steps);
  });

  it("is as good as one that was written today", () => {
    const record = recordWith({ isolationBackend: "strict", restarts: 2, restartAt: 9 });
    expect(decodeRecord("sb", JSON.parse(JSON.stringify(record)))).toEqual(record);
  });
});

describe("a record of version 2", () => {
  const words = { label: "Image pulled", subject: "image", unit: "bytes" };
  const image = {
    step: "image",
    ...words,
    position: 70,
    total: 100,
    startedAt: NOW - 9000,
    updatedAt: NOW - 2000,
  };
  const fetched = {
    ...image,
    step: "download",
    label: "Image downloaded",
    position: 100,
    startedAt: NOW - 30_000,
  };
  const steps = [
    { ...fetched, updatedAt: NOW - 9500, finishedAt: NOW - 9500 },
    { ...image, finishedAt: null },
  ];

  it("keeps its steps with their bytes and times, and they go on where they were", () => {
    const record = decodeRecord("sb", version2(steps));
    expect(stepViews(record, NOW)).toMatchObject([
      { step: "download", status: "finished", position: 100, elapsedMs: 20_500, finishedAt: NOW - 9500 },
      {
        step: "image",
        status: "running",
        position: 70,
        total: 100,
        percent: 70,
        elapsedMs: 9000,
        heardAt: NOW - 2000,
      },
    ]);
    const deadline = recordWith().deadline!;
    const alive = { ...record, deadline: { ...deadline, stallEndsAt: null } };
    const more = { ...words, step: "image", unit: "bytes" as const, position: 80 };
    const report = { attempt: deadline.attempt, run: 3, progress: more };
    const { record: next, result } = recordProgress(alive, report, NOW);
    expect(result).toEqual({ applied: true });
    expect(stepViews(next, NOW)[1]).toMatchObject({ position: 80, elapsedMs: 9000 });
    expect(decodeRecord("sb", JSON.parse(JSON.stringify(next)))).toEqual(next);
  });

  it("is corrupt when a step of it is", () => {
    const [first] = steps;
    expect(() => decodeRecord("sb", version2([{ ...first, unit: "furlongs" }]))).toThrow(/steps\[0\].unit/);
    expect(() => decodeRecord("sb", version2([{ ...first, position: -1 }]))).toThrow(/steps\[0\].position/);
    expect(() => decodeRecord("sb", { ...recordWith(), steps: [] })).toThrow(CorruptRecordError);
  });
});

describe("a record of version 3", () => {
  it("is one that no gateway stopped as it ended", () => {
    const record = recordWith({ run: 2 });
    expect(decodeRecord("sb", version3({ run: 2 }))).toEqual({ ...record, shutdownStopAt: null });
    expect(() => decodeRecord("sb", { ...version3(), shutdownStopAt: 5, schemaVersion: 2 })).toThrow(
      CorruptRecordError,
    );
    const { shutdownStopAt, ...rest } = record;
    expect(shutdownStopAt).toBeNull();
    expect(() => decodeRecord("sb", rest)).toThrow(/shutdownStopAt/);
  });
});
