import { describe, expect, it } from "vitest";
import { parsePhase, phaseNumber, phaseNumbers, phases, type Phase } from "./phase.js";

describe("phases", () => {
  it("have the wire numbers of OpenShell's protocol, each once", () => {
    expect(phaseNumbers).toEqual({
      Provisioning: 1,
      Ready: 2,
      Error: 3,
      Deleting: 4,
      Unknown: 5,
      Stopping: 6,
      Stopped: 7,
      Starting: 8,
      Completed: 9,
    });
  });

  it.each(["Deleted", "Hibernating", "constructor", "__proto__"])("%s has no number", (word) => {
    expect(phaseNumber(word as Phase)).toBe(0);
  });

  it("are read back from their number, their name in any case, and a protobuf enum's name", () => {
    for (const phase of phases) {
      expect(parsePhase(phase.toUpperCase())).toMatchObject({ phase, known: true });
      expect(parsePhase(`SANDBOX_PHASE_${phase.toUpperCase()}`).phase).toBe(phase);
      if (phase === "Deleted") continue;
      expect(parsePhase(phaseNumber(phase)).phase).toBe(phase);
      expect(parsePhase(String(phaseNumber(phase))).phase).toBe(phase);
    }
  });

  it.each([0, "Unspecified", 42, -1, 1.5, "Hibernating", "", null, undefined, {}, Number.NaN])(
    "%s is Unknown, with the value kept",
    (value) => {
      expect(parsePhase(value)).toEqual({ phase: "Unknown", raw: value, known: false });
    },
  );
});
