import { expect, it } from "vitest";
import { seededRandom } from "../testing/index.js";
import { derivePhase } from "./derive-phase.js";
import { isLiveSession, type PhaseInput } from "./evidence.js";
import type { Observation } from "./observation.js";
import { phases } from "./phase.js";
import { phaseRules } from "./rules/index.js";

const NOW = 1_000_000;
const TRI = [true, false, null] as const;

/** Inputs that any combination of facts may be in, drawn with one seed. */
function* inputs(count: number): Generator<PhaseInput & { readonly observation: Observation }> {
  const random = seededRandom(7);
  const one = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
  const seldom = <T>(value: T): T | undefined => (random() < 0.2 ? value : undefined);
  for (let index = 0; index < count; index += 1) {
    yield {
      record: {
        phase: one(phases),
        desired: one(["running", "running", "stopped", "deleted"] as const),
        since: one([0, NOW + 5]),
        instanceId: seldom("i-1"),
        exitCode: seldom(one([0, 1])),
        reason: one([undefined, "ProcessExited", "OwnershipConflict"]),
        admission: seldom(one(["pending", "rejected"] as const)),
        deadline: seldom({ deadlineAt: one([NOW - 1, NOW + 1, null]), lastPhase: one([true, false]) }),
      },
      observation: {
        exists: one([true, true, true, false, null]),
        deleting: one([false, false, false, true, null]),
        workload: one(["present", "absent", "unknown"] as const),
        running: one(TRI),
        ready: one(TRI),
        readiness: one(["signal", "none", "unreadable"] as const),
        terminating: one([false, false, false, true, null]),
        suspended: one(TRI),
        completed: one(TRI),
        bootstrapping: one([false, false, true, null]),
        exitCode: one([null, 0, 1]),
        endedBy: one(["guest", "host", "unknown"] as const),
        finishedAt: one([null, NOW - 10]),
        instanceId: null,
        failureReason: one([null, null, null, "OwnershipConflict", "NodeLost", "Expired", "Evicted"]),
        failureClass: one([null, null, "transient", "terminal"] as const),
        backendReason: null,
        message: null,
        observedAt: one([null, NOW]),
        generation: null,
        stale: one([false, false, false, false, true]),
        behind: false,
        conditions: [],
      },
      session: one([null, { connected: true }, { connected: true, instanceId: "i-2" }]),
      now: NOW,
      policy: one([undefined, { requireSession: true }, { removesComputeOnStop: true }]),
    };
  }
}

it("an index of three facts changes no decision: the first rule whose condition holds decides", () => {
  const decided = new Set<string>();
  for (const input of inputs(20_000)) {
    const { record, observation, session, now, policy } = input;
    const live = isLiveSession(record, session);
    const context = { record, observation, session, live, now, policy };
    const first = phaseRules.find((rule) => rule.when(context));
    const { rule } = derivePhase(input);
    if (rule !== first?.name) expect({ input, rule }).toEqual({ input, rule: first?.name });
    decided.add(rule);
  }
  // Every rule of the table decides about some of them.
  expect(phaseRules.map(({ name }) => name).filter((name) => !decided.has(name))).toEqual([]);
});
