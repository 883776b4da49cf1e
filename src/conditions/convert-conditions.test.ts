import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Condition,
  convertConditions,
  defineReasonCatalog,
  matchesReason,
  parseConditions,
  readContract,
  sandboxReasons,
  stateIsolationMismatch,
  summarize,
} from "./index.js";
import { conditionSchema } from "../schema/index.js";

// The same cases in every run: a test that fails sometimes teaches nobody.
fc.configureGlobal({ seed: 20_260_101 });

const catalog = defineReasonCatalog({
  name: "three",
  contract: 3,
  types: { Ready: { polarity: "positive", presence: "always", summary: "Ready." } },
  reasons: {
    Timeout: { types: ["Ready"], class: "terminal", summary: "s" },
    Waiting: { types: ["Ready"], class: "waiting", summary: "s" },
    Mismatch: { types: ["Ready"], class: "terminal", since: 2, summary: "s" },
    Hiccup: { types: ["Ready"], class: "transient", since: 2, summary: "s" },
    BiosMismatch: { types: ["Ready"], class: "terminal", since: 3, summary: "s" },
  },
  retired: { Ancient: { retiredIn: 2 } },
});
const words = [
  ...Object.keys(catalog.reasons),
  "Ancient",
  "waiting",
  "TIMEOUT",
  "Foreign",
  "",
  "__proto__",
  "constructor",
];
const word = fc.constantFrom(...words);
const cause = fc.record({ reason: word, message: fc.constantFrom("", "m") });
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
const to = (conditions: readonly Condition[], number: number) =>
  convertConditions(conditions, { catalog, contract: number });
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

describe("convertConditions", () => {
  const stated: Condition = {
    type: "Ready",
    status: "False",
    reason: "BiosMismatch",
    generalReasons: ["Mismatch", "Timeout"],
    message: "m",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  };

  it("chooses the nearest reason that each contract knows", () => {
    expect([1, 2, 3, 9].map((number) => to([stated], number)[0]?.reason)).toEqual([
      "Timeout",
      "Mismatch",
      "BiosMismatch",
      "BiosMismatch",
    ]);
  });

  it("puts the skipped reason into the cause, unless the writer stated one", () => {
    expect(to([stated], 1)[0]).toMatchObject({
      reason: "Timeout",
      cause: { reason: "BiosMismatch", message: "m" },
    });
    const own = { ...stated, cause: { reason: "Firmware", message: "" } };
    const [shown] = to([own], 1);
    expect(shown?.cause).toEqual(own.cause);
    for (const name of ["BiosMismatch", "Mismatch", "Timeout", "Firmware"])
      expect(matchesReason(shown, name)).toBe(true);
  });

  it("shows a reason of an unknown newer contract by the general reasons that its writer stated", () => {
    const future = { ...stated, reason: "FromTheFuture", generalReasons: ["AlsoNew", "Mismatch", "Timeout"] };
    expect(to([future], 1)[0]?.reason).toBe("Timeout");
    expect(to([future], 2)[0]?.reason).toBe("Mismatch");
  });

  it("clears a mismatch that the list tells of, and leaves other lists alone", () => {
    const told = stateIsolationMismatch([], { now: 0, timedOut: false, message: "m" });
    const cleared = stateIsolationMismatch(told, { now: 5000, cleared: true });
    expect(cleared).toEqual([
      told[0],
      {
        type: "IsolationBackendMatched",
        status: "True",
        reason: "IsolationBackendMatches",
        message: "",
        lastTransitionTime: "1970-01-01T00:00:05Z",
      },
    ]);
    expect(stateIsolationMismatch(cleared, { now: 9000, cleared: true })).toBe(cleared);
    const none: Condition[] = [];
    expect(stateIsolationMismatch(none, { now: 0, cleared: true })).toBe(none);
  });

  it("leaves alone what is no condition", () => {
    const list = [null, 5, undefined, stated] as unknown as Condition[];
    expect(to(list, 3)).toBe(list);
    expect(to(list, 1).slice(0, 3)).toEqual([null, 5, undefined]);
  });

  it("takes reasons for exact strings", () => {
    const shouted = [{ ...stated, reason: "TIMEOUT", generalReasons: [] }];
    expect(to(shouted, 1)).toBe(shouted);
    expect(matchesReason(shouted[0], "Timeout")).toBe(false);
    expect(matchesReason(shouted[0], "TIMEOUT")).toBe(true);
  });

  it("keeps what a peer added to a converted condition", () => {
    const [shown] = to([stated], 1);
    const peers = {
      ...shown,
      cause: { reason: "Firmware", message: "f" },
      generalReasons: ["Outage"],
    } as Condition;
    const [back] = to([peers], 3);
    expect(back).toMatchObject({ reason: stated.reason, cause: peers.cause });
    expect(back?.generalReasons).toEqual(
      expect.arrayContaining(["Outage", ...(stated.generalReasons ?? [])]),
    );
    const again = to([peers], 1);
    expect(again[0]).toMatchObject({ reason: shown?.reason, cause: peers.cause });
    expect(to(again, 1)).toBe(again);
    expect(to(again, 3)).toEqual([back]);
  });

  it("keeps every field that a peer added to the cause or the origin that a conversion made", () => {
    const extra = fc.dictionary(fc.constantFrom("code", "unread", "note", "__proto__"), fc.jsonValue());
    fc.assert(
      fc.property(extra, extra, fc.option(cause, { nil: undefined }), (onCause, onOrigin, own) => {
        const from: Condition = { ...stated, ...(own && { cause: own }) };
        const [shown] = to([from], 1);
        const edited = {
          ...shown,
          cause: { ...shown?.cause, ...onCause },
          convertedFrom: { ...shown?.convertedFrom, ...onOrigin },
        } as Condition;
        const [back] = to([edited], 3);
        expect(back).toMatchObject({ reason: from.reason, generalReasons: from.generalReasons });
        if (Object.keys(onCause).length > 0) expect(back?.cause).toEqual(edited.cause);
        else expect(back?.cause).toEqual(from.cause);
        for (const [name, value] of Object.entries(onOrigin))
          expect(Object.entries(back?.convertedFrom ?? {})).toContainEqual([name, value]);
        if (Object.keys(onOrigin).length === 0) expect(back?.convertedFrom).toBeUndefined();
        // And through any number of further conversions.
        const again = to(to([back as Condition], 1), 3);
        expect(again).toEqual([back]);
        expect(to(to([edited], 1), 3)).toEqual([back]);
        expect(conditionSchema.safeParse(back).success).toBe(conditionSchema.safeParse(edited).success);
      }),
    );
  });

  it("keeps a cause of the skipped reason with words of its own, and drops only its own", () => {
    const [shown] = to([stated], 1);
    const said = { reason: stated.reason, message: "the firmware says otherwise" };
    expect(to([{ ...shown, cause: said } as Condition], 3)[0]?.cause).toEqual(said);
    expect(to([{ ...shown } as Condition], 3)).toEqual([stated]);
    // null is an absent field: the statement comes back whole.
    const own = { ...stated, cause: { reason: "Firmware", message: "" } };
    expect(to([{ ...to([own], 1)[0], cause: null } as unknown as Condition], 3)).toEqual([own]);
  });

  it("leaves an empty reason alone, and takes an origin without one for nobody's statement", () => {
    const unsaid = [{ ...stated, reason: "" }];
    for (const number of [1, 2, 3]) expect(to(unsaid, number)).toBe(unsaid);
    expect(matchesReason(unsaid[0], "Timeout")).toBe(true);
    const shown = [
      { ...stated, reason: "Timeout", convertedFrom: { reason: "", generalReasons: ["Timeout"] } },
    ];
    for (const number of [1, 2, 3]) expect(to(shown, number)).toBe(shown);
  });

  it("never shows a retired terminal reason for what may still come right", () => {
    for (const kept of [{ class: "terminal" }, {}] as const) {
      const retiring = defineReasonCatalog<string, string, string>({
        ...catalog,
        retired: { Ancient: { retiredIn: 2, ...kept } },
      });
      const hiccup = [{ ...stated, reason: "Hiccup", generalReasons: ["Ancient"] }];
      expect(convertConditions(hiccup, { catalog: retiring, contract: 1 })).toBe(hiccup);
    }
    const waiting = defineReasonCatalog<string, string, string>({
      ...catalog,
      retired: { Ancient: { retiredIn: 2, class: "waiting" } },
    });
    const [old] = convertConditions([{ ...stated, reason: "Hiccup", generalReasons: ["Ancient"] }], {
      catalog: waiting,
    });
    expect(old?.reason).toBe("Ancient");
  });

  it("keeps a reason that nothing known stands in for", () => {
    const lonely = [{ ...stated, generalReasons: ["Elsewhere"] }];
    expect(to(lonely, 1)).toBe(lonely);
  });

  it("knows a retired reason in the contracts before", () => {
    const ancient = [{ ...stated, reason: "Foreign", generalReasons: ["Ancient", "Timeout"] }];
    expect(to(ancient, 1)[0]?.reason).toBe("Ancient");
    expect(to(ancient, 2)[0]?.reason).toBe("Timeout");
  });

  it("does not restore what a peer has replaced since", () => {
    const [old] = to([stated], 1);
    const overwritten = { ...old, status: "True", reason: "Waiting" } as Condition;
    expect(to([overwritten], 3)[0]?.reason).toBe("Waiting");
    expect(matchesReason(overwritten, "Mismatch")).toBe(false);
  });

  it("publishes contract 1 to who does not ask, and to who asks for nonsense", () => {
    expect(convertConditions([stated], { catalog })[0]?.reason).toBe("Timeout");
    for (const number of [0, -1, NaN, 1.5]) expect(to([stated], number)[0]?.reason).toBe("Timeout");
    expect(to([stated], Infinity)[0]?.reason).toBe("BiosMismatch");
  });
});

describe("readContract", () => {
  it.each([
    ["2", 2],
    [2, 2],
    ["0", 1],
    ["-2", 1],
    ["2.0", 1],
    ["two", 1],
    [null, 1],
    [undefined, 1],
    ["99999999999999999999", Number.MAX_SAFE_INTEGER],
    ["1234567890", 1_234_567_890],
    [1e20, Number.MAX_SAFE_INTEGER],
  ])("reads %j as %d", (value, expected) => {
    expect(readContract(value)).toBe(expected);
  });
});

describe("stateIsolationMismatch", () => {
  const now = Date.UTC(2026, 0, 1);
  const message = "restore the gateway selection or create a new sandbox";

  it("states the mismatch with the timeout as its general reason, and beside it the companion condition", () => {
    const stored = stateIsolationMismatch([], { now, timedOut: true, message, observedGeneration: 3 });
    expect(stored).toEqual([
      {
        type: "Ready",
        status: "False",
        reason: "IsolationBackendMismatch",
        generalReasons: ["ImagePreparationTimedOut"],
        message,
        observedGeneration: 3,
        lastTransitionTime: "2026-01-01T00:00:00Z",
      },
      {
        type: "IsolationBackendMatched",
        status: "False",
        reason: "IsolationBackendMismatch",
        message,
        observedGeneration: 3,
        lastTransitionTime: "2026-01-01T00:00:00Z",
      },
    ]);
    expect(
      stateIsolationMismatch(stored, { now: now + 5000, timedOut: true, message, observedGeneration: 3 }),
    ).toBe(stored);
  });

  it("takes over the form in which a deadline publishes it, and shows it in both contracts", () => {
    const published: Condition[] = [
      {
        type: "Ready",
        status: "False",
        reason: "ImagePreparationTimedOut",
        cause: { reason: "IsolationBackendMismatch", message },
        message: "preparation took 30 min",
        lastTransitionTime: "2025-12-31T23:00:00Z",
      },
    ];
    expect(convertConditions(published, { catalog: sandboxReasons, contract: 1 })).toBe(published);
    expect(convertConditions(published, { catalog: sandboxReasons, contract: 2 })).toBe(published);
    expect(matchesReason(published[0], "IsolationBackendMismatch")).toBe(true);

    const stored = stateIsolationMismatch(published, { now, timedOut: true, message });
    expect(stored[0]).toMatchObject({
      reason: "IsolationBackendMismatch",
      lastTransitionTime: "2025-12-31T23:00:00Z",
    });
    const [old] = convertConditions(stored, { catalog: sandboxReasons, contract: 1 });
    expect(old).toMatchObject({
      reason: "ImagePreparationTimedOut",
      cause: { reason: "IsolationBackendMismatch", message },
    });
  });
});

describe("summarize", () => {
  it("says what Ready says, with its cause", () => {
    const [old] = convertConditions(
      stateIsolationMismatch([], { now: 0, timedOut: true, message: "restore it", observedGeneration: 2 }),
      {
        catalog: sandboxReasons,
      },
    );
    const summary = summarize([old as Condition], { generation: 3 });
    expect(summary).toMatchObject({ status: "False", reason: "ImagePreparationTimedOut", stale: true });
    expect(summary.text).toBe("Ready=False ImagePreparationTimedOut (IsolationBackendMismatch): restore it");
  });

  it("reads an absent condition as Unknown, and an absent generation as no claim", () => {
    expect(summarize([], { type: "Suspended", generation: 4 })).toEqual({
      type: "Suspended",
      status: "Unknown",
      reason: "NotYetReported",
      message: "",
      stale: false,
      text: "Suspended=Unknown NotYetReported",
    });
  });

  it.each([undefined, null, { __proto__: null }])("has no word for a reason and a message of %j", (word) => {
    const pod = { type: "Ready", status: "True", reason: word, message: word };
    expect(summarize([pod as unknown as Condition])).toMatchObject({
      reason: "",
      message: "",
      text: "Ready=True",
    });
  });
});

describe("summarize, of odd fields", () => {
  const stored: Condition = {
    type: "Ready",
    status: "False",
    reason: "Starting",
    message: "m",
    lastTransitionTime: "",
  };

  it.each<[object]>([[{}], [{ reason: null }], [{ reason: "" }], [{ reason: 5 }], [{ message: "m" }]])(
    "says nothing of a cause without a reason: %j",
    (cause) => {
      const condition = { ...stored, cause } as unknown as Condition;
      expect(summarize([condition]).text).toBe("Ready=False Starting: m");
    },
  );

  it.each([undefined, null])("reads a status of %j as Unknown", (status) => {
    const summary = summarize([{ ...stored, status } as unknown as Condition]);
    expect(summary).toMatchObject({ status: "Unknown", text: "Ready=Unknown Starting: m" });
  });
});

describe("a condition without a reason, unparsed", () => {
  it.each([undefined, null, 5])("stays as it is in every contract: %j", (reason) => {
    const odd = {
      type: "Ready",
      status: "True",
      reason,
      generalReasons: ["Mismatch"],
    } as unknown as Condition;
    for (const number of [1, 2, 3]) expect(to([odd], number)[0]).toBe(odd);
  });
});
