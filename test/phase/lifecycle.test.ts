import { describe, expect, it } from "vitest";
import {
  cases,
  expectPhase,
  expectRecord,
  type Input,
  NOW,
  observationOf,
  of,
  policy,
  recordOf,
  sessionOf,
} from "./lifecycle-cases.js";
import {
  allowedOperations,
  applyExitReport,
  applyRecovery,
  applySession,
  derivePhase,
  parsePhase,
  phaseNumber,
  planRecovery,
  planShutdown,
  Reconciler,
  reconcileRecord,
  resolveFailedOperation,
  type ObservationSource,
} from "../../src/phase/index.js";
import { MemoryRecordStore, VirtualClock } from "../../src/testing/index.js";

describe("derivation without a record", () => {
  it.each(of("derivePhase"))("%s", (id, { input, expect: expected }) => {
    // Without a status there is nothing to decide from, and without a record nothing to hold.
    const record = recordOf(input, input.observed?.statusAbsent === true ? "Unknown" : input.recordPhase);
    // Without a record there is no session and no policy about sessions either.
    const decision = derivePhase({ record, observation: observationOf(input.observed), now: NOW });
    expectPhase(id, decision.phase, expected);
  });
});

describe("snapshots", () => {
  it.each(of("applySnapshot"))("%s", async (id, { input, expect: expected }) => {
    if (input.recordMissing === true) {
      const { store, reconciler } = reconcilerFor(input);
      expect(await reconciler.reconcile("sb")).toMatchObject({ outcome: "no-record" });
      expect(store.peek("sb")).toBeNull();
      return;
    }
    const record = recordOf(input);
    const observation = observationOf(input.observed);
    const result = reconcileRecord(record, observation, sessionOf(input), NOW, policy);
    expectRecord(id, result.record, expected);
    if ("sessionCleanup" in expected)
      expect(result.decision.effects.includes("session-cleanup")).toBe(expected["sessionCleanup"]);
  });
});

describe("sessions", () => {
  it.each(of("sessionChange"))("%s", (id, { input, expect: expected }) => {
    const result = applySession(recordOf(input), sessionOf(input) ?? { connected: false }, NOW);
    expectRecord(id, result.record, expected);
    if ("recordWritten" in expected) expect(result.changed).toBe(expected["recordWritten"]);
    if ("sessionRejected" in expected) expect(result.refused !== null).toBe(expected["sessionRejected"]);
  });
});

describe("main process exits", () => {
  it.each(of("mainProcessExit"))("%s", (id, { input, expect: expected }) => {
    const result = applyExitReport(recordOf(input), input.mainProcessExit!, NOW);
    expectRecord(id, result.record, expected);
    if ("recordWritten" in expected) expect(result.changed).toBe(expected["recordWritten"]);
  });
});

describe("gates", () => {
  it.each(of("gate"))("%s", (_id, { input, expect: expected }) => {
    const matches = input.backendMatches ?? expected["backendMatches"];
    const gates = allowedOperations({
      record: recordOf(input),
      observation: observationOf(input.observed),
      backendMatches: typeof matches === "boolean" ? matches : null,
      by: "user",
      now: NOW,
      policy,
    });
    for (const operation of ["start", "stop", "delete"] as const) {
      const gate = gates[operation];
      const allowed = expected[`${operation}Allowed`];
      if (allowed !== undefined) expect([operation, gate.allowed]).toEqual([operation, allowed]);
      const call = expected[`${operation}DriverCall`];
      if (call !== undefined)
        expect([operation, gate.allowed && gate.route !== "noop"]).toEqual([operation, call]);
    }
    if (expected["newAttempt"] === true) expect(gates.start).toMatchObject({ route: "restart" });
  });
});

describe("failed operations", () => {
  // A caller that went away changes nothing: the intent is durable and the operation goes on.
  it.each(of("operationFailed", "operationCancelled"))("%s", (id, { input, expect: expected }) => {
    const record = recordOf(input);
    if (input.versionChangedDuringLookup === true) {
      // The result is written on the version that was read, so a newer write stands. See the reconciler's tests.
      expect(expected["phase"]).toBe(record.phase);
      return;
    }
    const previous = recordOf(input, input.previousPhase);
    const observation = observationOf(input.observed);
    const result = resolveFailedOperation(record, previous, input.operation!, observation, NOW, policy);
    expectRecord(id, result.record, expected);
  });
});

describe("start-up and shutdown", () => {
  it.each(of("restartRecovery"))("%s", (id, { input, expect: expected }) => {
    const options = {
      managesLifecycle: input.gatewayManagesLifecycle === true,
      observation: observationOf(input.observed),
      now: NOW,
      policy,
    };
    const record = recordOf(input);
    const plan = planRecovery(record, options);
    if ("driverCall" in expected) expect(plan.call).toBe(expected["driverCall"]);
    if (expected["driverRelaunch"] === false) expect(plan.call).toBeNull();
    const result =
      input.driverResult === "not_found" ? "not-found" : input.driverResult === "ok" ? "ok" : "error";
    const after =
      plan.call === null ? plan.record : applyRecovery(plan.record, plan.call, result, options).record;
    expectRecord(id, after, expected);
  });

  it.each(of("shutdownSweep"))("%s", (id, { input, expect: expected }) => {
    const record = recordOf(input);
    const plan = planShutdown(record, {
      managesLifecycle: input.gatewayManagesLifecycle === true,
      now: NOW,
      policy,
    });
    expect(plan.call).toBe(expected["driverCall"]);
    expectPhase(id, plan.record.phase, expected);
  });
});

/** A reconciler over one sandbox as a vector describes it. */
function reconcilerFor(input: Input): {
  readonly store: MemoryRecordStore;
  readonly reconciler: Reconciler;
  readonly warnings: string[];
} {
  const store = new MemoryRecordStore();
  if (input.recordMissing !== true) store.put("sb", recordOf(input));
  const warnings: string[] = [];
  const moveOn = (): void => {
    store.put("sb", recordOf(input, input.recordPhaseAfterWrite ?? input.recordPhase));
  };
  const observation = observationOf(input.observed);
  const listed = input.listed === undefined ? observation : observationOf(input.listed);
  const source: ObservationSource = {
    list: () => {
      const there = listed !== null && listed.exists === true;
      return Promise.resolve({ items: there ? [{ id: "sb", observation: listed }] : [], cursor: null });
    },
    get: () => {
      if (input.versionChangedDuringLookup === true || input.versionChangedDuringWrite === true) moveOn();
      const id = input.observed?.lookupError === "WRONG_ID" ? "other" : "sb";
      return Promise.resolve(observation === null ? null : { id, observation });
    },
    watch: async function* () {},
  };
  const clock = new VirtualClock({ startAt: NOW });
  const reconciler = new Reconciler({
    store,
    source,
    clock,
    policy,
    session: () => sessionOf(input),
    backendMatches: () => input.backendMatches ?? null,
    ...(input.graceMs === undefined ? {} : { graceMs: input.graceMs }),
    onOutcome: ({ outcome }) => {
      if (outcome === "mismatch") warnings.push(outcome);
    },
  });
  return { store, reconciler, warnings };
}

describe("the reconciler", () => {
  it.each(of("reconcile"))("%s", async (id, { input, expect: expected }) => {
    const { store, reconciler } = reconcilerFor(input);
    const before = store.writes;
    await reconciler.sweep();
    const record = store.peek("sb");
    if ("recordRemoved" in expected) expect(record === null).toBe(expected["recordRemoved"]);
    if (expected["recordWritten"] === false) expect(store.writes).toBe(before);
    if (record !== null) expectRecord(id, record, expected);
  });

  it.each(of("deletedEvent"))("%s", async (_id, { input, expect: expected }) => {
    const { store, reconciler } = reconcilerFor(input);
    await reconciler.deleted("sb");
    if ("recordRemoved" in expected) expect(store.peek("sb") === null).toBe(expected["recordRemoved"]);
  });

  it.each(of("restartScan"))("%s", async (id, { input, expect: expected }) => {
    const { store, reconciler, warnings } = reconcilerFor(input);
    const before = store.writes;
    await reconciler.sweep();
    await reconciler.sweep();
    const record = store.peek("sb")!;
    if (expected["recordWritten"] === false) expect(store.writes).toBe(before);
    else expect(warnings).toHaveLength(expected["warningsLogged"] as number);
    expectRecord(id, record, expected);
  });
});

describe("enumerations", () => {
  // The sample has none of these; more of the set may: name and number of a phase, and what is done with strangers.
  it("holds for every one that there is", () => {
    for (const { input, expect: expected } of cases.filter((one) => one.input.op === "enum")) {
      const parsed = parsePhase(input.value ?? input.number ?? input.name);
      if (typeof expected["phase"] === "string") expect(parsed.phase).toBe(expected["phase"]);
      if (typeof expected["number"] === "number" && parsed.known)
        expect(phaseNumber(parsed.phase)).toBe(expected["number"]);
    }
  });
});
