import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { copy, faultOf, plan, samples } from "../../test/deadline/sample-states.js";
import type { DeadlineState } from "../deadline/index.js";
import { isSlipwayError } from "../errors.js";
import { decodeDeadlineState } from "./deadline-state.js";

/** Every path to a leaf or branch of a JSON value. */
function* paths(
  value: unknown,
  prefix: readonly (string | number)[] = [],
): Generator<readonly (string | number)[]> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, child] of Object.entries(value)) {
    const path = [...prefix, Array.isArray(value) ? Number(key) : key];
    yield path;
    yield* paths(child, path);
  }
}

/** The object that holds the last key of a path, in a fresh copy of the state. */
function holderOf(
  state: DeadlineState,
  path: readonly (string | number)[],
): { root: unknown; holder: Record<string | number, unknown>; key: string | number } {
  const root = copy(state);
  const key = path.at(-1);
  let holder: Record<string | number, unknown> = root;
  for (const step of path.slice(0, -1)) holder = holder[step] as Record<string | number, unknown>;
  if (key === undefined) throw new Error("empty path");
  return { root, holder, key };
}

describe("decodeDeadlineState", () => {
  it.each(Object.entries(samples))("reads back a %s state as it was written", (_name, state) => {
    expect(decodeDeadlineState(copy(state))).toEqual(state);
  });

  it.each(Object.entries(samples))("refuses a %s state with any field missing", (_name, state) => {
    const optional = new Set([
      "budgetMs",
      "stallMs",
      "renewOn",
      "ceilingMs",
      "ceilingMayTruncate",
      "download",
    ]);
    for (const path of paths(state)) {
      const { root, holder, key } = holderOf(state, path);
      if (Array.isArray(holder)) continue;
      // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- damaging the record is the point
      delete holder[key];
      if (optional.has(String(key))) continue;
      expect(faultOf(root).field, path.join(".")).not.toBe(undefined);
    }
  });

  it.each(Object.entries(samples))("refuses a %s state with any field of another type", (_name, state) => {
    for (const path of paths(state)) {
      for (const wrong of [{ surprise: "x" }, [[]], true, "x".repeat(5000), 1.5, -1e300]) {
        const { root, holder, key } = holderOf(state, path);
        if (path.includes("marks") && key === "position" && wrong === 1.5) continue;
        holder[key] = wrong;
        expect(["INVALID_STATE", "UNSUPPORTED_SCHEMA_VERSION"], path.join(".")).toContain(faultOf(root).code);
      }
    }
  });

  it("refuses an extra field anywhere and names it", () => {
    for (const [name, state] of Object.entries(samples)) {
      for (const path of [[], ...paths(state)]) {
        const { root, holder, key } = holderOf(state, [...path, "surprise"]);
        if (typeof holder !== "object" || (holder as unknown) === null || Array.isArray(holder)) continue;
        if (path.at(-1) === "stallMs") continue;
        holder[key] = 1;
        expect(faultOf(root).field, `${name} ${path.join(".")}`).toMatch(/surprise$/);
      }
    }
  });

  it("refuses an instant that was moved, in either direction, unless it carries no claim", () => {
    const free = new Set(["parentDeadlineAt"]);
    for (const [name, state] of Object.entries(samples)) {
      for (const path of paths(state)) {
        const field = path.join(".");
        if (!/At$|until$|\.at$/.test(field) || free.has(field)) continue;
        const { root, holder, key } = holderOf(state, path);
        if (typeof holder[key] !== "number") continue;
        const value = holder[key];
        for (const by of [1e9, -1e9]) {
          holder[key] = value + by;
          // Time may have passed unseen in a state that lives, and a commit may be as old as it likes.
          if (field === "configuration.committedAt" && by < 0) continue;
          expect(faultOf(root).code, `${name} ${field} ${by}`).toBe("INVALID_STATE");
        }
      }
    }
  });

  it("refuses a plan that could not have been defined", () => {
    const state = copy(samples["fresh"]!);
    expect(
      faultOf({ ...state, plan: { ...plan, cleanupBudgetMs: 1, observeEveryMs: 1, phases: [] } }).field,
    ).toBe("plan.phases");
    const truncated = { ...(state["plan"] as object), ceilingMs: 10 };
    expect(faultOf({ ...state, plan: truncated }).field).toBe("plan.ceilingMs");
  });

  it("says of another type what it must be", () => {
    const rest: Record<string, unknown> = { ...Object.values(samples)[0] };
    delete rest["windowEndsAt"];
    const wrong: [unknown, string][] = [
      [rest, "windowEndsAt must be a number, got undefined"],
      [{ ...rest, windowEndsAt: null, marks: {} }, "marks must be an array, got {}"],
      [{ ...rest, windowEndsAt: null, plan: [] }, "plan must be an object, got []"],
      [{ ...rest, windowEndsAt: null, attempt: 5 }, "attempt must be a string, got 5"],
    ];
    for (const [value, says] of wrong)
      expect(() => decodeDeadlineState(value)).toThrow(`Invalid deadline state: ${says}`);
    expect(() => decodeDeadlineState({ ...rest, schemaVersion: 2 })).toThrow(
      "schemaVersion must be 1, got 2",
    );
  });

  it("says what it found in a version that it does not know", () => {
    const fault = faultOf({ ...copy(samples["fresh"]!), schemaVersion: 2 });
    expect(fault).toMatchObject({ code: "UNSUPPORTED_SCHEMA_VERSION", field: "schemaVersion", value: 2 });
  });

  it.each([[null], [undefined], ["{}"], [7], [[]], [{}]])("refuses %o", (value) => {
    expect(faultOf(value).code).toBe("INVALID_STATE");
  });

  it("reads the first release's states for ever", () => {
    const v1 =
      '{"schemaVersion":1,"version":3,"attempt":"a1","plan":{"phases":[{"name":"prepare","budgetMs":1000,"timeoutReason":"ImagePreparationTimedOut"},{"name":"admit","budgetMs":500,"renewOn":"change","timeoutReason":"ProvisioningTimedOut"}],"ceilingMs":5000,"cleanupBudgetMs":30000,"observeEveryMs":30000},"status":"active","startedAt":0,"observedAt":20,"parentDeadlineAt":null,"phase":"admit","phaseEnteredAt":10,"windowEndsAt":520,"pausedAt":null,"pauseSeq":null,"run":0,"marks":[],"stallLimitMs":null,"stallEndsAt":null,"configuration":{"generation":2,"digest":"d2","committedAt":20},"rejection":null,"spentRejections":[],"expiry":null,"completedAt":null,"cancellation":null,"cleanup":{"status":"none","claims":0,"claim":null,"error":null,"doneAt":null,"waiver":null}}';
    expect(JSON.stringify(decodeDeadlineState(JSON.parse(v1)))).toBe(v1);
  });

  it("throws nothing but its own error for any JSON, and for any damage to a state", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(faultOf(value).code).toBe("INVALID_STATE");
      }),
    );
    const all = Object.values(samples).flatMap((state) => [...paths(state)].map((path) => ({ state, path })));
    fc.assert(
      fc.property(fc.constantFrom(...all), fc.jsonValue(), ({ state, path }, value) => {
        const { root, holder, key } = holderOf(state, path);
        holder[key] = value;
        try {
          const decoded = decodeDeadlineState(root);
          expect(JSON.parse(JSON.stringify(decoded))).toEqual(JSON.parse(JSON.stringify(root)));
        } catch (error) {
          expect(isSlipwayError(error) && typeof error.field === "string").toBe(true);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
