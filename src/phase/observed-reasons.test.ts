import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decisionsOf, NOW } from "../../test/phase/published-decisions.js";
import { validateCondition } from "../conditions/index.js";
import { derivePhase, observeSandboxResource } from "./index.js";

// The same cases in every run: a test that fails sometimes teaches nobody.
fc.configureGlobal({ seed: 20_260_101 });

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
