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
    ["2026-10-20T11:02:08+05:30", Date.UTC(2026, 9, 20, 5, 32, 8)],
    ["2026-10-20T11:02:08-05:30", Date.UTC(2026, 9, 20, 16, 32, 8)],
    ["2026-10-20T11:02:08+0200", Date.UTC(2026, 9, 20, 9, 2, 8)],
    ["2026-10-20 09:02:08,5Z", Date.UTC(2026, 9, 20, 9, 2, 8, 500)],
    [" 2026-10-20T09:02:08Z\n", Date.UTC(2026, 9, 20, 9, 2, 8)],
    ["2026-12-31T24:00:00Z", Date.UTC(2027, 0, 1)],
    ["2016-12-31T23:59:60Z", Date.UTC(2017, 0, 1)],
    ["2028-02-29T00:00:00Z", Date.UTC(2028, 1, 29)],
    [8.64e15, 8.64e15],
  ])("%s is an instant", (text, at) => {
    expect(instantOf(text)).toBe(at);
  });

  it.each([
    "0001-01-01T00:00:00Z",
    "1970-01-01T00:00:00Z",
    "",
    "yesterday",
    "2026-13-01T00:00:00Z",
    "2026-00-01T00:00:00Z",
    "2026-10-00T00:00:00Z",
    "2026-10-32T00:00:00Z",
    "2026-10-20T25:00:00Z",
    "2026-10-20T09:60:00Z",
    "2026-10-20T09:02:61Z",
    "2026-10-20T09:02:08",
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
    for (const text of ["1792497598", null]) expect(instantOfSeconds(text)).toBeNull();
    expect(instantOfSeconds(1_792_497_598)).toBe(1_792_497_598_000);
    for (const beyond of [8.64e12 + 1, 1e306, Number.MAX_VALUE]) expect(instantOfSeconds(beyond)).toBeNull();
  });
});
