import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { renderGuide } from "../../scripts/phase-guide.mjs";
import * as library from "../../src/phase/index.js";

describe("the generated guide", () => {
  const files = Object.entries((renderGuide as (from: typeof library) => Record<string, string>)(library));

  it.each(files)("%s says what the rules say", (path, text) => {
    expect(readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")).toBe(text);
  });

  it("names every rule and every gate", () => {
    const guide = files.map(([, text]) => text).join("\n");
    const { phaseRules, startRules, stopRules, deleteRules } = library;
    for (const { name } of [...phaseRules, ...startRules, ...stopRules, ...deleteRules])
      expect(guide).toContain(`\`${name}\``);
  });
});
