import { describe, expect, it } from "vitest";
import { one, plain } from "../../test/conditions/plain-condition.js";
import { type Condition, matchesReason, parseConditions, setCondition } from "./index.js";

describe("parseConditions", () => {
  it.each([
    ["True", "True"],
    ["true", "True"],
    ["TRUE", "True"],
    [" false ", "False"],
    [true, "True"],
    [false, "False"],
    ["CONDITION_STATUS_TRUE", "True"],
    ["CONDITION_STATUS_FALSE", "False"],
    ["CONDITION_STATUS_UNKNOWN", "Unknown"],
    ["CONDITION_STATUS_UNSPECIFIED", "Unknown"],
    ["SANDBOX_CONDITION_STATUS_TRUE", "True"],
    ["STATUS_FALSE", "False"],
    ["V1_CONDITION_TRUE", "True"],
    [1, "True"],
    [2, "False"],
    [0, "Unknown"],
    [3, "Unknown"],
    ["", "Unknown"],
    [null, "Unknown"],
    [undefined, "Unknown"],
    ["unknown", "Unknown"],
  ])("reads the status %j as %s", (status, expected) => {
    expect(one({ ...plain, status })).toEqual({ ...plain, status: expected });
  });

  it.each<[unknown]>([["Maybe"], [17], [{}], [{ toString: 1 }], ["CONDITION_STATUS_DEGRADED"]])(
    "keeps the status %j, which has no meaning here, under unread",
    (status) => {
      const parsed = one({ ...plain, status });
      expect(parsed).toEqual({ ...plain, status: "Unknown", unread: { status } });
      expect(parseConditions([parsed])).toEqual([parsed]);
    },
  );

  it.each([
    ["2026-01-01T00:00:00.123456789Z", "2026-01-01T00:00:00Z"],
    ["2026-01-01T02:00:00+02:00", "2026-01-01T00:00:00Z"],
    ["2026-01-01t00:00:00z", "2026-01-01T00:00:00Z"],
    [{ seconds: "1767225600", nanos: 5 }, "2026-01-01T00:00:00Z"],
    [{ seconds: 1_767_225_600 }, "2026-01-01T00:00:00Z"],
    [1_767_225_600_500, "2026-01-01T00:00:00Z"],
    [new Date(1_767_225_600_500), "2026-01-01T00:00:00Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"],
    ["yesterday", "yesterday"],
    [null, ""],
    [undefined, ""],
  ])("reads the time %j as %s", (time, expected) => {
    expect(one({ ...plain, lastTransitionTime: time })).toEqual({ ...plain, lastTransitionTime: expected });
  });

  it.each([
    [3, 3],
    ["3", 3],
    [0, 0],
    [null, undefined],
    ["", undefined],
  ])("reads the generation %j as %s", (observedGeneration, expected) => {
    expect(one({ ...plain, observedGeneration })).toEqual({
      ...plain,
      ...(expected !== undefined && { observedGeneration: expected }),
    });
  });

  it("keeps a generation that is none under unread, because a wrong number would be a claim", () => {
    expect(one({ ...plain, observedGeneration: -1 })).toEqual({
      ...plain,
      unread: { observedGeneration: -1 },
    });
    expect(one({ ...plain, observedGeneration: "9007199254740993" })).toMatchObject({
      unread: { observedGeneration: "9007199254740993" },
    });
  });

  it("reads the nested fields of cause and converted_from in every spelling", () => {
    expect(
      one({
        ...plain,
        cause: { Reason: "C", Message: "c", Extra: 1 },
        converted_from: { reason: "R", general_reasons: ["A"], Cause: { Reason: "D", message: "d" } },
      }),
    ).toEqual({
      ...plain,
      cause: { reason: "C", message: "c", Extra: 1 },
      convertedFrom: { reason: "R", generalReasons: ["A"], cause: { reason: "D", message: "d" } },
    });
    expect(one({ ...plain, cause: { reason: "C", Reason: "other", message: "c" } })).toMatchObject({
      cause: { reason: "C", Reason: "other" },
    });
  });

  it("reads another spelling where the exact name is null, and keeps a second one", () => {
    const { lastTransitionTime: time, ...rest } = plain;
    expect(one({ ...rest, lastTransitionTime: null, last_transition_time: time })).toEqual(plain);
    expect(one({ ...rest, last_transition_time: time, lastTransitionTime: null })).toEqual(plain);
    expect(one({ ...rest, last_transition_time: time, LastTransitionTime: "x" })).toEqual({
      ...plain,
      LastTransitionTime: "x",
    });
  });

  it("refuses seconds that only begin with a number", () => {
    expect(one({ ...plain, lastTransitionTime: { seconds: "12abc" } })).toMatchObject({
      lastTransitionTime: "",
      unread: { lastTransitionTime: { seconds: "12abc" } },
    });
  });

  it("reads snake_case, PascalCase and the newer transition_time", () => {
    const snake = {
      type: "Ready",
      status: "CONDITION_STATUS_FALSE",
      reason: "A",
      message: "m",
      last_transition_time: "2026-01-01T00:00:00Z",
      observed_generation: "4",
      general_reasons: ["B"],
      cause: { reason: "C", message: "c" },
    };
    const expected = {
      ...plain,
      status: "False",
      observedGeneration: 4,
      generalReasons: ["B"],
      cause: { reason: "C", message: "c" },
    };
    expect(one(snake)).toEqual(expected);
    expect(
      one({
        Type: "Ready",
        Status: "True",
        Reason: "A",
        Message: "m",
        LastTransitionTime: plain.lastTransitionTime,
      }),
    ).toEqual(plain);
    expect(
      one({
        type: "Ready",
        status: "True",
        reason: "A",
        message: "m",
        transition_time: plain.lastTransitionTime,
      }),
    ).toEqual(plain);
  });

  it("lets the exact name win over another spelling and keeps the other", () => {
    expect(one({ last_transition_time: "x", ...plain })).toEqual({ ...plain, last_transition_time: "x" });
    expect(one({ ...plain, lastTransitionTime: null, transition_time: plain.lastTransitionTime })).toEqual(
      plain,
    );
  });

  it("reads what is absent or null as empty, and makes no claim where none was made", () => {
    expect(
      one({ type: "Future", cause: null, generalReasons: null, observedGeneration: null, reason: null }),
    ).toEqual({
      type: "Future",
      status: "Unknown",
      reason: "",
      message: "",
      lastTransitionTime: "",
    });
  });

  it.each<[string, unknown]>([
    ["text", "as it came"],
    ["an object", { status: "original", other: 1 }],
    ["a list", [1, "x"]],
  ])("leaves a foreign field raw alone, %s, beside what it cannot read itself", (_name, raw) => {
    expect(one({ ...plain, raw })).toEqual({ ...plain, raw });
    const parsed = one({ ...plain, raw, status: "Maybe" });
    expect(parsed).toEqual({ ...plain, raw, status: "Unknown", unread: { status: "Maybe" } });
    expect(parseConditions([parsed])).toEqual([parsed]);
  });

  it("keeps what an earlier reader could not read, and a foreign field of that name", () => {
    expect(one({ ...plain, unread: { reason: [1] }, status: "Maybe" })).toEqual({
      ...plain,
      status: "Unknown",
      unread: { reason: [1], status: "Maybe" },
    });
    expect(one({ ...plain, unread: "mail" })).toEqual({ ...plain, unread: { unread: "mail" } });
    // What it cannot read itself is not written over the same name of before.
    expect(one({ ...plain, unread: { reason: [1] }, reason: {}, status: "Maybe" })).toEqual({
      ...plain,
      reason: "",
      status: "Unknown",
      unread: { unread: { reason: [1] }, reason: {}, status: "Maybe" },
    });
  });

  it("has no field that was sent as undefined", () => {
    const parsed = one({ ...plain, extra: undefined, cause: undefined });
    expect(Object.keys(parsed ?? {}).sort()).toEqual(Object.keys(plain).sort());
  });

  it("keeps what it cannot read until a writer states the condition anew, and no longer", () => {
    const list = parseConditions([{ ...plain, status: "Maybe", raw: "theirs" }]);
    const restated = { type: "Ready", status: "Unknown", reason: "A", message: "m" } as const;
    const [anew] = setCondition(list, restated, 0);
    expect(anew).toEqual({ ...restated, raw: "theirs", lastTransitionTime: plain.lastTransitionTime });
    const [other] = setCondition(list, { ...restated, status: "True" }, 0);
    expect(other).toEqual({
      ...restated,
      status: "True",
      raw: "theirs",
      lastTransitionTime: "1970-01-01T00:00:00Z",
    });
    expect(setCondition(list, list[0] as Condition, 0)).toBe(list);
  });

  it("reads the general reasons beside one that is none", () => {
    const general = ["B", null, { not: "text" }, "C", 7];
    const parsed = one({ ...plain, generalReasons: general });
    expect(parsed).toEqual({ ...plain, generalReasons: ["B", "C"], unread: { generalReasons: general } });
    for (const name of ["B", "C"]) expect(matchesReason(parsed, name)).toBe(true);
    expect(parseConditions([parsed])).toEqual([parsed]);
  });
});
