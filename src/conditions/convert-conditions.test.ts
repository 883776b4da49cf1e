import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { catalog, cause, to } from "../../test/conditions/three-contracts.js";
import {
  type Condition,
  convertConditions,
  defineReasonCatalog,
  matchesReason,
  readContract,
  stateIsolationMismatch,
} from "./index.js";
import { conditionSchema } from "../schema/index.js";

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
