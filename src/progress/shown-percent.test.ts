import { describe, expect, it } from "vitest";
import { Driven, export_, why } from "../../test/progress/driven-steps.js";

describe("a percentage", () => {
  it("is there with a total only, below 100 until the step is finished", () => {
    const driven = new Driven();
    driven.report("export", 50);
    expect(driven.read("export").percent).toBe(null);
    driven.report("export", 50, { total: 100 });
    expect(driven.read("export").percent).toBe(50);
    driven.report("export", 100, { total: 100 });
    expect(driven.read("export").percent).toBe(99);
    driven.report("export", 130, { total: 100 });
    expect(driven.read("export")).toMatchObject({ percent: 99, position: 130 });
    driven.finish("export");
    expect(driven.read("export")).toMatchObject({ percent: 100, position: 130, total: 100 });
  });

  it.each([100, 1000, 8_000_000_000, 1e13])("is exact where a total is %d", (total) => {
    const driven = new Driven();
    for (let percent = 0; percent < 100; percent += 1) {
      driven.report("export", (total / 100) * percent, { total });
      expect(driven.read("export").percent).toBe(percent);
    }
  });

  it("of numbers too large to multiply is one as well", () => {
    const driven = new Driven();
    driven.report("export", Number.MAX_VALUE / 4, { total: Number.MAX_VALUE });
    expect(driven.read("export").percent).toBe(25);
  });

  it("of a finished step whose total is unknown stays unknown", () => {
    const driven = new Driven();
    driven.report("export", 50);
    driven.finish("export");
    expect(driven.read("export").percent).toBe(null);
  });

  it("waits until every part has a total, and a part that was only announced counts as one", () => {
    const driven = new Driven();
    driven.report("export", 0);
    driven.report("export", 10, { part: "a", total: 100 });
    expect(driven.read("export")).toMatchObject({ percent: 10, total: 100 });
    driven.report("export", 0, { part: "b" });
    expect(driven.read("export")).toMatchObject({ percent: null, total: null });
    driven.report("export", 0, { part: "b", total: 900 });
    driven.report("export", 140, { part: "b" });
    expect(driven.read("export")).toMatchObject({ percent: 15, total: 1000, position: 150 });
  });

  it("follows a total that is corrected", () => {
    const driven = new Driven();
    driven.report("export", 50, { total: 100 });
    driven.report("export", 60, { total: 600 });
    expect(driven.read("export").percent).toBe(10);
  });

  it("is of the whole step's total where there is one, and of the parts' where they are more", () => {
    const driven = new Driven([{ ...export_, total: 1000 }]);
    driven.report("export", 100, { part: "a", total: 100 });
    driven.report("export", 0, { part: "b" });
    expect(driven.read("export")).toMatchObject({ percent: 10, total: 1000 });
    driven.report("export", 100, { part: "b", total: 1900 });
    expect(driven.read("export")).toMatchObject({ percent: 10, total: 2000 });
  });

  it("of nothing is none: a total of 0 says neither 0 nor 100", () => {
    const driven = new Driven();
    driven.report("export", 0, { total: 0 });
    expect(driven.read("export")).toMatchObject({ percent: null, total: 0 });
    driven.report("export", 5);
    expect(driven.read("export").percent).toBe(null);
    driven.finish("export");
    expect(driven.read("export").percent).toBe(100);
  });

  it("keeps the newest total: a late report's counts only where none was known", () => {
    const driven = new Driven();
    driven.report("export", 50, { total: 200 });
    expect(why(driven.report("export", 40, { total: 100 }))).toBe("duplicate");
    expect(why(driven.report("export", 50, { total: 400 }))).toBe("applied");
    expect(driven.read("export").total).toBe(400);
    driven.report("disk", 50, { part: "a" });
    expect(why(driven.report("disk", 0, { part: "a", total: 100 }))).toBe("applied");
    expect(driven.read("disk")).toMatchObject({ position: 50, total: 100, percent: 50 });
  });

  it("survives numbers whose sum is beyond all numbers", () => {
    const driven = new Driven();
    for (const part of ["a", "b", "c"])
      driven.report("export", Number.MAX_VALUE, { part, total: Number.MAX_VALUE });
    const { position, percent, total } = driven.read("export");
    expect([position, total, percent]).toEqual([Number.MAX_VALUE, Number.MAX_VALUE, 99]);
    driven.now += 10_000;
    expect(Number.isFinite(driven.read("export").perSecond ?? 0)).toBe(true);
    expect(JSON.parse(JSON.stringify(driven.state))).toEqual(driven.state);
  });
});
