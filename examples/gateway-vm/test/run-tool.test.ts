import { expect, it } from "vitest";
import { lastWords } from "../src/run-tool.js";

it.each([["😀".repeat(500)], [`${"😀".repeat(500)}x`]])(
  "the last words of a tool begin with a whole character",
  (text) => {
    expect(lastWords(text).length).toBeGreaterThanOrEqual(499);
    expect(lastWords(text)).not.toMatch(/\p{Surrogate}/u);
  },
);
