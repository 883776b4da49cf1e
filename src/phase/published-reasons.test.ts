import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decisionsOf, NOW } from "../../test/phase/published-decisions.js";
import {
  convertConditions,
  matchesReason,
  type ReasonCatalog,
  sandboxReasons,
  sanitizeReason,
} from "../conditions/index.js";
import {
  allowedOperations,
  derivePhase,
  type Observation,
  observeOpenShellStatus,
  observePod,
  observeSandboxResource,
  type SandboxRecord,
} from "./index.js";
import { endNames } from "./reasons.js";

// The same cases in every run: a test that fails sometimes teaches nobody.
fc.configureGlobal({ seed: 20_260_101 });

const reasons: ReasonCatalog["reasons"] = sandboxReasons.reasons;

/** Every word of every backend that looks like a reason, and is none of the catalog's. */
const words = [
  ...new Set(
    Object.values(reasons)
      .flatMap(({ sources = [] }) => sources.flatMap(({ raw }) => raw))
      .filter((word) => /^[A-Z][\w-]*[a-z][\w-]*$/.test(word) && !Object.hasOwn(reasons, word)),
  ),
];

function sandboxesWith(reason: string): Observation[] {
  const said = ["Ready", "Suspended", "Finished", "PodScheduled"].flatMap((type) =>
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

function podsWith(reason: string): Observation[] {
  const states = [
    { waiting: { reason } },
    ...[0, 1, 137].map((exitCode) => ({ terminated: { reason, exitCode } })),
  ];
  return ["Pending", "Running", "Failed", "Succeeded"].flatMap((phase) => [
    observePod({ pod: { status: { phase, reason } } }),
    ...["Ready", "PodScheduled", "DisruptionTarget"].map((type) =>
      observePod({ pod: { status: { phase, conditions: [{ type, status: "False", reason }] } } }),
    ),
    ...states.flatMap((state) =>
      [undefined, "2026-01-01T00:00:00Z"].map((deletionTimestamp) =>
        observePod({
          pod: {
            metadata: { deletionTimestamp },
            spec: { restartPolicy: "Never", containers: [{ name: "main" }] },
            status: { phase, containerStatuses: [{ name: "main", state }] },
          },
        }),
      ),
    ),
  ]);
}

/**
 * The backends' words that contract 1 has been published with under a name of the catalog. Every other word stands as it
 * is. Neither list changes: a client that compares `reason` with what it has read goes blind.
 */
const renamedSinceContract1: Record<string, string> = {
  ContainerCreating: "ContainerStarting",
  PodInitializing: "ContainerStarting",
  ContainersNotReady: "DependenciesNotReady",
  ReadinessGatesNotReady: "DependenciesNotReady",
  Uninitialized: "Starting",
  Created: "Starting",
  PodNotTerminated: "Stopping",
  PodTerminating: "Stopping",
  Halting: "Stopping",
  SandboxSuspended: "Suspended",
  PodTerminated: "Suspended",
  Paused: "Suspended",
  SchedulingGated: "Unschedulable",
  PodStateUnknown: "ComputeStateUnknown",
  PodSchedulingUnknown: "ComputeStateUnknown",
  KillContainerError: "BackendOperationFailed",
  KillPodSandboxError: "BackendOperationFailed",
  ResizePodInPlaceError: "BackendOperationFailed",
  RemoveContainerError: "BackendOperationFailed",
  PodFailed: "MainProcessFailed",
  MultiplePods: "OwnershipConflict",
  PodNotOwned: "OwnershipConflict",
  PodSucceeded: "MainProcessCompleted",
  SandboxExpired: "Expired",
};

const isWaiting = (phase: string | undefined): boolean => phase === "Provisioning" || phase === "Starting";
/** What a client gives up on: a reason of a result, of a machine that is lost, or of one that is no use as it is. */
const isOver = (name: string): boolean =>
  reasons[name]?.class === "terminal" || ["NodeLost", "MainProcessCompleted"].includes(name);
const belongs = (reason: string, phase: string): boolean => reasons[reason]?.phases?.includes(phase) ?? true;

describe("what is published of a backend's word", () => {
  it.each(words)("is the reason that it has been since contract 1: %s", (word) => {
    const meanings = Object.keys(reasons).filter((name) =>
      reasons[name]?.sources?.some(({ raw }) =>
        raw.some((said) => said.toLowerCase() === word.toLowerCase()),
      ),
    );
    const frozen = renamedSinceContract1[word] ?? sanitizeReason(word);
    const seen = [...sandboxesWith(word), ...openShellWith(word), ...podsWith(word)];
    let published = 0;
    for (const { phase, conditions } of seen.flatMap(decisionsOf)) {
      for (const condition of conditions) {
        if (!matchesReason(condition, sanitizeReason(word))) continue;
        published++;
        // One name is the reason, and where there is another it is the cause: both are found by those who match.
        const other = condition.cause?.reason ?? condition.reason;
        for (const name of [condition.reason, other])
          expect(matchesReason(condition, name) && matchesReason(condition, sanitizeReason(word))).toBe(true);
        if (condition.reason === frozen) {
          const name = frozen === sanitizeReason(word) ? other : frozen;
          if (name !== sanitizeReason(word)) expect(meanings).toContain(name);
          continue;
        }
        // Only an end is not told of what is waited for, and no word that Kubernetes does not accept.
        expect(Object.keys(reasons)).toContain(condition.reason);
        expect(condition.cause?.reason).toBe(sanitizeReason(word));
        expect([condition.reason, phase, belongs(condition.reason, phase)]).toEqual([
          condition.reason,
          phase,
          true,
        ]);
        const isEnd = meanings.every((name) => isOver(name));
        expect([word, phase, sanitizeReason(word) !== word || (isEnd && isWaiting(phase))]).toEqual([
          word,
          phase,
          true,
        ]);
      }
    }
    expect(published).toBeGreaterThan(0);
  });

  it.each([
    ["ErrImagePull", "ImagePullFailed"],
    ["CrashLoopBackOff", "CrashLoop"],
    ["CreateContainerConfigError", "ContainerConfigInvalid"],
  ])("is the same to a reader of any contract, and the catalog's name matches too: %s", (word, name) => {
    const status = { conditions: [{ type: "Ready", status: "False", reason: word }] };
    const observation = observeSandboxResource({
      sandbox: { metadata: { uid: "u" }, spec: { operatingMode: "Running" }, status },
      pods: [],
    });
    const record: SandboxRecord = { phase: "Provisioning", desired: "running", since: NOW };
    const time = "2026-01-01T00:00:00Z";
    const stored = derivePhase({ record, observation, now: NOW }).conditions.map((condition) => ({
      ...condition,
      lastTransitionTime: time,
    }));
    for (const contract of [1, 2]) {
      const [shown] = convertConditions(stored, { catalog: sandboxReasons, contract });
      expect(shown?.reason).toBe(word);
      expect([matchesReason(shown, word), matchesReason(shown, name)]).toEqual([true, true]);
    }
  });

  it("opens the same gates under either of its names", () => {
    for (const word of [
      "OOMKilled",
      "EvictionByEvictionAPI",
      "Preempting",
      "OutOfcpu",
      "StartError",
      "PodFailed",
    ]) {
      const record: SandboxRecord = { phase: "Error", desired: "running", since: NOW, reason: word };
      expect(allowedOperations({ record, by: "user", now: NOW }).start).toMatchObject({ route: "restart" });
    }
    const unknown: SandboxRecord = { phase: "Error", desired: "running", since: NOW, reason: "Unknown" };
    expect(allowedOperations({ record: unknown, by: "user", now: NOW }).start.allowed).toBe(false);
  });

  const ends = Object.keys(reasons).filter(
    (name) => isOver(name) && !reasons[name]?.phases?.some((phase) => isWaiting(phase)),
  );

  it("has every name of the catalog for an end", () => {
    expect([...endNames].filter((name) => !ends.includes(name) && isOver(name))).toEqual([]);
    expect([...endNames].filter((name) => reasons[name]?.phases?.some((phase) => isWaiting(phase)))).toEqual(
      [],
    );
    expect(ends.filter((name) => !endNames.has(name))).toEqual([]);
  });

  it.each(ends)("tells no sandbox that is waited for that it ended by the catalog's own name: %s", (name) => {
    let waited = 0;
    for (const observation of [...sandboxesWith(name), ...openShellWith(name), ...podsWith(name)]) {
      if (observation.failureReason !== null) continue;
      for (const { phase, conditions } of decisionsOf(observation))
        for (const condition of conditions)
          if (isWaiting(phase) && matchesReason(condition, name)) {
            waited += 1;
            expect(ends).not.toContain(condition.reason);
            expect(condition.cause?.reason).toBe(name);
          }
    }
    expect(waited).toBeGreaterThan(0);
  });

  it("tells no sandbox that is waited for that it ended", () => {
    let waited = 0;
    for (const word of [
      "OOMKilled",
      "Evicted",
      "Completed",
      "NodeLost",
      "PodFailed",
      "Terminated",
      "Error",
    ]) {
      const status = { conditions: [{ type: "Ready", status: "False", reason: word }] };
      const observation = observeSandboxResource({
        sandbox: { metadata: { uid: "u" }, spec: { operatingMode: "Running" }, status },
        pods: [
          {
            metadata: { name: "s", ownerReferences: [{ uid: "u", controller: true }] },
            status: { phase: "Pending" },
          },
        ],
      });
      const record: SandboxRecord = { phase: "Starting", desired: "running", since: NOW };
      const { phase, conditions } = derivePhase({ record, observation, now: NOW });
      // An end that the observer believes is another phase, and one that nobody believes is no news.
      if (phase !== "Starting" || conditions.length === 0) continue;
      waited++;
      expect(conditions).toMatchObject([{ reason: "Starting", cause: { reason: word, message: "" } }]);
      expect(matchesReason(conditions[0], word)).toBe(true);
    }
    expect(waited).toBeGreaterThan(4);
  });

  it.each([
    ["PodFailed", "DependenciesNotReady"],
    ["PodSucceeded", "DependenciesNotReady"],
    ["PodNotOwned", "DependenciesNotReady"],
    ["OOMKilled", "DependenciesNotReady"],
    ["NodeLost", "DependenciesNotReady"],
    ["NodeShutdown", "DependenciesNotReady"],
  ])(
    "on a Ready that is not true, beside a pod that waits, has the word %s as the cause of %s",
    (word, name) => {
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
    },
  );
});
