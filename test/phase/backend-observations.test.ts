import { describe, expect, it } from "vitest";
import { derivePhase } from "../../src/phase/index.js";
import { backendVectors, observe, recordOf, type BackendVector, type Expectation } from "./vectors.js";

const facts = [
  "exists",
  "workload",
  "running",
  "ready",
  "terminating",
  "suspended",
  "completed",
  "exitCode",
  "failureReason",
  "failureClass",
] as const;

/** The vectors write an unknown word of the state as `unknown`, an unknown fact as null. */
function expectPhase(phase: string, expected: Expectation): void {
  expect(expected.mustNotBe).not.toContain(phase);
  expect([expected.phase, ...expected.acceptable]).toContain(phase);
}

function decide(vector: BackendVector, record = recordOf(vector.record)): ReturnType<typeof derivePhase> {
  return derivePhase({ record, observation: observe(vector, record), now: Date.parse(vector.now) });
}

describe("raw backend objects", () => {
  it.each(backendVectors.map((vector) => [vector.id, vector.title, vector] as const))(
    "%s facts: %s",
    (_id, _title, vector) => {
      const observation = observe(vector, recordOf(vector.record));
      const seen = Object.fromEntries(facts.map((fact) => [fact, observation[fact]]));
      const expected = Object.fromEntries(facts.map((fact) => [fact, vector.expected[fact]]));
      expect(seen).toEqual(expected);
    },
  );

  it.each(backendVectors.map((vector) => [vector.id, vector.title, vector] as const))(
    "%s phase: %s",
    (_id, _title, vector) => {
      const decision = decide(vector);
      expectPhase(decision.phase, vector.expected);
      expect(decision.stale).toBe(vector.expected["stale"]);
      for (const other of vector.alsoWithRecord ?? [])
        expectPhase(decide(vector, recordOf(other.record)).phase, other);
    },
  );

  /** Where an acceptable phase is taken instead of the first choice, and why. */
  const secondChoices: Readonly<Record<string, string>> = {
    "as1a-003 Starting": "a Starting record stays over an empty backend; its gate offers the retry",
    "as1b-003 Stopped": "what is on its way without a Starting record is Provisioning",
    "vm-006 Ready": "a guest paused for a full disk recovers by itself: a recorded Error would not",
    "vm-022 Ready": "a sandbox at rest is an empty backend: startable at once",
    "vm-022 Provisioning": "a sandbox at rest is an empty backend: startable at once",
  };

  it("decides by the first choice wherever the design does not choose otherwise", () => {
    let all = 0;
    let second = 0;
    for (const vector of backendVectors) {
      for (const one of [
        { record: vector.record, phase: vector.expected.phase },
        ...(vector.alsoWithRecord ?? []),
      ]) {
        all += 1;
        const { phase } = decide(vector, recordOf(one.record));
        if (phase !== one.phase && !(`${vector.id} ${one.record.phase}` in secondChoices)) second += 1;
      }
    }
    expect(second / all).toBeLessThan(0.05);
  });
});
