import { describe, expect, it } from "vitest";
import { present } from "../observation.js";
import {
  dropOtherRun,
  isEarlierRun,
  isForeignInstance,
  isOwnStop,
  isCertainRun,
  observedAtOf,
} from "./options.js";

describe("what an observer knows beside the backend's object", () => {
  it("is when it was fetched, where that is an instant", () => {
    expect(observedAtOf({ observedAt: 5 })).toBe(5);
    for (const observedAt of [undefined, Number.NaN, Number.POSITIVE_INFINITY, "5"])
      expect(observedAtOf({ observedAt: observedAt as number })).toBeNull();
  });

  it("is whether an end is the gateway's own stop at work", () => {
    expect(isOwnStop({ run: { desired: "stopped" } })).toBe(true);
    expect(isOwnStop({ run: { desired: "deleted" } })).toBe(true);
    for (const run of [{ desired: "running" } as const, {}, undefined, null])
      expect(isOwnStop({ run })).toBe(false);
  });

  it.each([
    ["no run is expected", undefined, 5_000, false],
    ["no run is expected, as JSON says it", null, 5_000, false],
    ["it has no time", { previousFinishedAt: 9_000 }, null, false],
    ["nothing is known of the runs", {}, 5_000, false],
    ["the run before ended later", { previousFinishedAt: 5_001 }, 5_000, true],
    ["the run before ended then", { previousFinishedAt: 5_000 }, 5_000, true],
    ["the run before ended earlier", { previousFinishedAt: 4_999 }, 5_000, false],
    ["the start came in a later second", { startRequestedAt: 6_000 }, 5_000, true],
    ["the start came in the same second", { startRequestedAt: 5_999 }, 5_000, false],
    ["the start came before", { startRequestedAt: 4_000 }, 5_000, false],
    [
      "a stop is wanted, which any end confirms",
      { startRequestedAt: 9_000, desired: "stopped" },
      5_000,
      false,
    ],
    ["it is wanted to run", { startRequestedAt: 9_000, desired: "running" }, 5_000, true],
  ] as const)("is whether an end is the run before's: %s", (_what, run, finishedAt, earlier) => {
    expect(isEarlierRun({ run }, finishedAt, 1_000)).toBe(earlier);
  });

  it("is whose instance it sees: silence on either side is no contradiction", () => {
    const run = { instanceId: "i-1" };
    expect(isForeignInstance({ run }, "i-2")).toBe(true);
    expect(isCertainRun({ run }, "i-1")).toBe(true);
    expect(isCertainRun({ run: { confirmed: true } }, null)).toBe(true);
    for (const [options, id] of [
      [{ run }, "i-1"],
      [{ run }, null],
      [{ run: {} }, "i-1"],
      [{}, "i-1"],
      [{}, null],
    ] as const)
      expect(isForeignInstance(options, id)).toBe(false);
    for (const [options, id] of [
      [{ run }, "i-2"],
      [{ run }, null],
      [{ run: {} }, "i-1"],
      [{}, "i-1"],
      [{}, null],
    ] as const)
      expect(isCertainRun(options, id)).toBe(false);
  });

  it("of another run leaves that there is something, and nothing of how that ended", () => {
    const draft = present(7);
    const before = { ...draft };
    Object.assign(draft, {
      completed: true,
      exitCode: 1,
      endedBy: "host",
      finishedAt: 5,
      failureReason: "Killed",
      failureClass: "terminal",
    });
    expect(dropOtherRun(draft)).toEqual({ ...before, stale: true });
  });
});
