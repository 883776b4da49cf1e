import { describe, expect, it } from "vitest";
import { conditionsOf, current, findCondition, isTrue, lastTransition } from "./backend-conditions.js";

type Json = Record<string, unknown>;
const T1 = "2026-10-20T11:40:01Z";
const T2 = "2026-10-20T11:40:02Z";
const ready = (more: Json = {}): Json => ({ type: "Ready", status: "True", reason: "Fine", ...more });

/** What a list says on Ready, the list as it is and the other way round. */
function found(list: readonly Json[], generation: number | null = null): unknown {
  const finding = findCondition(list, "ready", generation);
  expect(findCondition([...list].reverse(), "ready", generation)).toEqual(finding);
  return finding;
}

describe("the condition of a type", () => {
  it("is read for deciding", () => {
    const said = { message: "all is well", lastTransitionTime: T1, observedGeneration: 3 };
    expect(found([ready(said), { type: "Other", status: "False" }], 3)).toEqual({
      status: "true",
      reason: "Fine",
      word: "fine",
      message: "all is well",
      stale: false,
      numbered: true,
      at: Date.parse(T1),
    });
    expect(found([{ type: " READY ", status: 5, reason: 5 }])).toEqual({
      status: "unknown",
      reason: "",
      word: "",
      message: null,
      stale: false,
      numbered: false,
      at: null,
    });
  });

  it("is none where the list has none of the type, or is no list", () => {
    expect(found([{ type: "Other" }, {}])).toBeNull();
    for (const list of [null, undefined, {}, "Ready", [null, 5]])
      expect(findCondition(list, "ready", null)).toBeNull();
  });

  it.each([
    [true, "true"],
    ["True", "true"],
    ["TRUE", "true"],
    [false, "false"],
    ["false", "false"],
    ["Unknown", "unknown"],
    ["yes", "unknown"],
    [1, "unknown"],
    [undefined, "unknown"],
  ])("has the status %s as %s", (status, read) => {
    expect(found([ready({ status })])).toMatchObject({ status: read });
  });

  it("is stale where it is of an older generation, and makes no claim where either names none", () => {
    const of = (observedGeneration: number | undefined, generation: number | null): unknown =>
      found([ready({ observedGeneration })], generation);
    expect(of(1, 2)).toMatchObject({ stale: true, numbered: true });
    expect(of(2, 2)).toMatchObject({ stale: false, numbered: true });
    expect(of(3, 2)).toMatchObject({ stale: false, numbered: true });
    expect(of(undefined, 2)).toMatchObject({ stale: false, numbered: false });
    expect(of(1, null)).toMatchObject({ stale: false, numbered: false });
    const stale = findCondition([ready({ observedGeneration: 1 })], "ready", 2);
    expect([current(stale), isTrue(stale)]).toEqual([null, false]);
  });

  it("is the twin of the later generation, else of the later time, wherever it stands", () => {
    const old = ready({ observedGeneration: 1, lastTransitionTime: T2, reason: "Old" });
    const late = ready({ observedGeneration: 2, lastTransitionTime: T1, reason: "New" });
    expect(found([old, late])).toMatchObject({ reason: "New" });
    expect(found([ready({ reason: "Old" }), ready({ observedGeneration: 0, reason: "New" })])).toMatchObject({
      reason: "New",
    });
    const early = ready({ lastTransitionTime: T1, reason: "Old" });
    expect(found([early, ready({ lastTransitionTime: T2, reason: "New" })])).toMatchObject({ reason: "New" });
    // A pair that disagrees counts no more where a later one decides.
    const pair = [ready(), ready({ status: "False" })];
    expect(found([...pair, ready({ lastTransitionTime: T1, reason: "New" })])).toMatchObject({
      reason: "New",
    });
  });

  it("is a contradiction where twins tie and disagree, in status or in reason", () => {
    for (const twin of [{ status: "False" }, { reason: "Other" }]) {
      const finding = findCondition([ready(), ready(twin)], "ready", null);
      expect(finding).toBe("contradiction");
      expect([current(finding), isTrue(finding)]).toEqual([null, false]);
    }
    // Letter case and what is only for people are no disagreement.
    for (const twin of [ready({ status: true }), ready({ reason: "FINE" }), ready({ message: "well" })])
      expect(findCondition([ready(), twin], "ready", null)).toMatchObject({ status: "true", word: "fine" });
    expect(isTrue(findCondition([ready()], "ready", null))).toBe(true);
    expect(isTrue(findCondition([ready({ status: "False" })], "ready", null))).toBe(false);
  });
});

describe("a list of conditions", () => {
  it("changed last when the latest of them did", () => {
    const list = [
      ready({ lastTransitionTime: T2 }),
      { type: "Other", lastTransitionTime: T1 },
      { type: "No" },
    ];
    expect(lastTransition(list)).toBe(Date.parse(T2));
    expect(lastTransition([...list].reverse())).toBe(Date.parse(T2));
    for (const none of [[], null, [ready()], [ready({ lastTransitionTime: "yesterday" })]])
      expect(lastTransition(none)).toBeNull();
  });

  it("is shown in our shape, without the entries that have no type", () => {
    const list = [
      ready({ message: "well", lastTransitionTime: T1, observedGeneration: 3, extra: true }),
      { type: "Bare" },
      { type: "Down", status: false },
      { type: "", status: "True" },
      { status: "True" },
      null,
    ];
    const nothing = { reason: "", message: "", lastTransitionTime: "" };
    expect(conditionsOf(list)).toEqual([
      {
        type: "Ready",
        status: "True",
        reason: "Fine",
        message: "well",
        lastTransitionTime: T1,
        observedGeneration: 3,
      },
      { type: "Bare", status: "Unknown", ...nothing },
      { type: "Down", status: "False", ...nothing },
    ]);
    expect(conditionsOf(null)).toEqual([]);
  });
});
