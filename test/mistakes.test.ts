import { describe, expect, it } from "vitest";
import {
  acceptOperation,
  allowedOperations,
  applyBackendMismatch,
  applyDeadlineEvent,
  applyExitReport,
  applyRecovery,
  applySession,
  applyShutdown,
  applyStepEvent,
  BootstrapRetrier,
  deadlineConditions,
  definePlan,
  derivePhase,
  expectedRun,
  formatStep,
  PhasedDeadline,
  planRecovery,
  planShutdown,
  readDeadline,
  readSteps,
  rebaseClock,
  rebaseTracker,
  reconcileRecord,
  resolveFailedOperation,
  retryBootstrap,
  StepTracker,
  type SlipwayError,
} from "../src/index.js";
import { VirtualClock } from "../src/testing/index.js";

/** What a call says of a mistake: the code, the field, and what of the value is shown. */
function said(call: () => unknown): Partial<SlipwayError> {
  try {
    call();
  } catch (error) {
    const { name, code, field, message } = error as SlipwayError;
    return { name, code, field, message };
  }
  return {};
}

const SECRET = "hunter2-in-a-text";
const record = { phase: "Ready", desired: "running", since: 0 } as const;
const DELETING = { ...record, phase: "Deleting", desired: "deleted" } as const;
const GATE = { allowed: true, route: "noop", rule: "stop" } as const;
const SWEEP = { managesLifecycle: true, now: 1 };
const STEP_START = { type: "start", step: "export", subject: "local-big:1" } as const;

describe("an argument that is none", () => {
  it.each<[string, unknown, string, string]>([
    ["nothing", undefined, "input", "input must be an object, got undefined"],
    ["null", null, "input", "input must be an object, got null"],
    ["no record", {}, "record", "record must be an object, got undefined"],
    ["a text as the record", { record: SECRET, now: 1 }, "record", "record must be an object, got String"],
    ["no phase", { record: {}, now: 1 }, "record.phase", "record.phase must be a text, got undefined"],
    [
      "a text as the observation",
      { record, observation: SECRET, now: 1 },
      "observation",
      "observation must be an object or null, got String",
    ],
    [
      "a text as the session",
      { record, observation: null, session: SECRET, now: 1 },
      "session",
      "session must be an object or null, got String",
    ],
    [
      "no time",
      { record, observation: null },
      "now",
      "now must be a number of epoch milliseconds, got undefined",
    ],
    [
      "a time that is none",
      { record, observation: null, now: Number.NaN },
      "now",
      "now must be a number of epoch milliseconds, got Number",
    ],
    [
      "a text as the time",
      { record, observation: null, now: SECRET },
      "now",
      "now must be a number of epoch milliseconds, got String",
    ],
  ])("of derivePhase and allowedOperations is named: %s", (_what, input, field, says) => {
    for (const decide of [derivePhase, allowedOperations]) {
      const error = said(() => decide(input as never));
      expect(error).toEqual({
        name: "SlipwayError",
        code: "INVALID_OPTION",
        field,
        message: `Invalid phase input: ${says}`,
      });
    }
  });

  it("of derivePhase is no word of a newer peer", () => {
    const newer = { ...record, phase: "Hibernating" } as never;
    expect(derivePhase({ record: newer, observation: null, now: 1 }).phase).toBe("Hibernating");
    expect(said(() => reconcileRecord(newer, null, null, undefined as never)).field).toBe("now");
  });

  it.each<[string, (given: never) => unknown, string]>([
    ["reconcileRecord", (given) => reconcileRecord(given, null, null, 1), "record"],
    ["applyExitReport", (given) => applyExitReport(given, { instanceId: null, exitCode: 0 }, 1), "record"],
    ["applyExitReport", (given) => applyExitReport(record, given, 1), "report"],
    ["applySession", (given) => applySession(given, { connected: true }, 1), "record"],
    ["applySession", (given) => applySession(record, given, 1), "session"],
    ["acceptOperation", (given) => acceptOperation(given, "stop", GATE, { now: 1 }), "record"],
    ["acceptOperation", (given) => acceptOperation(record, "stop", given, { now: 1 }), "gate"],
    ["acceptOperation", (given) => acceptOperation(record, "stop", GATE, given), "options"],
    ["applyBackendMismatch", (given) => applyBackendMismatch(given, 1), "record"],
    ["resolveFailedOperation", (given) => resolveFailedOperation(given, record, "stop", null, 1), "record"],
    [
      "resolveFailedOperation",
      (given) => resolveFailedOperation(DELETING, given, "delete", null, 1),
      "previous",
    ],
    ["planRecovery", (given) => planRecovery(given, SWEEP), "record"],
    ["planRecovery", (given) => planRecovery(record, given), "options"],
    ["applyRecovery", (given) => applyRecovery(given, "start", "ok", SWEEP), "record"],
    ["applyRecovery", (given) => applyRecovery(record, "start", "ok", given), "options"],
    ["planShutdown", (given) => planShutdown(given, SWEEP), "record"],
    ["planShutdown", (given) => planShutdown(record, given), "options"],
    ["applyShutdown", (given) => applyShutdown(given, "ok", SWEEP), "record"],
    ["applyShutdown", (given) => applyShutdown(record, "ok", given), "options"],
    ["expectedRun", (given) => expectedRun(given), "record"],
  ])("of %s is named", (_name, call, field) => {
    for (const [given, shown] of [
      [undefined, "undefined"],
      [null, "null"],
      [SECRET, "String"],
    ]) {
      const error = said(() => call(given as never));
      expect(error).toEqual({
        name: "SlipwayError",
        code: "INVALID_OPTION",
        field,
        message: `Invalid phase input: ${field} must be an object, got ${shown}`,
      });
    }
  });

  it("of reconcileRecord and resolveFailedOperation may be an observation that is absent", () => {
    const nothing = undefined as never;
    expect(reconcileRecord(record, nothing, nothing, 1)).toEqual(reconcileRecord(record, null, null, 1));
    const stopping = { ...record, phase: "Stopping", desired: "stopped" } as const;
    for (const operation of ["start", "stop", "delete"] as const)
      expect(resolveFailedOperation(stopping, record, operation, nothing, 1)).toEqual(
        resolveFailedOperation(stopping, record, operation, null, 1),
      );
  });

  it.each<[string, () => unknown, string]>([
    ["rebaseClock", () => rebaseClock({} as never, 1), "deadline state"],
    ["readDeadline", () => readDeadline(undefined as never, 1), "deadline state"],
    ["deadlineConditions", () => deadlineConditions(SECRET as never, 1), "deadline state"],
    ["applyDeadlineEvent", () => applyDeadlineEvent({} as never, { type: "tick" }, 1), "deadline state"],
    ["readSteps", () => readSteps({ steps: [] } as never, 1), "tracker state"],
    ["rebaseTracker", () => rebaseTracker(null as never, 1), "tracker state"],
    ["applyStepEvent", () => applyStepEvent(SECRET as never, STEP_START, 1), "tracker state"],
    ["StepTracker.restore", () => StepTracker.restore(undefined as never), "tracker state"],
  ])("of %s is a state that was decoded", (_name, call, subject) => {
    expect(said(call)).toEqual({
      name: "SlipwayError",
      code: "INVALID_STATE",
      field: "schemaVersion",
      message: `Invalid ${subject}: schemaVersion must be 1, as decoding leaves it, got undefined`,
    });
  });

  it("of a live deadline's progress() is named", () => {
    const plan = definePlan({ phases: [{ name: "preparation", budgetMs: 1000 }] });
    using deadline = PhasedDeadline.start(plan, { attempt: "a1", clock: new VirtualClock() });
    for (const report of [undefined, null, SECRET]) {
      const error = said(() => deadline.progress(report as never));
      expect(error).toMatchObject({ name: "SlipwayError", code: "INVALID_EVENT", field: "report" });
      expect(error.message).not.toContain(SECRET);
    }
  });

  it.each([[undefined], [null], [{}], [SECRET]])("of formatStep is named: %j", (step) => {
    expect(said(() => formatStep(step as never))).toEqual({
      name: "SlipwayError",
      code: "INVALID_OPTION",
      field: "label",
      message: "Invalid step: label must be text, got undefined",
    });
  });

  it("of a retrier is an operation, and no failure of one", async () => {
    const refusal = { name: "SlipwayError", code: "INVALID_OPTION", field: "operation" };
    for (const operation of [undefined, null, SECRET, {}]) {
      await expect(retryBootstrap(operation as never)).rejects.toMatchObject(refusal);
      const retrier = new BootstrapRetrier();
      await expect(retrier.run(operation as never)).rejects.toMatchObject(refusal);
      expect(retrier.status()).toMatchObject({ attempt: 0, lastError: null });
    }
  });
});
