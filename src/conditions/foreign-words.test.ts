import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Condition, convertConditions, parseConditions, sandboxReasons, setCondition } from "./index.js";

// The same cases in every run: a test that fails sometimes teaches nobody.
fc.configureGlobal({ seed: 20_260_101 });

/** Every spelling of a field that a peer may use. */
const spellings = fc.constantFrom(
  ...["type", "status", "reason", "message", "cause", "unread"].flatMap((name) => [name, name.toUpperCase()]),
  ...["lastTransitionTime", "last_transition_time", "LastTransitionTime", "transition_time"],
  ...["observedGeneration", "observed_generation", "ObservedGeneration"],
  ...["generalReasons", "general_reasons", "convertedFrom", "converted_from"],
  ...["severity", "__proto__", "constructor", "1", "_"],
);
const scalar = fc.oneof(
  fc.constantFrom(null, "", "True", "false", "Maybe", "3", "abc", "2026-01-01T00:00:00Z", true, 0, 7, -1),
  fc.string(),
);
/** An entry of a list, with any such fields and in them anything made of these words. */
const entryOf = (word: fc.Arbitrary<unknown>) => {
  const { any } = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      word,
      fc.array(tie("any"), { maxLength: 3 }),
      fc.dictionary(spellings, tie("any"), { maxKeys: 4 }),
    ),
  }));
  return fc
    .uniqueArray(fc.tuple(spellings, any), { selector: ([name]) => name, maxLength: 7 })
    .map((fields) => Object.fromEntries([["type", "Ready"], ...fields]) as object);
};

/** All that is in a value, at any depth, as text. */
function wordsIn(held: unknown): string[] {
  if (typeof held === "string") return held === "" ? [] : [held];
  return Object.values(held ?? {}).flatMap(wordsIn);
}

describe("what a peer sent", () => {
  it("reads the same a second time", () => {
    const json = fc.json().map((text) => JSON.parse(text) as unknown);
    fc.assert(
      fc.property(fc.oneof(entryOf(scalar), json), (sent) => {
        const once = JSON.stringify(parseConditions([sent]));
        expect(JSON.parse(JSON.stringify(parseConditions(once)))).toEqual(JSON.parse(once));
      }),
      { numRuns: 2000 },
    );
  });

  it("is all there after reading: in its field, beside it or under unread", () => {
    // Words that mean nothing, so that each must be kept as it is.
    const word = fc.integer({ min: 1, max: 9 }).map((number) => `word${number}`);
    fc.assert(
      fc.property(entryOf(word), (sent) => {
        const kept = wordsIn(parseConditions([sent]));
        for (const each of kept.length > 0 ? wordsIn(sent) : []) expect(kept).toContain(each);
      }),
      { numRuns: 2000 },
    );
  });

  it.each<[object, object]>([
    [
      { observedGeneration: "abc", observed_generation: 5 },
      { observedGeneration: 5, unread: { observedGeneration: "abc" } },
    ],
    [
      { observed_generation: 5, observedGeneration: [] },
      { observedGeneration: 5, unread: { observedGeneration: [] } },
    ],
    [
      { observedGeneration: "abc", observed_generation: "def" },
      { unread: { observedGeneration: "abc", observed_generation: "def" } },
    ],
    [
      { observedGeneration: 3, observed_generation: 5 },
      { observedGeneration: 3, observed_generation: 5 },
    ],
    [
      { reason: {}, Reason: "Other" },
      { reason: "Other", unread: { reason: {} } },
    ],
    [{ STATUS: null, status: "True" }, { status: "True" }],
    [{ status: null }, {}],
    [{ status: null, Status: null }, {}],
    [{ status: "", Status: "False" }, { status: "False" }],
    [{ Status: "Maybe" }, { unread: { Status: "Maybe" } }],
    [
      { cause: "boom", Cause: { reason: "Other", message: "" } },
      { cause: { reason: "Other", message: "" }, unread: { cause: "boom" } },
    ],
    [
      { cause: { reason: "Other", message: { lines: 2 } } },
      { cause: { reason: "Other", message: "", unread: { message: { lines: 2 } } } },
    ],
    [{ cause: { message: "no reason given" } }, { cause: { reason: "", message: "no reason given" } }],
    [{ cause: { code: 7 } }, { unread: { cause: { code: 7 } } }],
    [
      { message: { odd: 1 }, unread: { message: "theirs" } },
      {
        unread: { message: { odd: 1 }, unread: { message: "theirs" } },
      },
    ],
    [
      { message: { odd: 1 }, unread: { reason: "theirs" } },
      {
        unread: { message: { odd: 1 }, reason: "theirs" },
      },
    ],
    [
      { unread: [1], Unread: { a: 1 } },
      { unread: { unread: [1] }, Unread: { a: 1 } },
    ],
    [
      { converted_from: { Reason: "R", general_reasons: "S", cause: 1 } },
      { convertedFrom: { reason: "R", unread: { general_reasons: "S", cause: 1 } } },
    ],
  ])("of %j is read as %j", (sent, expected) => {
    const nothing = { type: "Ready", status: "Unknown", reason: "", message: "", lastTransitionTime: "" };
    const once = parseConditions([{ type: "Ready", ...sent }]);
    expect(once).toEqual([{ ...nothing, ...expected }]);
    expect(parseConditions(once)).toEqual(once);
  });

  it.each(["\uFEFF", " \n", "\uFEFF\r\n"])("is read from a text that begins with %j", (start) => {
    const text = JSON.stringify([{ type: "Ready", status: "True" }]);
    expect(parseConditions(`${start}${text}\n`)).toEqual(parseConditions(text));
    expect(parseConditions(text)).toHaveLength(1);
  });
});

/** The words of an origin in one of the spellings, and below it an older origin. */
const spell = {
  "in camelCase": (name: string) => name,
  "in snake_case": (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  "in Go's spelling": (name: string) => name.replace(/^./, (letter) => letter.toUpperCase()),
};

describe.each(Object.entries(spell))("an origin %s", (_name, spelling) => {
  const named = (fields: object): object =>
    Object.fromEntries(Object.entries(fields).map(([name, value]) => [spelling(name), value as unknown]));
  /** An origin inside another, `depth` times. */
  const nest = (depth: number, name: (fields: object) => object): object => {
    const words = { reason: `R${depth}`, generalReasons: ["G"], cause: name({ reason: "C", message: "c" }) };
    return name(depth > 0 ? { ...words, convertedFrom: nest(depth - 1, name) } : words);
  };
  const read = (origin: object) => parseConditions([named({ type: "Ready", convertedFrom: origin })]);

  it("is read with all the origins inside it", () => {
    for (const depth of [0, 1, 2, 50])
      expect(read(nest(depth, named))[0]?.convertedFrom).toEqual(nest(depth, (fields) => fields));
  });

  it("is read as far as conversions go, and no deeper; the rest is there as it was sent", () => {
    const parsed = read(nest(500, named));
    expect(JSON.stringify(parsed)).toContain('"R0"');
    expect(parseConditions(parsed)).toEqual(parsed);
    const circle = named({ reason: "R" }) as Record<string, unknown>;
    circle[spelling("convertedFrom")] = circle;
    expect(() => read(circle)).not.toThrow();
  });
});

describe("a bare list", () => {
  const word = fc.constantFrom<unknown>("x", 7, null, {}, { a: 1 }, [], ["x"]);
  const entry = fc.dictionary(
    fc.constantFrom("type", "status", "reason", "kind", "metadata", "data", "object", "apiVersion", "Kind"),
    word,
  );

  it("of which one entry is a condition reads as the same list under conditions", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(entry, word)), fc.nat(), (entries, at) => {
        const condition = { type: "Ready", status: "True" };
        const list = entries.toSpliced(at % (entries.length + 1), 0, condition);
        expect(parseConditions(list)).toEqual(parseConditions({ conditions: list }));
      }),
    );
  });

  it("keeps the entries that say what else they are, beside a condition", () => {
    const marked = { type: "Alerting", kind: "soft", metadata: { by: "x" }, data: { a: 1 } };
    expect(parseConditions([{ type: "Ready", status: "True" }, marked])).toMatchObject([
      { type: "Ready" },
      marked,
    ]);
  });
});

describe("what a writer sent that is no condition", () => {
  const stated = { type: "Ready", status: "False", reason: "Starting", message: "" } as const;

  it.each<[unknown]>([["boom"], [["boom"]], [7], [true], [null]])("has no cause: %j", (cause) => {
    const list = setCondition([], { ...stated, cause: cause as never }, 0);
    expect(list).toEqual([{ ...stated, lastTransitionTime: "1970-01-01T00:00:00Z" }]);
    expect(setCondition(list, { ...stated, cause: cause as never }, 0)).toBe(list);
  });
});

describe("an origin of a conversion that speaks of another reason", () => {
  const foreign = { reason: "Other", generalReasons: ["Elsewhere"], note: "of a peer" };
  const mismatch: Condition = {
    type: "Ready",
    status: "False",
    reason: "IsolationBackendMismatch",
    generalReasons: ["ImagePreparationTimedOut"],
    message: "m",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  };
  const to = (list: readonly Condition[], contract: number) =>
    convertConditions(list, { catalog: sandboxReasons, contract });

  it("is kept on the way down and up again", () => {
    const stored = [{ ...mismatch, convertedFrom: foreign }];
    expect(to(stored, 2)).toBe(stored);
    const old = to(stored, 1);
    expect(old[0]?.reason).toBe("ImagePreparationTimedOut");
    expect(to(old, 1)).toBe(old);
    expect(to(old, 2)).toEqual(stored);
    expect(to(parseConditions(JSON.stringify(old)), 2)).toEqual(stored);
  });

  it("is kept by a list that is not converted", () => {
    const stored = [{ ...mismatch, reason: "Starting", generalReasons: [], convertedFrom: foreign }];
    for (const contract of [1, 2]) expect(to(stored, contract)).toBe(stored);
  });

  it("is kept whatever origins lie inside it, and however deep", () => {
    const word = fc.constantFrom("IsolationBackendMismatch", "ImagePreparationTimedOut", "Starting", "Other");
    const origin = fc.letrec((tie) => ({
      any: fc.record(
        {
          reason: word,
          generalReasons: fc.array(word, { maxLength: 2 }),
          convertedFrom: fc.option(tie("any"), { nil: undefined, depthSize: "medium" }),
        },
        { noNullPrototype: true },
      ),
    })).any as fc.Arbitrary<Condition["convertedFrom"]>;
    fc.assert(
      fc.property(word, fc.array(word, { maxLength: 2 }), origin, (reason, generalReasons, convertedFrom) => {
        const stored = [{ ...mismatch, reason, generalReasons, convertedFrom }];
        const newest = to(stored, 2);
        const old = to(newest, 1);
        expect(to(newest, 2)).toBe(newest);
        expect(to(old, 1)).toBe(old);
        expect(to(to(to(old, 2), 1), 2)).toEqual(to(old, 2));
        // An origin that fits says that the list is in no newest contract.
        if (!convertedFrom?.generalReasons.includes(reason)) expect(to(old, 2)).toEqual(newest);
      }),
      { numRuns: 2000 },
    );
    const circle: Record<string, unknown> = { reason: "A", generalReasons: ["A"] };
    circle["convertedFrom"] = circle;
    const odd = [{ ...mismatch, reason: "A", convertedFrom: circle as never }];
    expect(to(to(odd, 1), 1)).toEqual(to(odd, 1));
  });
});
