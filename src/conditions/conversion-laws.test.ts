import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { catalog, cause, to, word } from "../../test/conditions/three-contracts.js";
import { type Condition, convertConditions, matchesReason, parseConditions } from "./index.js";

// The same cases in every run: a test that fails sometimes teaches nobody.
fc.configureGlobal({ seed: 20_260_101 });

const condition: fc.Arbitrary<Condition> = fc.record(
  {
    type: fc.constantFrom("Ready", "Other"),
    status: fc.constantFrom("True" as const, "False" as const, "Unknown" as const),
    reason: word,
    message: fc.constantFrom("", "m", "n"),
    lastTransitionTime: fc.constantFrom("", "2026-01-01T00:00:00Z"),
    observedGeneration: fc.nat(),
    cause,
    generalReasons: fc.array(word, { maxLength: 4 }),
    severity: fc.jsonValue(),
  },
  { requiredKeys: ["type", "status", "reason", "message", "lastTransitionTime"] },
);
const list = fc.array(condition, { maxLength: 4 });
const contract = fc.integer({ min: 1, max: 4 });

const classOf = (reason: string) =>
  Object.entries<{ class: string }>(catalog.reasons).find(([name]) => name === reason)?.[1].class;

describe("convertConditions, as laws", () => {
  it("is idempotent, and the same reference on the second pass", () => {
    fc.assert(
      fc.property(list, contract, (conditions, number) => {
        const once = to(conditions, number);
        expect(to(once, number)).toBe(once);
      }),
    );
  });

  it("loses nothing on the way down and up again, over any number of contracts", () => {
    fc.assert(
      fc.property(list, fc.array(contract), (conditions, path) => {
        const newest = to(conditions, 3);
        expect(to(path.reduce(to, newest), 3)).toEqual(newest);
        expect(to(path.reduce(to, conditions), 3)).toEqual(newest);
        const text: Condition[] = JSON.parse(JSON.stringify(to(newest, 1)));
        expect(to(text, 3)).toEqual(JSON.parse(JSON.stringify(newest)));
      }),
    );
  });

  it("gives back exactly what was written, where the newest contract knows the reason", () => {
    fc.assert(
      fc.property(list, (conditions) => {
        const known = conditions.filter(({ reason }) => classOf(reason) !== undefined);
        expect(to(known, 3)).toBe(known);
        expect(to(to(known, 1), 3)).toEqual(known);
        expect(to(to(known, 2), 3)).toEqual(known);
      }),
    );
  });

  it("gives the same view by whatever way it is reached", () => {
    fc.assert(
      fc.property(list, fc.array(contract), contract, (conditions, path, number) => {
        expect(to(path.reduce(to, conditions), number)).toEqual(to(conditions, number));
      }),
    );
  });

  it("reads back what it published, all of it, also where nothing was said", () => {
    const sent = fc.array(condition, { maxLength: 4 });
    fc.assert(
      fc.property(sent, contract, (conditions, number) => {
        const read = parseConditions(conditions.filter(({ cause }) => cause?.reason !== "" || cause.message));
        const published = to(read, number);
        expect(parseConditions(published)).toEqual(published);
        expect(to(parseConditions(JSON.stringify(published)), 3)).toEqual(
          JSON.parse(JSON.stringify(to(read, 3))),
        );
      }),
      { numRuns: 1000 },
    );
  });

  it("leaves type, status, time, generation, message, foreign fields and order alone", () => {
    const rest = (shown: Condition) => ({
      ...shown,
      reason: "",
      cause: undefined,
      generalReasons: [],
      convertedFrom: undefined,
    });
    fc.assert(
      fc.property(list, contract, (conditions, number) => {
        expect(to(conditions, number).map(rest)).toEqual(conditions.map(rest));
      }),
    );
  });

  it("never turns a reason known to be non-terminal into a terminal one", () => {
    fc.assert(
      fc.property(condition, contract, (stated, number) => {
        const before = classOf(stated.reason);
        const [shown] = to([stated], number);
        if (before !== undefined && before !== "terminal")
          expect(classOf(shown?.reason ?? "")).not.toBe("terminal");
      }),
    );
  });

  it("shows the first of reason and general reasons that the contract knows, and matches the same names", () => {
    fc.assert(
      fc.property(condition, contract, word, (stated, number, name) => {
        const [shown = stated] = to([stated], number);
        const chain = [stated.reason, ...(stated.generalReasons ?? [])];
        expect(chain).toContain(shown.reason);
        if (matchesReason(stated, name)) expect(matchesReason(shown, name)).toBe(true);
      }),
    );
  });

  it("never throws, whatever a peer put into the fields", () => {
    const odd = fc.record({
      type: fc.anything(),
      reason: fc.anything(),
      cause: fc.anything(),
      generalReasons: fc.anything(),
      convertedFrom: fc.anything(),
    });
    fc.assert(
      fc.property(fc.array(odd), fc.anything(), (conditions, number) => {
        const options = { catalog, contract: number as number };
        const once = convertConditions(conditions as unknown as Condition[], options);
        expect(convertConditions(once, options)).toEqual(once);
      }),
    );
  });
});
