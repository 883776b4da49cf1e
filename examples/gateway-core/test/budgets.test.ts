import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkOverrides, DEFAULT_BUDGETS, planFor } from "../src/gateway/budgets.js";

const ms = fc.integer({ min: 1, max: 10_000_000 });
const budgets = fc
  .record({
    preparationMs: ms,
    waitMs: fc.option(ms, { nil: undefined }),
    admissionMs: ms,
    admissionCeilingMs: ms,
    stallMs: fc.option(ms, { nil: undefined }),
    cleanupMs: ms,
  })
  .map((granted) => ({
    ...granted,
    admissionCeilingMs: Math.max(granted.admissionCeilingMs, granted.admissionMs),
  }));
const shares = fc.record({ preparation: fc.double({ min: 0, max: 1, noNaN: true }) });

describe("the plan of an attempt", () => {
  it("grants half an hour to preparation and, beyond that, half an hour to waits for somebody else's", () => {
    const plan = planFor(DEFAULT_BUDGETS, {});
    expect(plan.phases.map(({ budgetMs, ceilingMs }) => [budgetMs, ceilingMs])).toEqual([
      [1_800_000, 3_600_000],
      [300_000, 3_600_000],
    ]);
    expect(plan.ceilingMs).toBe(7_200_000);
  });

  it("has room for every phase as long as it may be, whatever is granted and asked for", () => {
    fc.assert(
      fc.property(budgets, shares, (granted, { preparation }) => {
        const preparationMs = Math.max(Math.floor(granted.preparationMs * preparation), 1);
        checkOverrides(granted, { preparationMs });
        const plan = planFor(granted, { preparationMs });
        const [first, second] = plan.phases;
        expect(first?.budgetMs).toBe(preparationMs);
        expect(first?.ceilingMs).toBe(preparationMs + (granted.waitMs ?? granted.preparationMs));
        expect(second?.ceilingMs).toBe(granted.admissionCeilingMs);
        expect(plan.ceilingMs).toBe(first!.ceilingMs! + second!.ceilingMs!);
      }),
    );
  });
});
