import { describe, expect, it } from "vitest";
import { decide, NOW, record, up } from "../../test/phase/decisions.js";
import { describeReason, type ReasonCatalog, sandboxReasons, sanitizeReason } from "../conditions/index.js";
import type { Observation } from "./observation.js";
import { backendWords } from "./reasons.js";
import { reconcileRecord } from "./reconcile-record.js";

describe("a decision", () => {
  it("gives the reason that explains a wait best", () => {
    const from = record("Provisioning");
    expect(decide(from, up, { policy: { requireSession: true } }).reason).toBe("SupervisorNotConnected");
    expect(decide({ ...from, admission: "pending" }, up).reason).toBe("ConfigurationPending");
    expect(decide({ ...from, admission: "rejected" }, up).reason).toBe("ConfigurationInvalid");
    const waiting = { ...up, running: false, ready: false };
    expect(
      decide(from, { ...waiting, failureReason: "ImagePullFailed", failureClass: "transient" }).reason,
    ).toBe("ImagePullFailed");
    // A word that no catalog knows is a newer backend's.
    expect(decide(from, { ...waiting, backendReason: "ContainerThawing" }).reason).toBe("ContainerThawing");
    // Raw words that are no reasons stay out of the conditions.
    for (const backendReason of ["created", "Not started", "PAUSED_STARTING_UP", null])
      expect(decide(from, { ...waiting, backendReason }).reason).toBe("DependenciesNotReady");
    expect(decide(record("Starting"), waiting).reason).toBe("Starting");
  });

  const isWaiting = (phase: string): boolean => phase === "Provisioning" || phase === "Starting";

  it("publishes a backend's word by both of its names, the one of contract 1 as the reason", () => {
    const waiting = { ...up, running: false, ready: false };
    const reasons: ReasonCatalog["reasons"] = sandboxReasons.reasons;
    for (const [reason, { renamed = [], literal = [], phases }] of Object.entries(backendWords)) {
      const backends = (reasons[reason]?.sources ?? []).map(({ backend }) => backend);
      // A reason that does not sit on Ready explains none of its phases.
      const allowed = reasons[reason]?.types.includes("Ready") === true ? reasons[reason].phases : [];
      for (const phase of ["Provisioning", "Starting", "Stopping", "Error"] as const)
        expect([reason, phase, phases.includes(phase)]).toEqual([
          reason,
          phase,
          allowed?.includes(phase) ?? true,
        ]);
      for (const backendReason of [...renamed, ...literal]) {
        const meanings = backends.map(
          (backend) => describeReason(backendReason, { catalog: sandboxReasons, backend }).name,
        );
        expect(meanings).toContain(reason);
        for (const phase of ["Provisioning", "Starting"] as const) {
          const { conditions, ...decision } = decide(record(phase), { ...waiting, backendReason });
          const fallback = phase === "Starting" ? "Starting" : "DependenciesNotReady";
          const isEnd = !["Stopping", "Suspended"].includes(reason) && !phases.some(isWaiting);
          const isRenamed = renamed.includes(backendReason);
          const said = isEnd ? fallback : isRenamed ? reason : backendReason;
          expect(decision).toMatchObject({ phase, reason: said });
          const other = said !== backendReason ? backendReason : phases.includes(phase) ? reason : undefined;
          const cause = other && { reason: sanitizeReason(other), message: "" };
          expect(conditions[0]).toEqual(expect.objectContaining({ reason: said, cause }));
        }
      }
    }
  });

  it("gives a record without a reason one of the catalog's", () => {
    for (const phase of ["Error", "Completed"] as const) {
      for (const desired of ["running", "stopped"] as const) {
        const { reason } = decide(record(phase, { desired, reason: null }), { ...up, running: false });
        expect(Object.keys(sandboxReasons.reasons)).toContain(reason);
      }
    }
  });

  it("writes another word of the backend, and the same word once", () => {
    const waiting = { ...up, running: false, ready: false };
    const seen = (backendReason: string): Observation => ({ ...waiting, backendReason });
    const first = reconcileRecord(record("Provisioning"), seen("PodInitializing"), null, NOW).record;
    expect(first.conditions).toMatchObject([
      { reason: "ContainerStarting", cause: { reason: "PodInitializing", message: "" } },
    ]);
    expect(reconcileRecord(first, seen("PodInitializing"), null, NOW + 1).record).toBe(first);
    const next = reconcileRecord(first, seen("ContainerCreating"), null, NOW + 2);
    expect(next.changed).toBe(true);
    expect(next.record.conditions).toMatchObject([{ cause: { reason: "ContainerCreating" } }]);
  });

  it("names the timeout by the deadline's phase, or as the deadline says", () => {
    const over = (more: object): string =>
      decide(record("Starting", { deadline: { deadlineAt: NOW, ...more } }), up).reason;
    expect(over({ lastPhase: true })).toBe("ProvisioningTimedOut");
    expect(over({ lastPhase: false })).toBe("ImagePreparationTimedOut");
    expect(over({ timeoutReason: "BootTimedOut" })).toBe("BootTimedOut");
    expect(decide(record("Unknown", { deadline: { deadlineAt: NOW } }), up)).toMatchObject({
      phase: "Error",
      rule: "deadline-over-late",
    });
  });
});
