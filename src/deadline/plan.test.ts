import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSlipwayError } from "../errors.js";
import { definePlan, type PlanDefinition } from "./plan.js";

const phase = { name: "run", budgetMs: 1000 };

function faultOf(plan: unknown): { code: string; field: string | undefined; message: string } {
  try {
    definePlan(plan as PlanDefinition);
  } catch (error) {
    if (isSlipwayError(error)) return { code: error.code, field: error.field, message: error.message };
    throw error;
  }
  throw new Error("accepted");
}

const malformed: readonly (readonly [string, unknown, string])[] = [
  ["no object", null, ""],
  ["a list", [phase], ""],
  ["no phases", {}, "phases"],
  ["an empty list of phases", { phases: [] }, "phases"],
  ["too many phases", { phases: Array.from({ length: 65 }, (_, i) => ({ name: `p${i}` })) }, "phases"],
  ["a phase that is no object", { phases: ["run"] }, "phases[0]"],
  ["a phase without a name", { phases: [{ budgetMs: 1 }] }, "phases[0].name"],
  ["an empty name", { phases: [{ name: "" }] }, "phases[0].name"],
  ["a name without end", { phases: [{ name: "x".repeat(257) }] }, "phases[0].name"],
  ["a repeated name", { phases: [phase, phase] }, "phases[1].name"],
  ["a misspelt field", { phases: [{ name: "run", budgetMS: 1 }] }, "phases[0].budgetMS"],
  ["a misspelt field of the plan", { phases: [phase], ceiling: 1 }, "ceiling"],
  ["a budget of zero", { phases: [{ name: "run", budgetMs: 0 }] }, "phases[0].budgetMs"],
  [
    "a budget of null, which is what JSON makes of Infinity",
    { phases: [{ name: "run", budgetMs: null }] },
    "phases[0].budgetMs",
  ],
  ["a budget as text", { phases: [{ name: "run", budgetMs: "900" }] }, "phases[0].budgetMs"],
  [
    "a budget beyond the safe integers",
    { phases: [{ name: "run", budgetMs: 2 ** 53 }] },
    "phases[0].budgetMs",
  ],
  ["a negative phase ceiling", { phases: [{ ...phase, ceilingMs: -1 }] }, "phases[0].ceilingMs"],
  ["an unknown renewal", { phases: [{ ...phase, renewOn: "progress" }] }, "phases[0].renewOn"],
  ["a stall longer than its budget", { phases: [{ ...phase, stallMs: 1001 }] }, "phases[0].stallMs"],
  [
    "a step's stall longer than its budget",
    { phases: [{ ...phase, stallMs: { pull: 1001 } }] },
    "phases[0].stallMs.pull",
  ],
  [
    "a step's stall that is no number",
    { phases: [{ ...phase, stallMs: { pull: "1" } }] },
    "phases[0].stallMs.pull",
  ],
  ["stall limits for no step", { phases: [{ ...phase, stallMs: {} }] }, "phases[0].stallMs"],
  ["a stall for a step without a name", { phases: [{ ...phase, stallMs: { "": 5 } }] }, "phases[0].stallMs."],
  [
    "a stall for a step that objects lose",
    { phases: [{ ...phase, stallMs: JSON.parse('{"__proto__":5}') as unknown }] },
    "phases[0].stallMs.__proto__",
  ],
  ["a stall of null", { phases: [{ ...phase, stallMs: null }] }, "phases[0].stallMs"],
  [
    "a reason with a space",
    { phases: [{ ...phase, timeoutReason: "Timed out" }] },
    "phases[0].timeoutReason",
  ],
  ["an empty reason", { phases: [{ ...phase, timeoutReason: "" }] }, "phases[0].timeoutReason"],
  ["a fractional ceiling", { phases: [phase], ceilingMs: 1500.5 }, "ceilingMs"],
  ["a ceiling that truncates", { phases: [phase], ceilingMs: 999 }, "ceilingMs"],
  ["a flag that is no boolean", { phases: [phase], ceilingMayTruncate: "yes" }, "ceilingMayTruncate"],
  ["no time to clean up", { phases: [phase], cleanupBudgetMs: 0 }, "cleanupBudgetMs"],
  ["an observation every NaN", { phases: [phase], observeEveryMs: Number.NaN }, "observeEveryMs"],
];

describe("definePlan", () => {
  it.each(malformed)("refuses %s and names the field", (_what, plan, field) => {
    const fault = faultOf(plan);
    expect(fault.code).toBe("INVALID_PLAN");
    expect(fault.field).toBe(field);
    expect(fault.message).toContain("must be");
  });

  it("shows the value that it found", () => {
    expect(faultOf({ phases: [{ name: "run", budgetMs: -1 }] }).message).toBe(
      "Invalid plan: phases[0].budgetMs must be a positive safe integer of milliseconds, got -1",
    );
  });

  const phaseFields = "name, budgetMs, renewOn, stallMs, ceilingMs, timeoutReason";
  const planFields = "phases, ceilingMs, ceilingMayTruncate, cleanupBudgetMs, observeEveryMs";
  it.each<readonly [unknown, string]>([
    [null, "plan must be an object, got null"],
    [{ phases: [] }, "plan: phases must be a list of 1 to 64 phases, got []"],
    [{ phases: ["run"] }, 'plan: phases[0] must be an object, got "run"'],
    [{ phases: [{ name: "" }] }, 'plan: phases[0].name must be a name of 1 to 256 characters, got ""'],
    [{ phases: [phase, phase] }, 'plan: phases[1].name must be unique in the plan, got "run"'],
    [
      { phases: [{ ...phase, budgetMS: 1 }] },
      `plan: phases[0].budgetMS must be absent (known: ${phaseFields}), got 1`,
    ],
    [{ phases: [phase], ceiling: 1 }, `plan: ceiling must be absent (known: ${planFields}), got 1`],
    [
      { phases: [{ ...phase, renewOn: "progress" }] },
      'plan: phases[0].renewOn must be "change" or absent, got "progress"',
    ],
    [
      { phases: [{ ...phase, stallMs: { pull: 1001 } }] },
      "plan: phases[0].stallMs.pull must be at most the phase's budgetMs (1000), got 1001",
    ],
    [
      { phases: [{ ...phase, stallMs: {} }] },
      "plan: phases[0].stallMs must be a number or at least one step with its number, got {}",
    ],
    [
      { phases: [{ ...phase, stallMs: { "": 5 } }] },
      "plan: phases[0].stallMs. must be the name of a step that can be reported, got 5",
    ],
    [
      { phases: [{ ...phase, timeoutReason: "Timed out" }] },
      'plan: phases[0].timeoutReason must be a condition reason (letter first, then letters, digits, `_`, `,` or `:`), got "Timed out"',
    ],
    [
      { phases: [phase], ceilingMs: 999 },
      "plan: ceilingMs must be at least the sum of the budgets (1000), or ceilingMayTruncate: true must say that it is meant, got 999",
    ],
    [{ phases: [phase], ceilingMayTruncate: "yes" }, 'plan: ceilingMayTruncate must be a boolean, got "yes"'],
  ])("says of %j what is wrong with it", (plan, message) => {
    expect(faultOf(plan).message).toBe(`Invalid ${message}`);
  });

  it("takes what is just within a limit, and nothing beyond", () => {
    const named = (length: number): PlanDefinition => ({ phases: [{ name: "x".repeat(length) }] });
    expect(definePlan(named(256)).phases).toHaveLength(1);
    expect(faultOf(named(257)).field).toBe("phases[0].name");
    const phases = (count: number): PlanDefinition => ({
      phases: Array.from({ length: count }, (_, index) => ({ name: `p${index}` })),
    });
    expect(definePlan(phases(64)).phases).toHaveLength(64);
    expect(faultOf(phases(65)).field).toBe("phases");
    const reason = (length: number): PlanDefinition => ({
      phases: [{ ...phase, timeoutReason: "R".repeat(length) }],
    });
    expect(definePlan(reason(1024)).phases[0]?.timeoutReason).toHaveLength(1024);
    expect(faultOf(reason(1025)).field).toBe("phases[0].timeoutReason");
    const stalls = (length: number): PlanDefinition => ({
      phases: [{ ...phase, stallMs: { ["s".repeat(length)]: 1000 } }],
    });
    expect(definePlan(stalls(256)).phases).toHaveLength(1);
    expect(faultOf(stalls(257)).field).toBe(`phases[0].stallMs.${"s".repeat(257)}`);
    expect(faultOf({ phases: [{ ...phase, timeoutReason: 7 }] }).field).toBe("phases[0].timeoutReason");
  });

  it("counts no time for a phase without a budget, whose silence may be limited all the same", () => {
    const plan = definePlan({ phases: [phase, { name: "open", stallMs: 5000 }], ceilingMs: 1000 });
    expect(plan.phases[1]?.stallMs).toBe(5000);
    expect(Object.keys(definePlan({ phases: [{ name: "open" }] }).phases[0] ?? {})).toEqual([
      "name",
      "timeoutReason",
    ]);
  });

  it("lets a ceiling truncate only when that is said", () => {
    const plan = { phases: [phase, { name: "admit", budgetMs: 1000 }], ceilingMs: 1500 };
    expect(faultOf(plan).field).toBe("ceilingMs");
    expect(definePlan({ ...plan, ceilingMayTruncate: true }).ceilingMs).toBe(1500);
    expect(definePlan({ ...plan, ceilingMs: 2000 }).ceilingMs).toBe(2000);
  });

  it("fills in the defaults, freezes the plan, and keeps the caller's object as it was", () => {
    const definition = { phases: [{ name: "run", stallMs: { pull: 5 } }] };
    const plan = definePlan(definition);
    expect(plan).toEqual({
      phases: [{ name: "run", stallMs: { pull: 5 }, timeoutReason: "ProvisioningTimedOut" }],
      cleanupBudgetMs: 30_000,
      observeEveryMs: 30_000,
    });
    expect(Object.isFrozen(plan) && Object.isFrozen(plan.phases) && Object.isFrozen(plan.phases[0])).toBe(
      true,
    );
    definition.phases[0]!.stallMs.pull = 99;
    expect(plan.phases[0]?.stallMs).toEqual({ pull: 5 });
  });

  it("returns a plan it made as it is", () => {
    const plan = definePlan({ phases: [phase] });
    expect(definePlan(plan)).toBe(plan);
    expect(definePlan(JSON.parse(JSON.stringify(plan)) as PlanDefinition)).toEqual(plan);
  });

  it("throws nothing but its own error, whatever it is given", () => {
    fc.assert(
      fc.property(fc.anything(), (anything) => {
        expect(faultOf(anything).code).toBe("INVALID_PLAN");
      }),
    );
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom("name", "budgetMs", "stallMs", "ceilingMs", "renewOn", "timeoutReason"),
          fc.anything(),
        ),
        (any) => {
          try {
            definePlan({ phases: [any as unknown as { name: string }] });
          } catch (error) {
            expect(isSlipwayError(error)).toBe(true);
          }
        },
      ),
    );
  });
});
