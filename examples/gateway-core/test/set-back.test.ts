import { reconcileRecord, type Observation } from "slipway";
import { describe, expect, it } from "vitest";
import { phaseFacts, withFacts } from "../src/decide/phase-facts.js";
import { isGoing } from "../src/decide/seen.js";
import type { SandboxRecord } from "../src/record/record.js";
import { NOW, recordWith } from "./records.js";

const AT = NOW - 50_000;
const instance = { id: "sb-r2", run: 2, handle: null, startedAt: AT - 3000, launchedAt: AT - 2000 };

/** Somebody else ends what was started for the attempt. */
const going: Observation = {
  ...{ exists: true, running: true, ready: null, completed: false, suspended: false, deleting: false },
  ...{
    terminating: true,
    bootstrapping: false,
    stale: false,
    identityMismatch: false,
    backendUnknown: false,
  },
  ...{ failureClass: null, failureReason: null, backendReason: null, exitCode: null, finishedAt: null },
  ...{ workload: null, instanceId: null, message: null, observedAt: AT },
} as unknown as Observation;

const launched = (fields: Partial<SandboxRecord>): SandboxRecord =>
  recordWith({ phase: "Provisioning", run: 2, instance, since: AT - 1000, ...fields });

function seen(record: SandboxRecord): SandboxRecord {
  const { record: facts } = reconcileRecord(phaseFacts(record), going, null, AT, {});
  expect(facts).toMatchObject({ phase: "Stopping", desired: "running" });
  return withFacts(record, facts, AT);
}

describe("what was started for an attempt, and is ended by somebody else", () => {
  const look = { observation: going, instanceId: instance.id };

  // Before it was admitted also how it ends says nothing; after that it is the end of the run.
  it.each([
    [null, true],
    [2, false],
  ])("ends no attempt, whoever was admitted (run %s)", (activatedRun, isNothing) => {
    const record = launched({ activatedRun, admission: activatedRun === null ? "pending" : "accepted" });
    expect(isGoing(record, look)).toBe(isNothing);
    expect(seen(record)).toMatchObject({ phase: "Provisioning", deadline: { status: "active" } });
  });

  it("is the end of one that is over", () => {
    const record = launched({ activatedRun: 2, phase: "Ready" });
    const { deadline } = record;
    const ready = { ...record, deadline: deadline && ({ ...deadline, status: "completed" } as const) };
    expect(seen(ready)).toMatchObject({ phase: "Stopping", deadline: { status: "completed" } });
  });
});
