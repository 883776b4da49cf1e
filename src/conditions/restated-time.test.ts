import { describe, expect, it } from "vitest";
import { setCondition } from "./index.js";

const NOW = Date.parse("2026-11-30T12:00:00Z");
const stored = setCondition(
  [],
  { type: "Ready", status: "False", reason: "Starting", message: "so" },
  NOW - 60_000,
);

describe("an update that is a condition with a time of its own", () => {
  it.each(["2020-01-01T00:00:00Z", undefined, null])(
    "says nothing new by its time alone: %j",
    (lastTransitionTime) => {
      const update = { ...stored[0]!, lastTransitionTime } as never;
      expect(setCondition(stored, update, NOW)).toBe(stored);
    },
  );

  it("says something new by a field of a peer's", () => {
    const update = { ...stored[0]!, severity: "Warning" };
    expect(setCondition(stored, update, NOW)).not.toBe(stored);
    expect(setCondition(stored, update, NOW)[0]).toMatchObject({
      severity: "Warning",
      lastTransitionTime: stored[0]!.lastTransitionTime,
    });
  });

  it("claims the same with no general reason as with none stated", () => {
    expect(setCondition(stored, { ...stored[0]!, generalReasons: [] }, NOW)).toBe(stored);
    expect(setCondition(stored, { ...stored[0]!, generalReasons: ["Waiting"] }, NOW)).not.toBe(stored);
  });
});
