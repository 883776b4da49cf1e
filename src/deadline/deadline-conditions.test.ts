import { describe, expect, it } from "vitest";
import { applyDeadlineEvent } from "./apply.js";
import { deadlineConditions } from "./deadline-conditions.js";
import { startAttempt } from "./start.js";
import type { DeadlineState } from "./state.js";

const attempt = "a1";
const cause = { reason: "IsolationBackendMismatch", message: "restore the gateway selection" };

function fresh(name = "preparation"): DeadlineState {
  const phases = [
    { name, budgetMs: 1000, timeoutReason: "ImagePreparationTimedOut" },
    { name: "admission", budgetMs: 1000, renewOn: "change" as const },
  ];
  const { state } = startAttempt({ phases }, { attempt, now: 5500, configuration: { generation: 1 } });
  if (state === undefined) throw new Error("refused");
  return state;
}

const ready = { type: "Ready", status: "False", lastTransitionTime: "1970-01-01T00:00:05Z" };

describe("deadlineConditions", () => {
  it("names the current phase while the attempt lives", () => {
    const state = fresh();
    expect(deadlineConditions(state, 6000)).toEqual([
      { ...ready, reason: "Preparation", message: "preparation is under way" },
    ]);
    const admitted = applyDeadlineEvent(state, { type: "enter", attempt, phase: "admission" }, 6000).state;
    expect(deadlineConditions(admitted, 6000, { cause })).toEqual([
      { ...ready, reason: "Admission", message: "admission is under way" },
    ]);
  });

  it.each([
    ["image-pull", "ImagePull"],
    ["image pull/unpack", "ImagePullUnpack"],
    ["-image--pull-", "ImagePull"],
    ["2nd", "Phase2nd"],
    ["2Nd", "Phase2Nd"],
    ["准备", "Phase"],
  ])("makes a phase called %s an acceptable reason", (name, reason) => {
    expect(deadlineConditions(fresh(name), 6000)[0]?.reason).toBe(reason);
  });

  it("does not let readiness through that came at the deadline, before the timeout is written", () => {
    expect(deadlineConditions(fresh(), 6499)[0]?.reason).toBe("Preparation");
    expect(deadlineConditions(fresh(), 6500)[0]).toMatchObject({
      status: "False",
      reason: "ProvisioningDeadlineElapsed",
      message: "the deadline of preparation has passed",
    });
  });

  it("publishes the phase's own reason after the expiry, with a cause in preparation only", () => {
    const preparation = applyDeadlineEvent(fresh(), { type: "tick" }, 7000).state;
    expect(deadlineConditions(preparation, 7000, { cause })).toEqual([
      {
        ...ready,
        reason: "ImagePreparationTimedOut",
        message: "preparation did not finish within its window, which ended 1 s after it began",
        cause,
      },
    ]);
    let state = applyDeadlineEvent(fresh(), { type: "enter", attempt, phase: "admission" }, 6000).state;
    state = applyDeadlineEvent(state, { type: "reject", attempt, generation: 1 }, 6100).state;
    state = applyDeadlineEvent(state, { type: "tick" }, 9000).state;
    const [condition] = deadlineConditions(state, 9000, { cause });
    expect(condition).toMatchObject({ reason: "ProvisioningTimedOut" });
    expect(condition?.message).toMatch(/configuration generation 1 was rejected$/);
    expect(condition).not.toHaveProperty("cause");
  });

  it.each([
    ["the only phase", [{ name: "run", budgetMs: 10 }], "run", true],
    [
      "a phase before admission",
      [
        { name: "pull", budgetMs: 10 },
        { name: "unpack", budgetMs: 10 },
        { name: "admit", renewOn: "change" as const },
      ],
      "unpack",
      true,
    ],
    ["admission alone", [{ name: "admit", budgetMs: 10, renewOn: "change" as const }], "admit", false],
    [
      "a phase after admission",
      [
        { name: "admit", renewOn: "change" as const },
        { name: "warmup", budgetMs: 10 },
      ],
      "warmup",
      false,
    ],
    [
      "the last phase of a plan that renews nothing",
      [{ name: "pull" }, { name: "boot", budgetMs: 10 }],
      "boot",
      false,
    ],
  ])("takes a cause for preparation in %s: %s", (_what, phases, phase, taken) => {
    const { state } = startAttempt({ phases }, { attempt, now: 0, phase });
    const expired = applyDeadlineEvent(state!, { type: "tick" }, 10).state;
    expect(expired.status).toBe("expired");
    expect(deadlineConditions(expired, 10, { cause })[0]?.cause).toEqual(taken ? cause : undefined);
  });

  it("holds a transition time within the years that one can carry", () => {
    const phases = [{ name: "run" }];
    const far = startAttempt({ phases }, { attempt, now: 8e15 }).state!;
    expect(deadlineConditions(far, 8e15)[0]?.lastTransitionTime).toBe("9999-12-31T23:59:59Z");
  });

  it("states nothing about an attempt that completed or was cancelled", () => {
    const cancelled = applyDeadlineEvent(fresh(), { type: "cancel", attempt, reason: "stop" }, 6000).state;
    expect(deadlineConditions(cancelled, 6000)).toEqual([]);
    let state = applyDeadlineEvent(fresh(), { type: "enter", attempt, phase: "admission" }, 6000).state;
    state = applyDeadlineEvent(state, { type: "complete", attempt }, 6100).state;
    expect(deadlineConditions(state, 6100)).toEqual([]);
  });
});

describe("the message of an expiry", () => {
  const after = (
    plan: Parameters<typeof startAttempt>[0],
    now: number,
    options: object = {},
  ): string | undefined => {
    const { state } = startAttempt(plan, { attempt, now: 0, ...options });
    return state && applyDeadlineEvent(state, { type: "tick" }, now).state.expiry?.message;
  };

  it.each([
    [
      "a phase's ceiling",
      { phases: [{ name: "run", ceilingMs: 2000 }] },
      {},
      "run did not finish within its ceiling of 2 s",
    ],
    [
      "the attempt's ceiling",
      { phases: [{ name: "run" }], ceilingMs: 2500 },
      {},
      "run did not finish within the attempt's ceiling of 2.5 s",
    ],
    [
      "the parent",
      { phases: [{ name: "run" }] },
      { parent: { deadlineAt: 1500 } },
      "run did not finish before the deadline of what it is a part of, 1.5 s after it began",
    ],
    ["a stall", { phases: [{ name: "run", stallMs: 100 }] }, {}, "run stalled: no new progress for 0.1 s"],
  ])("names %s", (_what, plan, options, message) => {
    expect(after(plan, 9000, options)).toBe(message);
  });
});
