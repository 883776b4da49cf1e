import { describe, expect, it } from "vitest";
import { type ReasonEntry, sandboxReasons } from "../../src/conditions/index.js";
import { derivePhase, observePod } from "../../src/phase/index.js";

const NOW = Date.UTC(2026, 0, 1);
const reasons: Readonly<Record<string, ReasonEntry>> = sandboxReasons.reasons;
const words = Object.values(reasons).flatMap(({ sources = [] }) =>
  sources.flatMap(({ backend, raw }) => (backend === "kubernetes" ? raw : [])),
);

describe("the phases of a reason", () => {
  it("are those in which a pod that failed by it is published", () => {
    const published = new Set<string>();
    const elsewhere: string[] = [];
    for (const reason of words)
      for (const phase of ["Starting", "Ready"] as const) {
        const record = { phase, desired: "running", since: 0 } as const;
        const observation = observePod({ pod: { status: { phase: "Failed", reason } } }, { observedAt: NOW });
        const derived = derivePhase({ record, observation, now: NOW });
        const name = derived.reason;
        published.add(`${derived.phase} ${name}`);
        if (!(reasons[name]?.phases ?? [derived.phase]).includes(derived.phase))
          elsewhere.push(`${name} in ${derived.phase}`);
      }
    expect(elsewhere).toEqual([]);
    expect(published).toContain("Error NodeLost");
  });
});
