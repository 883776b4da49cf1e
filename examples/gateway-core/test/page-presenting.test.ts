import fc from "fast-check";
import * as library from "slipway/progress";
import { describe, expect, it } from "vitest";
import { announcementOf, joinAnnouncements } from "../src/page/announcements.js";
import { connectionText } from "../src/page/connection-text.js";
import { createFields } from "../src/page/create-fields.js";
import { factsOf } from "../src/page/facts.js";
import { gatesOf } from "../src/page/gates.js";
import {
  formatAgo,
  formatDuration,
  formatElapsed,
  formatSize,
  spokenDuration,
} from "../src/page/quantities.js";
import { barOf, runningStep, stepLines } from "../src/page/steps.js";
import { summaryOf, symbolOf, toneOf } from "../src/page/summary.js";
import { stepAt, type StepView } from "../src/http/step-view.js";
import { afterEvents, viewAt } from "./page-views.js";
import { NOW, recordWith } from "./records.js";
import { imageReport, recordAfter, stepsAfter, type Said } from "./step-reports.js";

const STEP: StepView = {
  step: "image",
  label: "Image copied",
  activeLabel: "Copying image",
  subject: "node-v20",
  unit: "bytes",
  status: "running",
  finished: false,
  position: 25_000_000,
  total: 100_000_000,
  percent: 25,
  perSecond: 5_000_000,
  elapsedMs: 5000,
  quietMs: 0,
  startedAt: NOW - 5000,
  heardAt: NOW,
  finishedAt: null,
};
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

describe("rows", () => {
  /** Before the silence of these records, which began a minute ago, is too long. */
  const EARLY = NOW - 55_000;
  const copying = recordAfter(
    [EARLY - 5000, imageReport(0, { total: 100_000_000 })],
    [EARLY, imageReport(25_000_000, { total: 100_000_000 })],
  );
  const working = viewAt(copying, EARLY);

  it("show the step under way and what is left", () => {
    const row = summaryOf(working, EARLY);
    expect(row).toMatchObject({ name: "box", phase: "Provisioning", tone: "busy", bar: { percent: 25 } });
    expect(row.left).toMatch(/ left$/);
  });

  it("say what the attempt waits for after a rejection", () => {
    const rejected = afterEvents(
      recordWith(),
      [NOW - 58_000, { type: "enter", phase: "admission" }],
      [NOW - 57_000, { type: "reject", generation: 1, message: "no <b>such</b> host" }],
    );
    expect(summaryOf(viewAt(rejected, EARLY), EARLY).text).toBe(
      "Configuration rejected: no <b>such</b> host",
    );
  });

  it("have no bar and no time once the attempt is over", () => {
    const over = afterEvents(copying, [EARLY, { type: "cancel", reason: "enough" }]);
    expect(summaryOf(viewAt(over, NOW), NOW)).toMatchObject({ bar: null, left: "" });
  });

  it("show phases of a newer gateway, and names of the object's own kind, as unsure", () => {
    for (const phase of ["Hibernating", "constructor", "__proto__", ""]) expect(toneOf(phase)).toBe("unsure");
    expect(symbolOf("unsure")).toBe("?");
  });
});

describe("gates", () => {
  it("say what a button would do, or why it may not be pressed", () => {
    const gates = gatesOf({
      start: {
        allowed: false,
        reason: "Deleting",
        message: "start is refused",
        rule: "start-while-deleting",
      },
      stop: { allowed: true, route: "noop", rule: "stop-stopped" },
      delete: { allowed: true, route: "delete", rule: "delete-anything" },
    });
    expect(gates.map(({ label, open, why, rule }) => [label, open, why, rule])).toEqual([
      ["Start", false, "start is refused", "start-while-deleting"],
      ["Stop", false, "Nothing to do: it is so already.", "stop-stopped"],
      ["Delete", true, expect.stringContaining("for good"), "delete-anything"],
    ]);
  });

  it("of a newer gateway keep their routes and operations", () => {
    const newer = { pause: { allowed: true, route: "freeze", rule: "pause-any" } };
    expect(gatesOf(newer as never)).toEqual([
      { operation: "pause", label: "Pause", open: true, why: "Route: freeze.", rule: "pause-any" },
    ]);
  });

  it("of real records are those of the API", () => {
    const { operations } = viewAt(recordWith(), NOW);
    expect(gatesOf(operations).map(({ operation }) => operation)).toEqual(["start", "stop", "delete"]);
  });
});

describe("facts", () => {
  it("leave out what there is not, and quote words that are more than one", () => {
    const { spec } = recordWith();
    const view = viewAt(recordWith({ spec: { ...spec, command: ["sh", "-c", 'echo "a b"'] } }), NOW);
    const facts = new Map(factsOf(view, NOW).map(({ term, text }) => [term, text]));
    expect(facts.get("Command")).toBe(String.raw`sh -c "echo \"a b\""`);
    expect(facts.get("Image")).toBe("image (/image)");
    expect(facts.get("Configuration")).toBe("generation 1, not applied yet");
    expect(facts.get("Created")).toBe("1 min ago");
    for (const term of ["Ended", "Isolation backend", "Restarts by itself", "Refused news"])
      expect(facts.has(term)).toBe(false);
  });

  it("tell of exits, restarts and refusals", () => {
    const record = recordWith({
      exitSignal: "SIGKILL",
      finishedAt: NOW - 3000,
      restarts: 2,
      restartAt: NOW + 8000,
    });
    const refusals = [{ event: "progress", why: "duplicate", count: 3, lastAt: NOW }];
    const facts = factsOf({ ...viewAt(record, NOW), refusals }, NOW);
    expect(facts).toContainEqual({ term: "Ended", text: "signal SIGKILL, 3 s ago" });
    expect(facts).toContainEqual({ term: "Restarts by itself", text: "2, the next in 8 s" });
    expect(facts).toContainEqual({ term: "Refused news", text: "progress: duplicate (3×)" });
  });
});

describe("announcements", () => {
  const before = viewAt(recordWith(), NOW);

  it("tell of phases, and not of bytes", () => {
    expect(announcementOf(before, { ...before, version: 2, steps: [STEP] })).toBeNull();
    expect(announcementOf(before, { ...before, phase: "Ready" })).toBe("box is Ready.");
    expect(announcementOf(before, { ...before, phase: "Error", reason: "Boom", message: "It broke." })).toBe(
      "box is Error, Boom. It broke.",
    );
    expect(announcementOf(before, undefined)).toBe("box is gone.");
    expect(announcementOf(undefined, before)).toBe("box is new: Provisioning.");
    expect(announcementOf(undefined, undefined)).toBeNull();
  });

  it("of many are told in few words", () => {
    expect(joinAnnouncements(["a.", "b.", "c."])).toBe("a. b. c.");
    expect(joinAnnouncements(["a.", "b.", "c.", "d."])).toBe("a. b. c. And 1 more change.");
    expect(joinAnnouncements(Array.from({ length: 500 }, () => "x."))).toBe("x. x. x. And 497 more changes.");
  });
});

describe("the form of a new sandbox", () => {
  const form = {
    name: " box ",
    image: "/image",
    command: "sh\n-c\n echo  a\n",
    driver: "",
    policy: "",
    driverOptions: "",
  };

  it("becomes the body of a request", () => {
    expect(createFields(form)).toEqual({
      ok: true,
      body: { name: "box", image: { path: "/image" }, command: ["sh", "-c", " echo  a"] },
    });
    const more = {
      ...form,
      image: "node:20",
      driver: "docker",
      policy: '{"version":1}',
      driverOptions: '{"a":[1]}',
    };
    expect(createFields(more)).toMatchObject({
      body: {
        image: { name: "node:20" },
        driver: "docker",
        policy: { version: 1 },
        driverOptions: { a: [1] },
      },
    });
  });

  it("names the field that is no JSON", () => {
    expect(createFields({ ...form, policy: "{" })).toMatchObject({
      ok: false,
      field: "policy",
      message: expect.stringContaining("policy is no JSON"),
    });
  });
});

describe("the connection", () => {
  it("says in words how it stands", () => {
    expect(connectionText("live", "", NOW)).toBe("Live");
    expect(connectionText("connecting", "", 0)).toBe("Connecting…");
    expect(connectionText("unauthorized", "", 0)).toBe("Not signed in");
    expect(connectionText("lost", "network error", 0)).toBe("Connection lost. Trying again…");
    expect(connectionText("lost", "the gateway answered 403", NOW)).toMatch(
      /^Connection lost \(the gateway answered 403\)\. What you see is of .+\. Trying again…$/,
    );
  });
});
