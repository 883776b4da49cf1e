import fc from "fast-check";
import { decodeTrackerState } from "slipway/schema";
import { describe, expect, it } from "vitest";
import { recordProgress, type ProgressResult } from "../src/decide/progress-report.js";
import type { DriverProgress } from "../src/driver/driver.js";
import { stepViews } from "../src/http/step-view.js";
import type { SandboxRecord } from "../src/record/record.js";
import { BUDGETS } from "./bench.js";
import { NOW } from "./records.js";
import { imageReport, recordAfter, stepsAfter, type Said } from "./step-reports.js";

/** The attempts of these records began then. */
const START = NOW - 60_000;
const at = (ms: number, progress: DriverProgress, run = 1): Said => [START + ms, progress, run];
const result = (record: SandboxRecord, [now, progress, run = 1]: Said): ProgressResult => {
  const attempt = record.deadline?.attempt ?? "";
  return recordProgress({ ...record, run: 1 }, { attempt, run, progress }, now).result;
};
const bootstrap = imageReport(512_000_000, { subject: "bootstrap:1", total: 512_000_000, done: true });

describe("a driver's report", () => {
  it("about another image completes nothing, also as the first", () => {
    expect(result(recordAfter(), at(600, bootstrap))).toEqual({ applied: false, why: "other-subject" });
    const [image] = stepsAfter(START + 700, at(600, bootstrap), at(650, imageReport(5)));
    expect(image).toMatchObject({ step: "image", subject: "image", status: "running", position: 5 });
  });

  it("of the same position is a duplicate, and its end is news", () => {
    const record = recordAfter(at(1000, imageReport(7)));
    expect(result(record, at(2000, imageReport(7)))).toEqual({ applied: false, why: "duplicate" });
    expect(result(record, at(2000, imageReport(7, { done: true })))).toEqual({ applied: true });
    const [image] = stepsAfter(
      START + 9000,
      at(1000, imageReport(7)),
      at(2000, imageReport(7, { done: true })),
    );
    expect(image).toMatchObject({ finished: true, position: 7, elapsedMs: 1000 });
  });

  it("adds up parts, and gives the deadline their sum", () => {
    const record = recordAfter(
      at(1000, imageReport(40, { part: "a", total: 100 })),
      at(2000, imageReport(20, { part: "b", total: 300 })),
    );
    expect(stepViews(record, START + 2000)[0]).toMatchObject({ position: 60, total: 400, percent: 15 });
    expect(record.deadline?.marks).toEqual([{ step: "image", part: null, position: 60 }]);
  });

  it("of time that went by counts no bytes, and is a sign of life for as long as it rises", () => {
    const busy = (busySeconds: number): DriverProgress => imageReport(undefined, { busySeconds });
    const said = [at(1000, imageReport(7, { total: 9 })), at(8000, busy(5)), at(16_000, busy(13))] as const;
    const record = recordAfter(...said);
    expect(stepViews(record, START + 16_000)[0]).toMatchObject({ position: 7, total: 9, quietMs: 0 });
    expect(record.deadline).toMatchObject({
      status: "active",
      stallEndsAt: START + 16_000 + BUDGETS.stallMs!,
      windowEndsAt: recordAfter(said[0]).deadline?.windowEndsAt,
    });
    expect(result(record, at(17_000, busy(13)))).toEqual({ applied: false, why: "duplicate" });
    const [before] = stepsAfter(START + 9000, at(8000, busy(5)));
    expect(before).toMatchObject({ status: "running", position: null, total: null, percent: null });
  });

  it("that counts bytes of a step that began without is no count in its other unit", () => {
    const began = imageReport(undefined, { unit: "none" });
    const [image] = stepsAfter(START + 9000, at(1000, began), at(2000, imageReport(512, { total: 600 })));
    expect(image).toMatchObject({
      unit: "none",
      status: "running",
      position: null,
      total: null,
      quietMs: 7000,
    });
  });

  it("of a step that is new takes its place behind what this run did, and before what it has yet to do", () => {
    const done = (step: string): DriverProgress => ({
      step,
      label: step,
      subject: step,
      unit: "none",
      done: true,
    });
    const steps = stepsAfter(START + 9000, at(1000, done("resource")), at(2000, done("schedule")));
    expect(steps.map(({ step, status }) => [step, status])).toEqual([
      ["resource", "finished"],
      ["schedule", "finished"],
      ["image", "waiting"],
    ]);
  });

  it("of a later run goes on with the time of the one before, and with bytes of its own", () => {
    const said = [at(1000, imageReport(4_000_000_000)), at(9000, imageReport(1000), 2)] as const;
    expect(stepsAfter(START + 9000, ...said)[0]).toMatchObject({ position: 1000, elapsedMs: 8000 });
    const [before, after] = [recordAfter(said[0]), recordAfter(...said)];
    expect(after.deadline?.windowEndsAt).toBe(before.deadline?.windowEndsAt);
  });

  it("of a wait, in a later run, leaves the image's step as it is: it is not finished", () => {
    const wait: DriverProgress = imageReport(5, { step: "image-wait", waiting: true });
    const steps = stepsAfter(START + 9000, at(1000, imageReport(40)), at(5000, wait, 2));
    expect(steps.map(({ step, status }) => [step, status])).toEqual([
      ["image-wait", "running"],
      ["image", "running"],
    ]);
  });

  it("in other words than the run before is of other work, which begins anew", () => {
    const reused = imageReport(undefined, {
      label: "Image reused",
      activeLabel: undefined,
      unit: "none",
      done: true,
    });
    const [image] = stepsAfter(START + 9000, at(1000, imageReport(40)), at(5000, reused, 2));
    expect(image).toMatchObject({ label: "Image reused", position: null, elapsedMs: 0, finished: true });
  });

  it("says why nothing of it counts any more", () => {
    const record = recordAfter(at(1000, imageReport(7)));
    const more = imageReport(8);
    expect(result(record, at(2000, more, 2))).toEqual({ applied: false, why: "stale-run" });
    const stale = recordProgress(record, { attempt: "another", run: 1, progress: more }, START + 2000);
    expect(stale.result).toEqual({ applied: false, why: "stale-attempt" });
    expect(result(record, at(30_000, more))).toEqual({ applied: false, why: "expired" });
    const expired = recordAfter(at(1000, imageReport(7)), at(30_000, more));
    expect(expired.phase).toBe("Error");
    expect(result(expired, at(31_000, more))).toEqual({ applied: false, why: "settled" });
    expect(stepViews(expired, START + 99_000)[0]).toMatchObject({ position: 7, elapsedMs: 0 });
  });

  it("never makes a record that cannot be read again, whatever it says", () => {
    const name = fc.oneof(
      fc.constantFrom("image", "disk", "image-wait"),
      fc.string({ maxLength: 8, minLength: 1 }),
    );
    const report: fc.Arbitrary<DriverProgress> = fc.record({
      step: name,
      label: fc.constantFrom("One", "Other"),
      subject: fc.constantFrom("image", "bootstrap:1", "x".repeat(3000)),
      unit: fc.constantFrom("bytes", "none"),
      part: fc.option(fc.constantFrom("a", "b"), { nil: undefined }),
      position: fc.option(fc.oneof(fc.nat(), fc.double()), { nil: undefined }),
      total: fc.option(fc.oneof(fc.nat(), fc.double()), { nil: undefined }),
      busySeconds: fc.option(fc.oneof(fc.nat(), fc.double()), { nil: undefined }),
      done: fc.boolean(),
      waiting: fc.boolean(),
    });
    const story = fc.array(fc.tuple(fc.nat(3000), fc.nat(1), report), { maxLength: 12 });
    fc.assert(
      fc.property(story, (said) => {
        let [now, run] = [START, 1];
        const reports = said.map(
          ([after, next, progress]): Said => [(now += after), progress, (run += next)],
        );
        const { steps } = recordAfter(...reports);
        expect(decodeTrackerState(JSON.parse(JSON.stringify(steps)))).toEqual(steps);
      }),
    );
  });

  it("of more steps than there may be is refused, and the record stays readable", () => {
    const many = Array.from({ length: 80 }, (_, index) =>
      at(1000 + index, { step: `s${index}`, label: "Step", subject: "", unit: "none", done: true }),
    );
    const record = recordAfter(...many);
    expect(record.steps.steps).toHaveLength(64);
    expect(result(record, many[70]!)).toEqual({ applied: false, why: "unknown-step" });
    expect(decodeTrackerState(JSON.parse(JSON.stringify(record.steps)))).toEqual(record.steps);
  });
});
