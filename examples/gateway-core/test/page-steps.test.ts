import fc from "fast-check";
import * as library from "slipway/progress";
import { describe, expect, it } from "vitest";
import { stepAt } from "../src/http/step-view.js";
import {
  formatAgo,
  formatDuration,
  formatElapsed,
  formatSize,
  spokenDuration,
} from "../src/page/quantities.js";
import { barOf, runningStep, stepLines } from "../src/page/steps.js";
import { STEP } from "./page-views.js";
import { NOW } from "./records.js";
import { stepsAfter, type Said } from "./step-reports.js";

const NONE = { unit: "none", position: null, total: null, percent: null, perSecond: null } as const;

describe("quantities", () => {
  const durations: [number, string, string][] = [
    [-5, "0 s", "0 seconds"],
    [999, "0 s", "0 seconds"],
    [1000, "1 s", "1 second"],
    [59_999, "59 s", "59 seconds"],
    [60_000, "1 min", "1 minute"],
    [252_000, "4 min 12 s", "4 minutes 12 seconds"],
    [3_600_000, "1 h", "1 hour"],
    [3_605_000, "1 h", "1 hour"],
    [7_500_000, "2 h 5 min", "2 hours 5 minutes"],
    [90_000_000, "1 d 1 h", "1 day 1 hour"],
  ];
  for (const [ms, written, spoken] of durations) {
    it(`${ms} ms is ${written}`, () => {
      expect(formatDuration(ms)).toBe(written);
      expect(spokenDuration(ms)).toBe(spoken);
    });
  }

  it("sizes, and times that something took, are printed as the library prints them", () => {
    const amount = fc.oneof(fc.nat(2000), fc.maxSafeNat(), fc.double({ min: 0, max: 1e27, noNaN: true }));
    const sizes = fc.oneof(amount, fc.constantFrom(999, 999.5, 999_949, 999_950, 999_999, 999_950_000));
    fc.assert(fc.property(sizes, (size) => formatSize(size) === library.formatSize(size)));
    const times = fc.oneof(amount, fc.constantFrom(59_949, 59_950, 3_599_499, 3_599_500, -1));
    fc.assert(fc.property(times, (time) => formatElapsed(time) === library.formatDuration(time)));
  });

  it("an instant just passed, or ahead by a skew, is just now", () => {
    expect(formatAgo(NOW, NOW + 999)).toBe("just now");
    expect(formatAgo(NOW + 60_000, NOW)).toBe("just now");
    expect(formatAgo(NOW, NOW + 65_000)).toBe("1 min 5 s ago");
  });
});

describe("steps", () => {
  it("under way show position, total, percent and rate", () => {
    expect(stepLines([STEP], NOW + 2000, true)).toEqual([
      {
        key: "image",
        title: "Copying image",
        subject: "node-v20",
        state: "running",
        bar: { percent: 25, text: "25 MB of 100 MB, 25 %, 5 MB/s" },
        elapsed: "7.0s",
      },
    ]);
  });

  it("that have not begun are not there, and of several under way the last that was heard of is shown", () => {
    const ahead = { ...STEP, ...NONE, status: "waiting", startedAt: null, heardAt: null } as const;
    expect(stepLines([ahead], NOW, true)).toEqual([]);
    const [early, late] = [
      { ...STEP, step: "download", heardAt: NOW - 10 },
      { ...STEP, step: "unpack" },
    ];
    expect(runningStep([late, early, ahead])).toBe(late);
    expect(runningStep([ahead])).toBeUndefined();
  });

  it("of unknown total have no percentage, and of unknown size no bytes", () => {
    const unknown = { ...STEP, total: null, percent: null };
    expect(barOf(unknown, NOW)).toEqual({ percent: null, text: "25 MB, 5 MB/s" });
    expect(barOf({ ...STEP, ...NONE }, NOW)).toEqual({ percent: null, text: "under way" });
  });

  it("say how long nothing was heard of them", () => {
    expect(barOf({ ...STEP, ...NONE }, NOW + 9999).text).toBe("under way");
    expect(barOf({ ...STEP, ...NONE }, NOW + 12_000).text).toBe("silent for 12.0s");
    // What moves no more has no rate.
    expect(barOf(STEP, NOW + 9999).text).toBe("25 MB of 100 MB, 25 %, 5 MB/s");
    expect(barOf(STEP, NOW + 10_000).text).toBe("25 MB of 100 MB, 25 %, silent for 10.0s");
  });

  it("that are finished are whole, whatever was counted", () => {
    const finished = {
      ...STEP,
      status: "finished",
      finished: true,
      finishedAt: NOW,
      percent: 100,
      perSecond: null,
    } as const;
    expect(stepLines([finished], NOW + 60_000, true)[0]).toMatchObject({
      title: "Image copied",
      state: "finished",
      bar: { percent: 100, text: "25 MB, done" },
      elapsed: "5.0s",
    });
    expect(runningStep([finished, STEP])).toBe(STEP);
    expect(runningStep([finished])).toBeUndefined();
  });

  it("of an attempt that is over stand still", () => {
    const [bytes, none] = stepLines([STEP, { ...STEP, ...NONE }], NOW + 60_000, false);
    expect(bytes).toMatchObject({
      state: "broken",
      bar: { percent: 25, text: "25 MB of 100 MB, broken off" },
      elapsed: "5.0s",
    });
    expect(none).toMatchObject({ bar: { percent: 0, text: "broken off" } });
  });

  it("are what the library prints on a terminal, whatever a driver reports", () => {
    const word = fc.stringMatching(/^[a-zA-Z0-9 .:/-]{1,30}$/);
    const amount = fc.oneof(
      fc.nat(2000),
      fc.nat(),
      fc.maxSafeNat(),
      fc.double({ min: 0, max: 1e25, noNaN: true }),
    );
    const report = fc.record({
      unit: fc.constantFrom("bytes" as const, "bytes" as const, "none" as const),
      position: fc.option(amount, { nil: undefined }),
      total: fc.option(amount, { nil: undefined }),
      part: fc.option(fc.constantFrom("a", "b"), { nil: undefined }),
      done: fc.boolean(),
    });
    const story = fc.record({
      words: fc.record({ label: word, activeLabel: fc.option(word, { nil: undefined }) }),
      subject: fc.oneof(word, fc.constant("")),
      said: fc.array(fc.tuple(fc.nat(11_000), report), { minLength: 1, maxLength: 6 }),
      later: fc.oneof(fc.nat(70_000), fc.nat(9_000_000)),
    });
    fc.assert(
      fc.property(story, ({ words, subject, said, later }) => {
        let at = NOW - 60_000;
        const reports = said.map(([after, more]): Said => {
          at += after;
          return [at, { step: "copy", subject, ...words, ...more }];
        });
        // Read when it was said, as a stream carries it, and shown later.
        for (const step of stepsAfter(at, ...reports).filter(({ status }) => status !== "waiting")) {
          const [line] = stepLines([step], at + later, true);
          if (line === undefined) throw new Error("a step that began is not shown");
          const { title, state, bar, elapsed } = line;
          const facts = bar.text.split(", ").filter((text) => text !== "done" && text !== "under way");
          const about = [subject, ...facts].filter((text) => text !== "");
          const mark = state === "finished" ? "✓" : "…";
          const shown = `${mark} ${title}${about.length === 0 ? "" : ` (${about.join(", ")})`} (${elapsed})`;
          expect(shown).toBe(library.formatStep(stepAt(step, at + later)));
          expect(
            bar.percent === null || (bar.percent >= 0 && bar.percent <= (step.finished ? 100 : 99)),
          ).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });
});
