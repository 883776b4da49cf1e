import { describe, expect, it } from "vitest";
import { intents, NOW, tri } from "./fact-domains.js";
import {
  allowedOperations,
  deleteRules,
  phases,
  startRules,
  stopRules,
  type GateInput,
  type Observation,
  type SandboxRecord,
} from "../../src/phase/index.js";
import { present } from "../../src/phase/observation.js";

describe("the gates", () => {
  const reasons = [
    null,
    "MainProcessFailed",
    "Killed",
    "ImagePullFailed",
    "ImagePreparationTimedOut",
    "IsolationBackendMismatch",
    "ContainerRuntimeRestart",
  ];

  function* gateInputs(): Generator<GateInput> {
    const facts: readonly (Observation | null)[] = [
      null,
      { ...present(NOW), exists: false },
      { ...present(NOW), running: true },
      { ...present(NOW), running: false, suspended: true },
      { ...present(NOW), running: false, suspended: true, bootstrapping: true },
      { ...present(NOW), running: false, suspended: true, observedAt: -1 },
      { ...present(NOW), deleting: true },
    ];
    for (const phase of phases)
      for (const desired of intents)
        for (const reason of reasons)
          for (const exitCode of [null, 0, 7])
            for (const cleanupPending of [undefined, true, false])
              for (const backendMatches of tri)
                for (const observation of facts)
                  for (const by of ["user", "automatic"] as const)
                    yield {
                      record: {
                        phase,
                        desired,
                        since: 0,
                        reason,
                        exitCode,
                        deadline: cleanupPending === undefined ? null : { deadlineAt: null, cleanupPending },
                      },
                      observation,
                      backendMatches,
                      by,
                      now: NOW,
                      policy: { recoverable: ["ContainerRuntimeRestart"] },
                    };
  }

  it("never close all three, and delete never", () => {
    for (const input of gateInputs()) {
      const gates = allowedOperations(input);
      if (!gates.delete.allowed) expect.fail("delete was refused");
      const going = input.record.desired === "deleted" || input.record.phase.startsWith("Delet");
      if (!going && !gates.start.allowed && !gates.stop.allowed)
        expect.fail(`${input.record.phase} has no way out but delete`);
    }
  });

  it("lead from every phase to a start without a delete, through stop where start is refused", () => {
    for (const input of gateInputs()) {
      const { record } = input;
      if (input.by === "automatic" || record.desired === "deleted" || record.phase.startsWith("Delet"))
        continue;
      if (input.backendMatches === false || record.deadline?.cleanupPending === true) continue;
      const gates = allowedOperations(input);
      if (gates.start.allowed) continue;
      if (!gates.stop.allowed) expect.fail(`${record.phase} refuses both`);
      else if (gates.stop.route === "noop") {
        // A stop that does nothing must not be the only way: only an outstanding cleanup or a pin closes start then.
        expect(["CleanupPending", "IsolationBackendMismatch"]).toContain(gates.start.reason);
        continue;
      }
      const stopped: SandboxRecord = { ...record, phase: "Stopped", desired: "stopped", exitCode: null };
      expect(allowedOperations({ ...input, record: stopped }).start).toMatchObject({ allowed: true });
    }
  });

  it("have no row that nothing reaches", () => {
    const seen = new Set<string>();
    for (const input of gateInputs())
      for (const gate of Object.values(allowedOperations(input))) seen.add(gate.rule);
    const names = [...startRules, ...stopRules, ...deleteRules].map(({ name }) => name);
    expect(names.filter((name) => !seen.has(name))).toEqual([]);
  });

  it("never start a stop or a result automatically, save for what the policy calls recoverable", () => {
    for (const input of gateInputs()) {
      const { phase, reason } = input.record;
      if (input.by !== "automatic" || (phase !== "Stopped" && phase !== "Completed" && phase !== "Error"))
        continue;
      const { start } = allowedOperations(input);
      if (start.allowed && reason !== "ContainerRuntimeRestart") expect.fail(`${phase} was started`);
    }
  });
});
