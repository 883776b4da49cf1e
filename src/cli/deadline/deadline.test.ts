import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  applyDeadlineEvent,
  definePlan,
  startAttempt,
  type DeadlineEvent,
  type DeadlineState,
} from "../../deadline/index.js";
import { run } from "../run.js";
import { showDuration, ticksOf } from "./duration.js";
import { timelineSvg } from "./svg.js";
import { timelineOf } from "./timeline.js";

const START = Date.parse("2026-10-20T12:00:00Z");
const MINUTE = 60_000;

const plan = definePlan({
  phases: [
    {
      name: "preparation",
      budgetMs: 30 * MINUTE,
      stallMs: 5 * MINUTE,
      timeoutReason: "ImagePreparationTimedOut",
    },
    { name: "admission", budgetMs: 5 * MINUTE, renewOn: "change", ceilingMs: 60 * MINUTE },
  ],
  ceilingMs: 95 * MINUTE,
});

/** Every version of an attempt that went through the given events. */
function history(...events: readonly (readonly [number, DeadlineEvent])[]): DeadlineState[] {
  const { state } = startAttempt(plan, { attempt: "a1", now: START, configuration: { generation: 1 } });
  if (state === undefined) throw new Error("the attempt did not start");
  const versions = [state];
  for (const [minutes, event] of events) {
    const last = versions.at(-1) ?? state;
    const { state: next, outcome } = applyDeadlineEvent(last, event, START + minutes * MINUTE);
    if (outcome.changed) versions.push(next);
  }
  return versions;
}

const repaired = history(
  [1, { type: "progress", attempt: "a1", phase: "preparation", step: "export", position: 1_000 }],
  [4, { type: "progress", attempt: "a1", phase: "preparation", step: "export", position: 2_000 }],
  [7, { type: "enter", attempt: "a1", phase: "admission" }],
  [8, { type: "reject", attempt: "a1", generation: 1, reason: "PolicyInvalid" }],
  [10, { type: "change", attempt: "a1", generation: 2 }],
);

async function slipway(args: readonly string[], input: unknown, atMinutes = 11) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await run(["deadline", ...args], {
    read: (path) => {
      if (path !== "-" && path !== "d.json") throw new Error("no such file");
      return typeof input === "string" ? input : JSON.stringify(input);
    },
    write: () => expect.fail("deadline writes no file"),
    load: () => expect.fail("deadline loads no module"),
    print: (line) => out.push(line),
    complain: (line) => err.push(line),
    now: () => START + atMinutes * MINUTE,
    version: () => "0.0.0",
  });
  return { code, out: out.join("\n"), err: err.join("\n") };
}

describe("slipway deadline", () => {
  it("says what is in force, what is left and every other limit", async () => {
    const { code, out } = await slipway([], repaired.at(-1));
    expect(code).toBe(0);
    expect(out).toMatch(/status +active/);
    expect(out).toMatch(/phase +admission/);
    expect(out).toMatch(/remaining +4m, limited by budget/);
    expect(out).toMatch(/limit \* +budget at \+15m \(2026-10-20T12:15:00.000Z\), in 4m/);
    expect(out).toMatch(/limit +phase-ceiling at \+1h 7m/);
    expect(out).toMatch(/limit +attempt-ceiling at \+1h 35m/);
    expect(out).toMatch(/was in +preparation from \+0s to \+7m/);
  });

  it("finds the state in a record, stored or bare", async () => {
    const state = repaired.at(-1);
    const bare = await slipway([], state);
    expect(await slipway(["d.json"], { id: "sb", deadline: state })).toEqual(bare);
    expect(await slipway([], { version: 3, record: { deadline: state } })).toEqual(bare);
  });

  it("shows renewals and progress between the versions, in whatever order they come", async () => {
    const { out } = await slipway(["--json"], [...repaired].reverse());
    const { events } = JSON.parse(out) as { events: { kind: string; at: number; label: string }[] };
    const seen = events.map(({ kind, at, label }) => [kind, (at - START) / MINUTE, label]);
    expect(seen).toEqual([
      ["progress", 1, "export 1000"],
      ["progress", 4, "export 2000"],
      ["renewal", 8, "window renewed"],
      ["renewal", 10, "window renewed"],
      ["change", 10, "configuration 2"],
    ]);
  });

  it("puts any number of reports of progress in a row into one line of text", async () => {
    const { out } = await slipway([], repaired);
    expect(out).toMatch(/event +\+1m to \+4m: 2 reports of progress, up to export 2000$/m);
    expect(out).toMatch(/event +\+8m window renewed$/m);
  });

  it("tells an expiry that nobody has written yet from one that was", async () => {
    const [first] = repaired;
    const late = await slipway(["--at", String(START + 40 * MINUTE)], first);
    expect(late.out).toMatch(/status +expired \(not written yet/);
    const ticked = history([40, { type: "tick" }]).at(-1);
    const { out } = await slipway([], ticked, 41);
    expect(out).toMatch(/status +expired$/m);
    expect(out).toMatch(/reason +ImagePreparationTimedOut/);
    expect(out).toMatch(/cleanup +pending/);
    expect(out).toMatch(/event +\+5m expired \(stall\)/);
    expect((await slipway(["--svg"], ticked, 41)).out).toContain("stall +5m (expired it)");
  });

  it.each([
    ["no state", { windowEndsAt: 5 }],
    ["a state that is damaged", { ...repaired[0], windowEndsAt: "x" }],
    ["a state of a newer release", { ...repaired[0], schemaVersion: 2 }],
    ["nothing", []],
  ])("names the file in every error: %s", async (_what, input) => {
    const { code, err } = await slipway(["d.json"], input);
    expect(code).toBe(2);
    expect(err).toMatch(/ in d\.json$/);
  });

  it("draws one SVG document with a name for those who cannot see it", async () => {
    const { code, out } = await slipway(["--svg"], repaired);
    expect(code).toBe(0);
    expect(out).toMatch(/^<svg [^>]*role="img" aria-labelledby="title summary">/);
    expect(out).toContain('<title id="title">Deadline of attempt a1: active</title>');
    expect(out).toContain("budget +15m (in force)");
    expect(out.match(/window renewed/g)).toHaveLength(2);
    expect(out).toMatch(/<\/svg>$/);
  });

  it("says at which instant it was read, and that none before the last event counts", async () => {
    const { out } = await slipway(["--at", "2026-10-20T14:11:00+02:00"], repaired.at(-1), 90);
    expect(out).toMatch(/read at +2026-10-20T12:11:00.000Z$/m);
    const early = await slipway(["--at", "2026-10-20T12:09:00Z"], repaired.at(-1));
    expect(early.out).toMatch(
      /read at +2026-10-20T12:10:00.000Z \(the last event, which is after 2026-10-20T12:09/,
    );
    const earlyJson = await slipway(["--json", "--at", "2026-10-20T12:09:00Z"], repaired.at(-1));
    expect(JSON.parse(earlyJson.out)).toMatchObject({ readAt: Date.parse("2026-10-20T12:10:00Z") });
    const json = await slipway(["--json"], repaired.at(-1));
    expect(JSON.parse(json.out)).toMatchObject({ readAt: START + 11 * MINUTE });
  });

  it("calls a phase renewable that no change has renewed", async () => {
    const { out } = await slipway([], history().at(-1), 1);
    expect(out).toMatch(/to come +admission \(budget 5m, renewable by a change, ceiling 1h\)/);
  });

  it("has a name for several phases whose times it cannot tell", async () => {
    const names = ["pulling", "unpacking", "admission"];
    const three = definePlan({ phases: names.map((name) => ({ name, budgetMs: MINUTE })) });
    const { state } = startAttempt(three, { attempt: "a1", now: START });
    if (state === undefined) throw new Error("the attempt did not start");
    let last = state;
    for (const phase of names.slice(1))
      last = applyDeadlineEvent(
        last,
        { type: "enter", attempt: "a1", phase },
        last.observedAt + 10_000,
      ).state;
    last = applyDeadlineEvent(last, { type: "complete", attempt: "a1" }, START + 30_000).state;
    const { out } = await slipway([], last);
    expect(out).toMatch(/was in +earlier phases from \+0s to \+20s$/m);
    expect(out).toMatch(/was in +admission from \+20s to \+30s \(budget 1m\)$/m);
  });

  it.each<[string, readonly string[], unknown, RegExp]>([
    ["no state", [], { phase: "Ready" }, /expected a deadline's state.*in standard input/],
    ["a broken state", ["d.json"], { ...repaired[0], startedAt: "noon" }, /startedAt/],
    ["an empty list", [], [], /found an empty list in standard input/],
    [
      "two attempts",
      [],
      [repaired[0], { ...repaired[1], attempt: "a2" }],
      /versions of one attempt, found "a1" and "a2"/,
    ],
    ["two forms", ["--svg", "--json"], repaired[0], /--svg or --json, found both/],
    ["an unknown option", ["--png"], repaired[0], /expected --at, --svg or --json, found --png/],
    ["a bad time", ["--at", "soon"], repaired[0], /found "soon"/],
    [
      "a time without a zone",
      ["--at", "2026-10-20T12:11:00"],
      repaired[0],
      /with its zone, as .*found "2026-/,
    ],
    [
      "a day that there is not",
      ["--at", "2026-02-30T12:00:00Z"],
      repaired[0],
      /expected a time .*found "2026-/,
    ],
    ["a time after all dates", ["--at", "9000000000000000"], repaired[0], /found "9000000000000000"/],
    [
      "seconds for milliseconds",
      ["--at", String(START / 1000)],
      repaired[0],
      /at most a year before the attempt started \(2026-10-20T12:00:00.000Z\).*found 1970-.*a number is milliseconds/,
    ],
    ["no JSON", [], "nothing here", /found no JSON/],
  ])("refuses %s with exit code 2", async (_name, args, input, message) => {
    const { code, err, out } = await slipway(args, input);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(message);
  });
});

describe("the picture of a deadline", () => {
  it("is well-formed and finite for any attempt, names and moment", () => {
    const anyPlan = fc.record(
      {
        name: fc.string({ minLength: 1, maxLength: 40, unit: "binary" }),
        budgetMs: fc.integer({ min: 1, max: 10 ** 12 }),
        ceilingMs: fc.integer({ min: 10 ** 12, max: 10 ** 13 }),
      },
      { requiredKeys: ["name"] },
    );
    fc.assert(
      fc.property(
        anyPlan,
        fc.string({ minLength: 1, maxLength: 80, unit: "binary" }),
        fc.integer({ min: 0, max: 10 ** 12 }),
        (phase, attempt, later) => {
          const { state } = startAttempt(definePlan({ phases: [phase] }), { attempt, now: START });
          if (state === undefined) return;
          const svg = timelineSvg(timelineOf([state], START + later), "summary");
          expect(svg).not.toMatch(/NaN|Infinity|undefined/);
          expect(svg).not.toMatch(/\p{Surrogate}/u);
          // Nothing of the input is markup: what is left without the tags has no bracket.
          expect(svg.replace(/<style>[^]*?<\/style>/, "").replace(/<[^<>]*>/g, "")).not.toMatch(
            /[<>]|&(?!amp;|lt;|gt;|quot;)/,
          );
        },
      ),
    );
  });

  it.each([0, 1])("cuts a long label between characters, %i behind an even place", (before) => {
    const name = `${"x".repeat(before)}${"😀".repeat(30)}`;
    const { state } = startAttempt(definePlan({ phases: [{ name, budgetMs: MINUTE }] }), {
      ...{ attempt: name, now: START },
    });
    if (state === undefined) throw new Error("the attempt did not start");
    const svg = timelineSvg(timelineOf([state], START), "summary");
    expect(svg).toContain("😀…");
    expect(svg).not.toMatch(/\p{Surrogate}/u);
  });

  it("has at most nine ticks at round offsets, whatever its length", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 ** 14 }), (length) => {
        const ticks = ticksOf(length);
        expect(ticks.length).toBeGreaterThan(0);
        expect(ticks.length).toBeLessThanOrEqual(9);
        expect(Math.max(...ticks)).toBeLessThanOrEqual(length);
      }),
    );
  });

  it.each([
    [0, "0s"],
    [250, "250ms"],
    [59_999, "59s"],
    [182_000, "3m 2s"],
    [3_600_000, "1h"],
    [90_000_000, "1d 1h"],
    [-1500, "-1s"],
  ])("writes %i ms as %s", (ms, text) => {
    expect(showDuration(ms)).toBe(text);
  });
});
