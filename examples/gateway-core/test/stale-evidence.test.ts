import { observeProcess } from "slipway";
import { describe, expect, it } from "vitest";
import { settleStop } from "../src/decide/ended.js";
import { nextWork } from "../src/decide/next-work.js";
import { recoverAtStartUp } from "../src/decide/recovery-plan.js";
import { isLostRun, isOfBefore } from "../src/decide/seen.js";
import { recordWith, NOW } from "./records.js";

/** A moment after the record's attempt began. */
const AT = NOW - 55_000;
/** A gateway looked, was held up, and decides only now. */
const seen = observeProcess({ process: null, stateDir: { exists: true } }, { observedAt: AT - 1500 });
const instance = { id: "sb/r2", run: 2, handle: null, startedAt: AT - 3000, launchedAt: AT - 2000 };

it("what a stop of an earlier run came to does not end the stop of a later one", () => {
  const record = recordWith({ phase: "Stopping", desired: "stopped", run: 2, instance, since: AT - 1000 });
  const ended = { failed: false, observation: seen, policy: {} };
  expect(settleStop(record, { ...ended, run: 1 }, AT).record).toBe(record);
  expect(settleStop(record, { ...ended, run: 2 }, AT).record.phase).toBe("Stopped");
});

it("what was seen of an earlier run says nothing of one that another gateway has begun since", () => {
  const record = recordWith({ run: 2, instance, phase: "Provisioning" });
  const context = { managesLifecycle: true, observation: seen, policy: {} };
  expect(recoverAtStartUp(record, { ...context, run: 1 }, AT).result).toBe("wait");
  expect(recoverAtStartUp(record, { ...context, run: 2 }, AT).result).toBe("done");
});

describe("a look that may have begun before the run was started", () => {
  const AROUND = { observation: null, backendMatches: null, policy: {} };
  const context = { managesLifecycle: true, observation: seen, policy: {}, run: 2 };
  const started = (launchedAt: number) =>
    recordWith({ run: 2, instance: { ...instance, launchedAt }, phase: "Provisioning" });
  const gone = { ...seen, exists: false, completed: false };

  it.each([
    ["by its time", AT - 500, undefined, true],
    ["by its time, which is that of the start", AT - 1500, undefined, false],
    ["by what the record had said of it before", AT - 2000, null, true],
    ["by another start that the record had", AT - 2000, AT - 9000, true],
    ["by the very start that the record had, whatever the clocks", AT - 500, AT - 500, false],
  ])("is told %s", (_how, launchedAt, known, isBefore) => {
    const record = started(launchedAt);
    const look = { observation: gone, instanceId: instance.id, launchedAt: known };
    expect(isOfBefore(record, look)).toBe(isBefore);
    expect(isLostRun(record, look)).toBe(!isBefore);
    const work = nextWork(record, { owner: "one", seen: look, around: AROUND }, AT).do;
    expect(work).toBe(isBefore ? "nothing" : "end-lost-run");
  });

  it("has seen the run where it shows it, running or ended", () => {
    const own = { ...seen, instanceId: instance.id };
    for (const observation of [
      { ...own, running: true },
      { ...own, running: false, completed: true },
    ])
      expect(isOfBefore(started(AT - 500), { observation, launchedAt: null })).toBe(false);
    const notYet = { ...own, running: false, completed: false };
    expect(isOfBefore(started(AT - 500), { observation: notYet, launchedAt: null })).toBe(true);
  });

  it("starts nothing anew at start-up, and ends nothing: another look is asked for", () => {
    const record = started(AT - 500);
    const waits = { record: { instance: record.instance, phase: record.phase }, result: "wait" };
    expect(recoverAtStartUp(record, context, AT)).toMatchObject(waits);
    const looked = { ...record, instance: { ...instance, launchedAt: null } };
    expect(recoverAtStartUp(record, { ...context, looked }, AT)).toMatchObject(waits);
    expect(recoverAtStartUp(record, { ...context, looked: record }, AT).result).toBe("done");
  });

  it("takes no run for started that a gateway has stopped since", () => {
    const running = { ...seen, exists: true, running: true, completed: false, instanceId: instance.id };
    const looked = { ...started(AT - 2000), phase: "Ready" as const };
    const record = { ...looked, shutdownStopAt: AT - 100 };
    const found = { ...context, observation: running };
    expect(recoverAtStartUp(record, { ...found, looked }, AT)).toMatchObject({
      record: { phase: "Ready", shutdownStopAt: AT - 100 },
      result: "wait",
    });
    expect(recoverAtStartUp(record, { ...found, looked: record }, AT).result).toBe("done");
  });
});
