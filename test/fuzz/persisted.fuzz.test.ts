import fc from "fast-check";
import { expect } from "vitest";
import { parseConditions } from "../../src/conditions/index.js";
import {
  applyDeadlineEvent,
  definePlan,
  readDeadline,
  rebaseClock,
  startAttempt,
  type DeadlineState,
} from "../../src/deadline/index.js";
import { isSlipwayError } from "../../src/errors.js";
import { applyStepEvent, readSteps, startTracking, type TrackerState } from "../../src/progress/index.js";
import { BootstrapRetrier, decodeRetrySnapshot } from "../../src/retry/index.js";
import { decodeDeadlineState, decodeReasonCatalog, decodeTrackerState } from "../../src/schema/index.js";
import { sandboxReasons } from "../../src/conditions/index.js";
import { VirtualClock } from "../../src/testing/index.js";
import { fuzz, json, type Codec } from "./fuzz.js";
import { mutated } from "./mutations.js";

const corpus = new URL("corpus/", import.meta.url);
const CODES = ["INVALID_STATE", "UNSUPPORTED_SCHEMA_VERSION", "INVALID_CATALOG"];

/** The state that was stored, whole, or the documented error, which names the field and the value there. */
function decodedOrRefused<State>(decode: (value: unknown) => State, value: unknown): State | null {
  let state: State;
  try {
    state = decode(value);
  } catch (error) {
    if (!isSlipwayError(error)) throw error;
    expect(CODES).toContain(error.code);
    expect(error.field).toBeTypeOf("string");
    expect(error.message).toContain(error.field);
    return null;
  }
  expect(plain(state)).toEqual(plain(value));
  return state;
}

/** As JSON has it: a list of its own keys in any order, and nothing else. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function deadlines(): DeadlineState[] {
  const plan = definePlan({
    phases: [
      {
        name: "preparation",
        budgetMs: 600,
        stallMs: { image: 100 },
        timeoutReason: "ImagePreparationTimedOut",
      },
      {
        name: "admission",
        budgetMs: 300,
        renewOn: "change",
        ceilingMs: 900,
        timeoutReason: "ProvisioningTimedOut",
      },
    ],
    ceilingMs: 1500,
    cleanupBudgetMs: 50,
    observeEveryMs: 50,
  });
  const { state: started } = startAttempt(plan, { attempt: "a1", now: 1000 });
  if (started === undefined) throw new Error("a first attempt is never refused");
  const after = (state: DeadlineState, now: number, ...events: object[]): DeadlineState =>
    events.reduce<DeadlineState>(
      (found, event) => applyDeadlineEvent(found, { attempt: "a1", ...event } as never, now).state,
      state,
    );
  const moving = after(started, 1050, {
    type: "progress",
    phase: "preparation",
    step: "image",
    part: "layer",
    position: 10,
    run: 1,
  });
  const admitted = after(moving, 1100, { type: "enter", phase: "admission" });
  const rejected = after(admitted, 1150, {
    type: "reject",
    generation: 1,
    digest: "d1",
    reason: "ConfigurationInvalid",
    message: "no",
  });
  const renewed = after(rejected, 1160, { type: "change", generation: 2, digest: "d2" });
  const expired = after(renewed, 3000, { type: "tick" });
  return [
    started,
    moving,
    rejected,
    renewed,
    after(renewed, 1170, { type: "complete" }),
    after(renewed, 1170, { type: "pause", seq: 1 }),
    after(renewed, 1170, { type: "cancel", reason: "stopped" }),
    expired,
    after(expired, 3001, { type: "claim-cleanup", owner: "g1" }),
  ];
}

fuzz<unknown>({
  name: "deadline-state",
  corpus,
  codec: json,
  inputs: mutated(deadlines()),
  runs: 500,
  law: (value) => {
    const state = decodedOrRefused(decodeDeadlineState, value);
    if (state === null) return;
    for (const now of [state.startedAt, state.observedAt, state.observedAt + 1e6]) {
      readDeadline(state, now);
      const rebased = rebaseClock(state, now);
      const event = { type: "tick" } as const;
      expect(plain(decodeDeadlineState(plain(rebased)))).toEqual(plain(rebased));
      const { state: next } = applyDeadlineEvent(state, event, now);
      expect(plain(decodeDeadlineState(plain(next)))).toEqual(plain(next));
    }
  },
});

function trackers(): TrackerState[] {
  const steps = [
    { step: "export", label: "Image exported", subject: "local-big:1", total: 1000 },
    { step: "disk", label: "Root disk prepared", subject: "local-big:1" },
  ];
  const started = startTracking(steps, 1000);
  const events = [
    { type: "report", step: "export", subject: "local-big:1", position: 100, total: 200, part: "a", run: 1 },
    { type: "report", step: "export", subject: "local-big:1", position: 180, part: "a" },
    { type: "finish", step: "export", subject: "local-big:1" },
    { type: "start", step: "disk", subject: "local-big:1" },
  ] as const;
  const states = [started];
  for (const [index, event] of events.entries())
    states.push(applyStepEvent(states.at(-1) ?? started, event, 2000 + index * 2000).state);
  return states;
}

fuzz<unknown>({
  name: "tracker-state",
  corpus,
  codec: json,
  inputs: mutated(trackers()),
  runs: 500,
  law: (value) => {
    const state = decodedOrRefused(decodeTrackerState, value);
    if (state === null) return;
    for (const now of [state.observedAt, state.observedAt + 1e6]) readSteps(state, now);
    const [first] = state.steps;
    if (first === undefined) return;
    const { step, subject } = first;
    const { state: next } = applyStepEvent(state, { type: "finish", step, subject }, state.observedAt);
    expect(plain(decodeTrackerState(plain(next)))).toEqual(plain(next));
  },
});

function snapshots(): unknown[] {
  const base = {
    schemaVersion: 1,
    state: "waiting",
    observedAt: 5000,
    startedAt: 1000,
    attemptStartedAt: 4000,
    nextAttemptAt: 6000,
    retryNowAt: null,
    attempts: 2,
    failures: 2,
    previousMs: 1000,
    suspects: 0,
    suspectSince: null,
    refreshed: false,
    transientCount: 2,
    permanentCount: 0,
    suspectCount: 0,
    cancelledCount: 0,
    history: [1, 2].map((attempt) => ({
      attempt,
      startedAt: attempt * 1000,
      endedAt: attempt * 1000 + 10,
      verdict: "transient",
      code: "ECONNREFUSED",
      kind: "network",
      explanation: "Nothing listens there",
      message: "connect ECONNREFUSED",
      waitMs: 1000,
      hintMs: null,
      hintClamped: false,
    })),
  };
  const fresh = new BootstrapRetrier({ clock: new VirtualClock() }).snapshot();
  return [base, plain(fresh)];
}

fuzz<unknown>({
  name: "retry-snapshot",
  corpus,
  codec: json,
  inputs: mutated(snapshots()),
  runs: 500,
  law: (value) => {
    const snapshot = decodedOrRefused(decodeRetrySnapshot, value);
    if (snapshot === null) return;
    const clock = new VirtualClock();
    const resumed = new BootstrapRetrier({ clock, restore: snapshot });
    resumed.status();
    resumed.toCondition();
  },
});

fuzz<unknown>({
  name: "reason-catalog",
  corpus,
  codec: json,
  inputs: mutated([plain(sandboxReasons)]),
  runs: 25,
  law: (value) => void decodedOrRefused(decodeReasonCatalog, value),
});

const CONDITIONS = [
  {
    type: "Ready",
    status: "False",
    reason: "ProvisioningTimedOut",
    message: "no",
    lastTransitionTime: "2026-10-20T12:00:00Z",
    observedGeneration: 2,
    cause: { reason: "ImagePullBackOff", message: "later" },
    generalReasons: ["Failed"],
    "x-of-a-peer": { kept: true },
  },
  { type: "Bootstrapped", status: true, reason: null, last_transition_time: "2026-10-20T12:00:00.5+02:00" },
];

/** What a peer sent under a type of its own is in what is read, in its own words. */
const conditions: Codec<unknown> = json;
fuzz<unknown>({
  name: "conditions",
  corpus,
  codec: conditions,
  inputs: fc.oneof(
    mutated([CONDITIONS, { conditions: CONDITIONS }, { status: { conditions: CONDITIONS } }]),
    mutated([CONDITIONS]).map((value) => JSON.stringify(value)),
  ),
  runs: 500,
  law: (value) => {
    const read = parseConditions(value);
    for (const { type, status } of read) {
      expect(type).not.toBe("");
      expect(["True", "False", "Unknown"]).toContain(status);
    }
    expect(parseConditions(plain(read))).toEqual(plain(read));
  },
});
