import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { everyCase, type Json, parameters, rebuild } from "./every-vector.js";
import {
  allowedOperations,
  derivePhase,
  reconcileRecord,
  type Observation,
  type SandboxRecord,
} from "../../src/phase/index.js";
import { observe, type BackendVector } from "./vectors.js";

/** Facts that a reader acts on; the raw list of conditions is for people. */
function essence(observation: Observation): Observation {
  return { ...observation, conditions: [] };
}

function result(vector: BackendVector, record: SandboxRecord, observation?: unknown): unknown {
  const seen = observe(vector, record, observation);
  const { phase, reason, rule } = derivePhase({ record, observation: seen, now: Date.parse(vector.now) });
  return { ...essence(seen), phase, reason, rule };
}

function isCondition(value: Json): value is { type: string; status: string; [key: string]: Json } {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    "type" in value &&
    "status" in value
  );
}

const shuffled = new Set([
  "conditions",
  "items",
  "containerStatuses",
  "initContainerStatuses",
  "events",
  "ownerReferences",
]);

describe("mutations of every vector", () => {
  it("1. the order of conditions, pods, containers and events does not matter", () => {
    everyCase((vector, record) => {
      const before = result(vector, record);
      fc.assert(
        fc.property(fc.infiniteStream(fc.nat(1000)), (stream) => {
          const mutated = rebuild(vector.observation as Json, (value, key) => {
            if (!Array.isArray(value) || !shuffled.has(key)) return value;
            return value
              .map((entry) => ({ entry, at: stream.next().value }))
              .sort((a, b) => a.at - b.at)
              .map(({ entry }) => entry);
          });
          expect(result(vector, record, mutated)).toEqual(before);
        }),
        parameters,
      );
    });
  });

  it("2. conditions of unlisted types and unlisted keys anywhere do not matter", () => {
    const stranger = fc.record({
      type: fc.constantFrom("Gardened", "NetworkAttached", "example.com/Ready", "ReadyForFun"),
      status: fc.constantFrom("True", "False", "Unknown"),
      reason: fc.constantFrom("PodFailed", "Whatever"),
      observedGeneration: fc.nat(20),
      lastTransitionTime: fc.constantFrom("2026-10-20T11:59:59Z", "0001-01-01T00:00:00Z", ""),
    });
    const key = fc.constantFrom("x-unlisted", "phaseHint", "suspend", "ReadyReason", "__note");
    const value = fc.constantFrom<Json>(null, true, 0, "Failed", ["Error"], { phase: "Failed", replicas: 0 });
    everyCase((vector, record) => {
      const before = result(vector, record);
      fc.assert(
        fc.property(stranger, key, value, (condition, name, extra) => {
          const mutated = rebuild(vector.observation as Json, (inner, at) => {
            if (Array.isArray(inner)) return at === "conditions" ? [condition, ...inner, condition] : inner;
            const keyed =
              typeof inner === "object" && inner !== null && at !== "annotations" && at !== "labels";
            return keyed ? { [name]: extra, ...inner } : inner;
          });
          expect(result(vector, record, mutated)).toEqual(before);
        }),
        parameters,
      );
    });
  });

  it("3. the letter case of a condition's status does not matter", () => {
    everyCase((vector, record) => {
      const before = result(vector, record);
      for (const spell of [
        (text: string) => text.toLowerCase(),
        (text: string) => text.toUpperCase(),
        (text: string) => text.slice(0, 1).toLowerCase() + text.slice(1).toUpperCase(),
      ]) {
        const mutated = rebuild(vector.observation as Json, (value) =>
          isCondition(value) ? { ...value, status: spell(value.status) } : value,
        );
        expect(result(vector, record, mutated)).toEqual(before);
      }
    });
  });

  it("3b. nor does that of state words and reasons, for phase and facts", () => {
    const words = new Set([
      "phase",
      "reason",
      "Status",
      "State",
      "status",
      "state",
      "operatingMode",
      "restartPolicy",
    ]);
    everyCase((vector, record) => {
      const before = result(vector, record) as Record<string, unknown>;
      const mutated = rebuild(vector.observation as Json, (value, key) =>
        words.has(key) && typeof value === "string" ? value.toUpperCase() : value,
      );
      const after = result(vector, record, mutated) as Record<string, unknown>;
      const spelled = { backendReason: null, reason: null };
      expect({ ...after, ...spelled }).toEqual({ ...before, ...spelled });
    });
  });

  it("4. an absent list of conditions, null and an empty one are the same", () => {
    everyCase((vector, record) => {
      const none = (replacement: Json | undefined): unknown =>
        result(
          vector,
          record,
          rebuild(vector.observation as Json, (value) => {
            if (
              typeof value !== "object" ||
              value === null ||
              Array.isArray(value) ||
              !("conditions" in value)
            )
              return value;
            const rest = Object.entries(value).filter(([key]) => key !== "conditions");
            const replaced: [string, Json][] = replacement === undefined ? [] : [["conditions", replacement]];
            return Object.fromEntries([...rest, ...replaced]);
          }),
        );
      expect(none(null)).toEqual(none([]));
      expect(none(undefined)).toEqual(none([]));
    });
  });

  it("5. the result fed back with the same observation is a fixed point, to the very same record", () => {
    everyCase((vector, record) => {
      const now = Date.parse(vector.now);
      const first = reconcileRecord(record, observe(vector, record), null, now);
      const second = reconcileRecord(first.record, observe(vector, first.record), null, now + 5000);
      expect(second.record.phase).toBe(first.record.phase);
      expect(second.record).toBe(first.record);
      expect(second.changed).toBe(false);
    });
  });

  it("6. one unrecognised reason is as good as another", () => {
    const unknown = fc.constantFrom("Flux", "QuantumFault", "zzz-not-a-word", "NoSuchReason42");
    everyCase((vector, record) => {
      // Each text that may be a reason or a state word is replaced in turn.
      const places = new Set<string>();
      rebuild(vector.observation as Json, (value, key) => {
        if (typeof value === "string" && /^(reason|status|state|Status|State|phase)$/.test(key))
          places.add(`${key}=${value}`);
        return value;
      });
      for (const place of places)
        fc.assert(
          fc.property(unknown, unknown, (one, other) => {
            const replaced = (word: string): unknown => {
              const mutated = rebuild(vector.observation as Json, (value, key) =>
                typeof value === "string" && `${key}=${value}` === place ? word : value,
              );
              const seen = observe(vector, record, mutated);
              return derivePhase({ record, observation: seen, now: Date.parse(vector.now) }).phase;
            };
            expect(replaced(one)).toBe(replaced(other));
          }),
          { ...parameters, numRuns: 4 },
        );
    });
  });

  it("7. a look-up that failed never ends anything", () => {
    everyCase((vector, record) => {
      const lost = Object.fromEntries(Object.keys(vector.observation).map((key) => [key, null]));
      for (const error of [{ transport: "connection reset" }, { status: 503 }, { code: 403 }, "boom", null]) {
        const observation = observe(vector, record, { ...lost, error });
        expect(observation.exists).toBe(null);
        for (const seen of [observation, null]) {
          const { phase, stale } = derivePhase({ record, observation: seen, now: Date.parse(vector.now) });
          expect(phase).toBe(record.phase);
          expect(stale).toBe(true);
        }
      }
    });
  });

  it("8. something is allowed at every moment, and delete always", () => {
    everyCase((vector, record) => {
      const now = Date.parse(vector.now);
      const observation = observe(vector, record);
      for (const after of [record, reconcileRecord(record, observation, null, now).record]) {
        const gates = allowedOperations({ record: after, observation, by: "user", now });
        expect(gates.delete.allowed).toBe(true);
        if (!after.phase.startsWith("Delet")) expect(gates.start.allowed || gates.stop.allowed).toBe(true);
      }
    });
  });

  it("9. time alone moves a phase only through a stored deadline", () => {
    everyCase((vector, record) => {
      const now = Date.parse(vector.now);
      const observation = observe(vector, record);
      const { phase } = derivePhase({ record, observation, now });
      for (const later of [1, 1000, 3_600_000, 10 * 365 * 86_400_000])
        expect(derivePhase({ record, observation, now: now + later }).phase).toBe(phase);
      const deadline = { deadlineAt: now, lastPhase: true };
      const waiting =
        (record.phase === "Provisioning" || record.phase === "Starting") && record.desired === "running";
      if (waiting && observation.exists === true && observation.deleting !== true)
        expect(derivePhase({ record: { ...record, deadline }, observation, now }).phase).toBe("Error");
    });
  });
});
