import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { conditionLimits, sanitizeReason, validateCondition } from "./index.js";

// The same cases in every run: a test that fails sometimes teaches nobody.
fc.configureGlobal({ seed: 20_260_101 });

const good = {
  type: "Ready",
  status: "True",
  reason: "A",
  message: "",
  lastTransitionTime: "2026-01-01T00:00:00Z",
};
const fields = (value: unknown) => validateCondition(value).map((issue) => issue.field);

describe("validateCondition", () => {
  it.each([
    [{}, []],
    [{ type: "example.com/Ready" }, []],
    [{ type: "-Ready" }, ["type"]],
    [{ type: "Example.com/Ready" }, ["type"]],
    [{ type: "a".repeat(conditionLimits.type) }, []],
    [{ type: "a".repeat(conditionLimits.type + 1) }, ["type"]],
    [{ status: "true" }, ["status"]],
    [{ reason: "" }, ["reason"]],
    [{ reason: "A,B:C_d9" }, []],
    [{ reason: "A:" }, ["reason"]],
    [{ reason: "9A" }, ["reason"]],
    [{ reason: "A-B" }, ["reason"]],
    [{ reason: "A\n" }, ["reason"]],
    [{ reason: "A".repeat(conditionLimits.reason) }, []],
    [{ reason: "A".repeat(conditionLimits.reason + 1) }, ["reason"]],
    [{ message: "𝒳".repeat(conditionLimits.message) }, []],
    [{ message: "𝒳".repeat(conditionLimits.message + 1) }, ["message"]],
    [{ lastTransitionTime: "2026-01-01" }, ["lastTransitionTime"]],
    [{ lastTransitionTime: "2026-01-01T00:00:00.123456789+02:00" }, []],
    [{ observedGeneration: 0 }, []],
    [{ observedGeneration: -1 }, ["observedGeneration"]],
    [{ observedGeneration: 1.5 }, ["observedGeneration"]],
  ])("judges %j as Kubernetes does", (part, expected) => {
    expect(fields({ ...good, ...part })).toEqual(expected);
  });

  it("never throws, whatever it is given", () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), (value) => void validateCondition(value)),
    );
    expect(fields(null)).toHaveLength(5);
  });
});

describe("sanitizeReason", () => {
  it.each([
    ["ImagePullFailed", "ImagePullFailed"],
    ["OOM killed!", "OOM_killed"],
    ["image-pull", "image_pull"],
    ["137", "Reason_137"],
    ["3/5", "Reason_3_5"],
    ["Trailing:", "Trailing"],
    ["_Leading", "Leading"],
    ["", "NoReasonReported"],
    ["!!!", "NoReasonReported"],
    ["été", "t"],
  ])("turns %j into %j", (text, expected) => {
    expect(sanitizeReason(text)).toBe(expected);
  });

  it("always gives an acceptable reason, changes none that is, and is idempotent", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 2000 }),
      fc.stringMatching(/^[A-Za-z0-9_,:!-]*$/),
    );
    fc.assert(
      fc.property(text, (reason) => {
        const sane = sanitizeReason(reason);
        expect(fields({ ...good, reason: sane })).toEqual([]);
        expect(sanitizeReason(sane)).toBe(sane);
        if (fields({ ...good, reason }).length === 0) expect(sane).toBe(reason);
      }),
    );
  });

  it("is quick on a long text of what it must remove", () => {
    expect(sanitizeReason(`${"_".repeat(500_000)}a`)).toBe("NoReasonReported");
    expect(sanitizeReason(undefined as never)).toBe("NoReasonReported");
  });
});

it("cuts a reason to the length that Kubernetes takes, and no shorter", () => {
  for (const text of [`${"a".repeat(1100)} b`, `1${"b".repeat(1100)}`])
    expect(sanitizeReason(text)).toHaveLength(1024);
  expect(isReasonIssue(sanitizeReason(`1${"b".repeat(1015)}:${"c".repeat(20)}`))).toBe(false);
});

function isReasonIssue(reason: string): boolean {
  return validateCondition({ reason }).some(({ field }) => field === "reason");
}
