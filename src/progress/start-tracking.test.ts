import { describe, expect, it } from "vitest";
import { export_ } from "../../test/progress/driven-steps.js";
import { startTracking } from "./start-tracking.js";
import type { StepDefinition } from "./step-definition.js";

describe("startTracking", () => {
  it.each([
    [[], "a list of 1 to 64 steps"],
    ["export", "a list of 1 to 64 steps"],
    [[null], "steps[0] must be an object"],
    [[{ ...export_, step: "" }], "steps[0].step must be"],
    [[export_, export_], "steps[1].step must be a name that no other step has"],
    [[{ ...export_, label: 5 }], "steps[0].label must be"],
    [[{ ...export_, activeLabel: "" }], "steps[0].activeLabel must be"],
    [[{ step: "a", label: "A" }], "steps[0].subject must be"],
    [[{ ...export_, unit: "" }], "steps[0].unit must be"],
    [[{ ...export_, total: -1 }], "steps[0].total must be a finite number, 0 or more, got -1"],
    [[{ ...export_, total: Number.NaN }], "steps[0].total must be"],
  ])("refuses %j", (steps, message) => {
    expect(() => startTracking(steps as StepDefinition[], 0)).toThrow(message);
  });

  it("takes as many steps as a deadline takes", () => {
    const steps = Array.from({ length: 65 }, (_, index) => ({ ...export_, step: `step ${index}` }));
    expect(startTracking(steps.slice(1), 0).steps).toHaveLength(64);
    expect(() => startTracking(steps, 0)).toThrow("1 to 64");
  });
});
