import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { instantOf, instantOfSeconds } from "./instant.js";

describe("timestamps of backends", () => {
  it("are read as the host's own date reads them, to the millisecond", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4_102_444_800_000 }), (at) => {
        expect(instantOf(new Date(at).toISOString())).toBe(at);
      }),
      { seed: 1 },
    );
  });

  it.each([
    ["2026-10-20T09:02:08.41273911Z", Date.UTC(2026, 9, 20, 9, 2, 8, 412)],
    ["2026-10-20T11:02:08+02:00", Date.UTC(2026, 9, 20, 9, 2, 8)],
    ["2026-10-20t09:02:08z", Date.UTC(2026, 9, 20, 9, 2, 8)],
    ["2028-02-29T00:00:00Z", Date.UTC(2028, 1, 29)],
  ])("%s is an instant", (text, at) => {
    expect(instantOf(text)).toBe(at);
  });

  it.each([
    "0001-01-01T00:00:00Z",
    "1970-01-01T00:00:00Z",
    "",
    "yesterday",
    "2026-13-01T00:00:00Z",
    "2026-10-20",
    null,
    {},
    Number.NaN,
    -62_135_596_800,
    0.5,
    8.64e15 + 2,
    1e300,
    Number.POSITIVE_INFINITY,
  ])("%s is never", (value) => {
    expect(instantOf(value)).toBeNull();
  });

  it("in seconds, year 1 is never too", () => {
    expect(instantOfSeconds(-62_135_596_800)).toBeNull();
    expect(instantOfSeconds(1_792_497_598)).toBe(1_792_497_598_000);
    for (const beyond of [8.64e12 + 1, 1e306, Number.MAX_VALUE]) expect(instantOfSeconds(beyond)).toBeNull();
  });
});
