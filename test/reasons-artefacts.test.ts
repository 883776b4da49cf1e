import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { lockText } from "../src/cli/reasons/load-catalog.js";
import { sandboxReasons } from "../src/conditions/index.js";

const file = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

describe("what is generated from the built-in catalog", () => {
  it("docs/reasons.md is up to date (node scripts/reasons-page.mjs)", async () => {
    const page = await import("../scripts/reasons-page.mjs");
    expect(file("docs/reasons.md")).toBe(page.renderReasonsPage(sandboxReasons));
  });

  it("reasons.lock.json is up to date (slipway reasons lock)", () => {
    expect(file("reasons.lock.json")).toBe(lockText(sandboxReasons));
  });
});

describe("the entries", () => {
  it("stay within its size budgets (node scripts/check-size.mjs)", async () => {
    const { measure } = await import("../scripts/check-size.mjs");
    const sizes = await measure();
    expect(sizes.filter(({ bytes, budget }) => bytes > budget)).toEqual([]);
    expect(sizes.filter(({ limit }) => limit).map(({ budget }) => budget)).toEqual([3000, 9000, 8000]);
    // A set that nobody measures could grow unseen: the largest one of each entry is everything.
    const whole = sizes.filter(({ name }) => name === "the whole entry").map(({ entry }) => entry);
    expect(whole).toEqual(["conditions", "deadline", "retry", "phase", "progress"]);
    // A budget far above its size would be no gate.
    expect(sizes.filter(({ bytes, budget }) => bytes < 0.95 * budget)).toEqual([]);
  });
});
