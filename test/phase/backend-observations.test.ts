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

  it("decides nearly all of them with the first choice, not with an acceptable one", () => {
    const soft: string[] = [];
    for (const vector of backendVectors) {
      const cases = [
        { record: vector.record, phase: vector.expected.phase },
        ...(vector.alsoWithRecord ?? []),
      ];
      for (const one of cases) {
        const phase = decide(vector, recordOf(one.record)).phase;
        if (phase !== one.phase) soft.push(`${vector.id} ${one.record.phase} -> ${phase} (${one.phase})`);
      }
    }
    expect(soft.join("\n")).toMatchInlineSnapshot(`
      "as1a-003 Starting -> Starting (Stopped)
      as1b-003 Stopped -> Provisioning (Starting)
      vm-006 Ready -> Provisioning (Error)
      vm-022 Ready -> Stopped (Error)
      vm-022 Provisioning -> Stopped (Error)"
    `);
  });
});
