import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { VirtualClock } from "../testing/index.js";
import { definePlan, PhasedDeadline, startAttempt, type DeadlineState } from "./index.js";
import { LatestProgress } from "./latest-progress.js";
import { liveSettings } from "./live-settings.js";
import { applyProgress } from "./progress.js";
import { progressOf, type ProgressReport } from "./progress-report.js";

const NOW = 1_800_000_000_000;
const plan = definePlan({
  phases: [
    { name: "preparation", budgetMs: 60_000, stallMs: 5000 },
    { name: "admission", budgetMs: 5000 },
  ],
});
const fresh = startAttempt(plan, { attempt: "a1", now: NOW }).state!;

function after(state: DeadlineState, ...reports: readonly ProgressReport[]): DeadlineState {
  return reports.reduce((seen, report) => applyProgress(seen, progressOf(seen, report), NOW, 1).state, state);
}

describe("the judgement of a report without a state", () => {
  const word = fc.constantFrom(undefined, "a", "b", "", "x".repeat(2000));
  const position = fc.constantFrom(undefined, null, 0, 1, 5, 5.5, -1, Number.NaN, Number.POSITIVE_INFINITY);
  const report = fc.record({
    ...{ step: word, part: word, position },
    phase: fc.constantFrom(undefined, "preparation", "admission", "other"),
    run: fc.constantFrom(undefined, 0, 1, 2),
  }) as fc.Arbitrary<ProgressReport>;

  it("is that of the rule, wherever there is one", () => {
    fc.assert(
      fc.property(fc.array(report, { maxLength: 8 }), (reports) => {
        const latest = new LatestProgress();
        let told = fresh;
        let ruled = fresh;
        for (const each of reports) {
          const judged = latest.judge(told, each);
          const step = applyProgress(ruled, progressOf(ruled, each), NOW, 1);
          ruled = step.state;
          if (judged === "raises") latest.raise(told, each, NOW);
          else if (judged === undefined) told = ruled;
          if (judged === undefined && latest.times > 0) return;
          if (judged !== undefined)
            expect(step.outcome).toMatchObject(
              judged === "raises" ? { applied: true } : { applied: false, why: "duplicate" },
            );
        }
        expect(latest.fold(told)).toEqual(ruled);
        expect(latest.times).toBe(0);
      }),
      { seed: 7, numRuns: 3000 },
    );
  });

  const marked = after(fresh, { step: "a", part: "p", position: 5 });
  it.each([
    ["the first of a step", fresh, { step: "a", position: 1 }, "raises"],
    ["the first of a part", fresh, { step: "a", part: "p", position: 1 }, "raises"],
    ["one without a step", fresh, { position: 1 }, "raises"],
    ["one above its mark", marked, { step: "a", part: "p", position: 6 }, "raises"],
    ["one at its mark", marked, { step: "a", part: "p", position: 5 }, "duplicate"],
    [
      "one of this phase and run",
      marked,
      { step: "a", part: "p", position: 5, phase: "preparation", run: 0 },
      "duplicate",
    ],
    ["one of another phase", marked, { step: "a", part: "p", position: 5, phase: "admission" }, undefined],
    ["one of another run", marked, { step: "a", part: "p", position: 5, run: 1 }, undefined],
    ["one of no position", marked, { step: "a", part: "p", position: Number.NaN }, undefined],
    ["one of a name that is none", fresh, { step: "", position: 1 }, undefined],
    ["one of a part that is none", fresh, { step: "a", part: "", position: 1 }, undefined],
  ] as readonly [string, DeadlineState, ProgressReport, string | undefined][])(
    "of %s is known or left to the rule",
    (_, state, given, judged) => {
      expect(new LatestProgress().judge(state, given)).toBe(judged);
    },
  );

  it("knows the latest report that no state says yet, and no other", () => {
    const latest = new LatestProgress();
    latest.raise(fresh, { step: "a", position: 3 }, NOW);
    expect(latest.judge(fresh, { step: "a", position: 3 })).toBe("duplicate");
    expect(latest.judge(fresh, { step: "a", position: 4 })).toBe("raises");
    expect(latest.judge(fresh, { step: "b", position: 4 })).toBe(undefined);
  });

  it("leaves the first of a step to the rule where a step has a stall limit of its own", () => {
    const steps = definePlan({ phases: [{ name: "preparation", budgetMs: 60_000, stallMs: { a: 5000 } }] });
    const { state } = startAttempt(steps, { attempt: "a1", now: NOW });
    expect(new LatestProgress().judge(state!, { step: "a", position: 1 })).toBe(undefined);
  });
});

describe("how a live deadline runs", () => {
  const commit = () => ({ committed: true }) as const;
  const onError = (): void => undefined;

  it("is one object for all who leave it at the defaults", () => {
    expect(liveSettings({})).toBe(liveSettings({ progressEveryMs: 1000 }));
    expect(liveSettings({})).toEqual({ progressEveryMs: 1000, observes: false, onError: undefined });
  });

  it.each([
    [{ commit }, { progressEveryMs: 1000, observes: true, onError: undefined }],
    [
      { commit, observe: false },
      { progressEveryMs: 1000, observes: false, onError: undefined },
    ],
    [{ observe: true }, { progressEveryMs: 1000, observes: true, onError: undefined }],
    [{ progressEveryMs: 50 }, { progressEveryMs: 50, observes: false, onError: undefined }],
    [{ onError }, { progressEveryMs: 1000, observes: false, onError }],
  ])("with %o", (options, settings) => {
    expect(liveSettings(options)).toEqual(settings);
  });

  it.each([null, undefined, "image", 7])("refuses what is no report: %j", (report) => {
    const deadline = PhasedDeadline.start(plan, { attempt: "a1", clock: new VirtualClock() });
    expect(() => deadline.progress(report as never)).toThrow("report must be an object");
  });
});
