import { describe, expect, it } from "vitest";
import { Driven, IMAGE, why } from "../../test/progress/driven-steps.js";
import { applyStepEvent } from "./apply.js";
import type { StepEvent } from "./step-event.js";

describe("a report", () => {
  it("is refused for a step that nobody defined, and for another subject", () => {
    const driven = new Driven();
    expect(why(driven.report("reticulate", 1))).toBe("unknown-step");
    expect(why(driven.report("export", 1, { subject: "bootstrap:1" }))).toBe("other-subject");
    expect(why(driven.apply({ type: "finish", step: "export", subject: "bootstrap:1" }))).toBe(
      "other-subject",
    );
    expect(driven.read("export")).toMatchObject({ status: "waiting", position: null, elapsedMs: 0 });
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1, "5", null, undefined, 5n])(
    "of position %s is refused and changes nothing",
    (position) => {
      expect(why(new Driven().report("export", position as number))).toBe("invalid-position");
    },
  );

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1, "5"])("of total %s is refused whole", (total) => {
    const driven = new Driven();
    expect(why(driven.report("export", 5, { total: total as number }))).toBe("invalid-total");
    expect(driven.read("export").position).toBe(null);
  });

  it("takes null for an absent total, part, unit and run, as JSON of other languages has it", () => {
    const absent = null as unknown as undefined;
    const driven = new Driven();
    expect(why(driven.report("export", 5, { total: absent, part: absent, unit: absent, run: absent }))).toBe(
      "applied",
    );
    expect(driven.read("export")).toMatchObject({ position: 5, total: null });
  });

  it("counts a position above the mark only, for each part", () => {
    const driven = new Driven();
    driven.report("export", 91);
    expect([92, 91, 92, 91].map((position) => why(driven.report("export", position)))).toEqual([
      "applied",
      "duplicate",
      "duplicate",
      "duplicate",
    ]);
    expect(why(driven.report("export", 3, { part: "a" }))).toBe("applied");
    expect(driven.read("export").position).toBe(95);
  });

  it("keeps zero, negative zero and fractions as they are", () => {
    const driven = new Driven();
    driven.report("export", -0);
    expect(Object.is(driven.state.steps[0]?.marks[0]?.position, 0)).toBe(true);
    driven.report("export", 0.5);
    expect(driven.read("export").position).toBe(0.5);
  });

  it("in a foreign unit is a sign of life: it begins the step and counts nothing", () => {
    const driven = new Driven();
    driven.report("export", 400, { total: 1000 });
    driven.now += 5000;
    const life = driven.report("export", 3, { unit: "s", part: "layer" });
    expect(life).toMatchObject({ applied: true, sign: { step: "export", part: "s", position: 3 } });
    expect(driven.read("export")).toMatchObject({ position: 400, percent: 40, quietMs: 0 });
    expect(why(driven.report("export", 3, { unit: "s", part: "layer" }))).toBe("duplicate");
    driven.finish("export");
    driven.report("export", 4, { unit: "s", part: "layer" });
    expect(driven.read("export").finished).toBe(true);
    expect(driven.report("disk", 1, { unit: "s" })).toMatchObject({ started: true });
    expect(driven.read("disk")).toMatchObject({ status: "running", position: null, percent: null });
  });

  it("that names the step's own unit is an ordinary one", () => {
    const driven = new Driven();
    driven.report("export", 5, { unit: "bytes" });
    expect(why(driven.report("export", 5))).toBe("duplicate");
  });

  it("of too many parts or foreign units is refused, and the known ones go on", () => {
    const driven = new Driven();
    for (let part = 0; part < 1024; part += 1) driven.report("export", 1, { part: `${part}` });
    expect(why(driven.report("export", 1, { part: "one more" }))).toBe("too-many-parts");
    expect(why(driven.report("export", 2, { part: "7" }))).toBe("applied");
    for (let unit = 0; unit < 8; unit += 1) driven.report("disk", 1, { unit: `unit ${unit}` });
    expect(why(driven.report("disk", 1, { unit: "one more" }))).toBe("too-many-parts");
    expect(why(driven.report("disk", 1, { unit: "unit 3", part: "b" }))).toBe("applied");
    expect(why(driven.report("disk", 1))).toBe("applied");
  });

  it("that is a mistake throws, naming field and value", () => {
    const driven = new Driven();
    const wrong = (event: unknown): void => void driven.apply(event as StepEvent);
    expect(() => wrong(null)).toThrow("Invalid step event must be an object, got null");
    expect(() => wrong({ type: "pause", step: "export", subject: IMAGE })).toThrow("type must be");
    expect(() => wrong({ type: "start", step: 5, subject: IMAGE })).toThrow("step must be a string, got 5");
    expect(why(driven.start("x".repeat(5000)))).toBe("unknown-step");
    expect(why(driven.report("export", 1, { subject: "x".repeat(5000) }))).toBe("other-subject");
    expect(() => wrong({ type: "start", step: "export" })).toThrow("subject must be");
    expect(() => driven.report("export", 1, { run: 1.5 })).toThrow("run must be");
    expect(() => driven.report("export", 1, { part: "" })).toThrow("part must be");
    expect(() => driven.report("export", 1, { unit: 7 as unknown as string })).toThrow("unit must be");
    expect(() =>
      applyStepEvent(driven.state, { type: "start", step: "export", subject: IMAGE }, 1.5),
    ).toThrow("now must be");
  });
});

describe("the order of steps", () => {
  it("implies that earlier steps that began are done when a later one begins, and leaves the others alone", () => {
    const driven = new Driven();
    driven.start("export");
    driven.now += 1000;
    expect(driven.start("overlay")).toMatchObject({ started: true, completed: ["export"] });
    expect(driven.read("export")).toMatchObject({ finished: true, elapsedMs: 1000 });
    expect(driven.read("disk").status).toBe("waiting");
    expect(driven.start("disk")).toMatchObject({ started: true, completed: [] });
    expect(driven.read("overlay").status).toBe("running");
  });

  it("is kept by a step that is finished without a start", () => {
    const driven = new Driven();
    driven.report("export", 5);
    expect(driven.finish("disk")).toMatchObject({ started: true, completed: ["export", "disk"] });
    expect(driven.read("disk")).toMatchObject({ finished: true, elapsedMs: 0, position: null });
    expect(why(driven.report("disk", 0))).toBe("applied");
    expect(driven.read("disk").finished).toBe(true);
  });

  it("is not disturbed by a late report of an earlier step, unless that has moved on", () => {
    const driven = new Driven();
    driven.report("export", 100);
    driven.start("disk");
    expect(why(driven.report("export", 99))).toBe("duplicate");
    expect(driven.read("export").finished).toBe(true);
    expect(driven.report("export", 101)).toMatchObject({ applied: true, completed: [] });
    expect(driven.read("export").status).toBe("running");
    expect(driven.read("disk").status).toBe("running");
    expect(driven.finish("export")).toMatchObject({ applied: true, completed: [] });
  });
});

describe("a finished step", () => {
  it("is finished once", () => {
    const driven = new Driven();
    driven.start("export");
    expect(driven.finish("export")).toMatchObject({ completed: ["export"] });
    expect(why(driven.finish("export"))).toBe("duplicate");
    expect(why(driven.start("disk"))).toBe("applied");
    expect(why(driven.start("disk"))).toBe("duplicate");
  });

  it("begins again as the same entry, with its first start, and is announced once", () => {
    const driven = new Driven();
    driven.start("export");
    driven.now += 1000;
    driven.finish("export");
    driven.now += 1000;
    expect(driven.start("export")).toMatchObject({ started: false, completed: [], sign: null });
    driven.now += 1000;
    expect(driven.read("export")).toMatchObject({ status: "running", elapsedMs: 3000 });
    expect(driven.finish("export")).toMatchObject({ completed: [] });
    expect(driven.state.steps).toHaveLength(3);
  });

  it("ends what began earlier and is under way, when it begins again", () => {
    const driven = new Driven();
    driven.report("disk", 1);
    driven.finish("disk");
    driven.start("export");
    driven.report("disk", 2);
    expect(driven.read("export").finished).toBe(true);
  });
});

describe("a new run of the driver's work", () => {
  it("starts the marks of each step anew with its next report, and not its time", () => {
    const driven = new Driven();
    driven.report("export", 4_000_000_000, { run: 1, total: 8_000_000_000 });
    driven.now += 60_000;
    const again = driven.report("export", 1000, { run: 2 });
    expect(again).toMatchObject({ applied: true, sign: { position: 1000, run: 2 } });
    expect(driven.read("export")).toMatchObject({ position: 1000, percent: 0, elapsedMs: 60_000 });
    expect(why(driven.report("export", 4_100_000_000, { run: 1 }))).toBe("stale-run");
  });

  it("that finds a step finished does not take what the one before was interrupted at for its size", () => {
    const interrupted = (total?: number): Driven => {
      const driven = new Driven();
      driven.report("export", 1_200_000_000, { run: 1, total });
      return driven;
    };
    const found = interrupted();
    found.finish("export", 2);
    expect(found.read("export")).toMatchObject({ finished: true, position: null, percent: null });
    const implied = interrupted(4_900_000_000);
    implied.start("disk", 2);
    expect(implied.read("export")).toMatchObject({ finished: true, position: null, total: 4_900_000_000 });
    // All of it was counted, and only its end was not told.
    const complete = interrupted(1_200_000_000);
    complete.finish("export", 2);
    expect(complete.read("export")).toMatchObject({ finished: true, position: 1_200_000_000 });
    const same = interrupted();
    same.finish("export", 1);
    expect(same.read("export")).toMatchObject({ finished: true, position: 1_200_000_000 });
  });

  it("reopens what it reports, keeps what it does not, and reports of it without a run are of it", () => {
    const driven = new Driven();
    driven.report("export", 100);
    driven.report("disk", 50);
    driven.report("disk", 0, { run: 1 });
    expect(driven.read("export")).toMatchObject({ finished: true, position: 100 });
    expect(driven.read("disk")).toMatchObject({ status: "running", position: 0 });
    driven.report("export", 7);
    expect(driven.read("export")).toMatchObject({ status: "running", position: 7 });
    driven.start("disk", 2);
    expect(driven.read("export").finished).toBe(true);
    expect(why(driven.start("disk", 1))).toBe("stale-run");
    expect(why(driven.finish("disk", 1))).toBe("stale-run");
    driven.finish("disk", 3);
    expect(driven.read("disk")).toMatchObject({ finished: true });
    expect(driven.report("disk", 1, { run: 4, unit: "s" })).toMatchObject({ sign: { part: "s", run: 4 } });
    expect(driven.read("disk").finished).toBe(false);
  });
});
