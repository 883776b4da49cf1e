import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { describeReason, sandboxReasons, validateCondition } from "../conditions/index.js";
import {
  derivePhase,
  type Observation,
  observeOpenShellStatus,
  observeSandboxResource,
  type PhaseDecision,
  type SandboxRecord,
} from "./index.js";

// The same cases in every run: a test that fails sometimes teaches nobody.
fc.configureGlobal({ seed: 20_260_101 });

const NOW = Date.UTC(2026, 0, 1);
const records = (
  ["Provisioning", "Starting", "Ready", "Stopping", "Stopped", "Error", "Unknown"] as const
).flatMap((phase) =>
  (["running", "stopped"] as const).map((desired): SandboxRecord => ({ phase, desired, since: NOW - 1000 })),
);

/** The words that a controller puts on a Sandbox itself, by what the catalog calls them. Claims have words of their own. */
const words = Object.entries(sandboxReasons.reasons)
  .filter(([name]) => !name.startsWith("Claim"))
  .flatMap(([name, { sources = [] }]) =>
    sources
      .filter(({ backend }) => backend === "agent-sandbox")
      .flatMap(({ raw }) => raw.map((word): [word: string, name: string] => [word, name])),
  )
  .filter(([word, name]) => word !== name && word !== "PodScheduled" && word !== "ClaimExpired");

function sandboxesWith(reason: string): Observation[] {
  const said = ["Ready", "Suspended", "Finished"].flatMap((type) =>
    ["True", "False", "Unknown"].flatMap((status) =>
      [1, 2].map((observedGeneration) => ({ type, status, reason, observedGeneration })),
    ),
  );
  return said.flatMap((condition) =>
    ["Running", "Suspended"].flatMap((operatingMode) =>
      [null, { items: [] }].map((pods) =>
        observeSandboxResource({
          sandbox: {
            metadata: { name: "s", uid: "u", generation: 2 },
            spec: { operatingMode },
            status: { conditions: [condition] },
          },
          pods,
        }),
      ),
    ),
  );
}

function openShellWith(reason: string): Observation[] {
  return ["Ready", "Suspended", "Stopped"].flatMap((type) =>
    ["True", "False", "Unknown"].map((status) =>
      observeOpenShellStatus({ status: { conditions: [{ type, status, reason }] } }),
    ),
  );
}

function decisionsOf(observation: Observation): PhaseDecision[] {
  return records.map((record) => derivePhase({ record, observation, now: NOW }));
}

describe("what is published of a backend's word", () => {
  it.each(words)("is the catalog's name for %s: %s", (word, name) => {
    expect(describeReason(word, { catalog: sandboxReasons }).name).toBe(name);
    for (const { reason, conditions } of [...sandboxesWith(word), ...openShellWith(word)].flatMap(
      decisionsOf,
    )) {
      expect(reason).not.toBe(word);
      for (const condition of conditions) {
        expect(condition.reason).not.toBe(word);
        if (condition.cause) expect(condition).toMatchObject({ reason: name, cause: { reason: word } });
      }
    }
  });

  it.each([
    ["PodFailed", "MainProcessFailed"],
    ["PodSucceeded", "MainProcessCompleted"],
    ["PodNotOwned", "OwnershipConflict"],
  ])("on a Ready that is not true has the word %s as the cause of %s", (word, name) => {
    const sandbox = {
      metadata: { uid: "u" },
      spec: { operatingMode: "Running" },
      status: { conditions: [{ type: "Ready", status: "False", reason: word }] },
    };
    const pod = {
      metadata: { name: "s", ownerReferences: [{ uid: "u", controller: true }] },
      status: { phase: "Pending" },
    };
    const observation = observeSandboxResource({ sandbox, pods: [pod] });
    const record: SandboxRecord = { phase: "Provisioning", desired: "running", since: NOW };
    expect(derivePhase({ record, observation, now: NOW }).conditions).toMatchObject([
      { type: "Ready", status: "False", reason: name, cause: { reason: word, message: "" } },
    ]);
  });
});

describe("a reason that an observer gives", () => {
  const odd = fc.oneof(
    fc.constantFrom("oom killed!", "ERR_DISK", "Acme:LicenseMissing", "137", "", "exited", "x".repeat(2000)),
    fc.string({ unit: "binary" }),
    fc.constant(null),
  );
  const up = observeSandboxResource({ sandbox: { spec: { operatingMode: "Running" } }, pods: null });

  it("is published only as Kubernetes accepts it, in the decision and in the condition", () => {
    fc.assert(
      fc.property(
        odd,
        odd,
        fc.constantFrom("transient" as const, "terminal" as const, null),
        fc.constantFrom(true, false, null),
        fc.constantFrom(true, false),
        fc.boolean(),
        (failureReason, backendReason, failureClass, running, completed, terminating) => {
          const seen = { ...up, failureReason, backendReason, failureClass, running, completed, terminating };
          for (const { reason, conditions } of decisionsOf(seen)) {
            const time = "2026-01-01T00:00:00Z";
            const stated = { type: "Ready", status: "True", reason, message: "", lastTransitionTime: time };
            expect(validateCondition(stated)).toEqual([]);
            for (const condition of conditions) {
              expect(validateCondition({ ...condition, lastTransitionTime: time })).toEqual([]);
              expect(condition.reason).toBe(reason);
            }
          }
        },
      ),
    );
  });

  it("stays as it is where Kubernetes accepts it, and keeps its words where it does not", () => {
    const of = (failureReason: string): string | undefined =>
      derivePhase({
        record: { phase: "Provisioning", desired: "running", since: NOW },
        observation: { ...up, running: false, failureReason, failureClass: "terminal" },
        now: NOW,
      }).conditions[0]?.reason;
    expect(of("Acme:LicenseMissing")).toBe("Acme:LicenseMissing");
    expect(of("ERR_DISK")).toBe("ERR_DISK");
    expect(of("oom killed!")).toBe("oom_killed");
  });
});
