import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonObject } from "../src/cli/context.js";
import type { SupervisorReport } from "../src/decide/supervisor-report.js";
import { headOf, tailOf } from "../src/cut-text.js";
import { EscapingEntryError } from "../src/driver/image/safe-path.js";
import { InvalidInputError } from "../src/input-error.js";
import { stepsOf } from "../src/record/steps.js";
import { readSettings } from "../src/supervisor/settings.js";
import { SpokenReports } from "../src/supervisor/spoken-report.js";

const HALF = /\p{Surrogate}/u;
/** A text of characters of two units, which begins at an even place or at an odd one. */
const texts = ["😀".repeat(3000), `x${"😀".repeat(3000)}`] as const;

describe("a text that is cut", () => {
  it("keeps as much as it may, and no half of a character", () => {
    const text = fc.string({ unit: "binary", maxLength: 40 });
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 50 }), (whole, length) => {
        const [head, tail] = [headOf(whole, length), tailOf(whole, length)];
        expect(whole.startsWith(head) && whole.endsWith(tail)).toBe(true);
        for (const part of [head, tail]) {
          expect(HALF.test(part)).toBe(false);
          expect(part.length).toBeLessThanOrEqual(length);
          expect(part.length).toBeGreaterThanOrEqual(Math.min(length - 1, whole.length));
        }
      }),
      { seed: 1, numRuns: 2000 },
    );
  });

  const messageOf = (work: () => unknown): string => {
    try {
      return String(work());
    } catch (error) {
      return (error as Error).message;
    }
  };
  const env = { SLIPWAY_GATEWAY_URL: "u", SLIPWAY_SANDBOX: "s", SLIPWAY_TOKEN: "t", SLIPWAY_RUN: "1" };
  it.each([
    ["a report", (text: string) => JSON.stringify(new SpokenReports().of(failed(text)))],
    ["a field's name and value", (text: string) => new InvalidInputError(text, "absent", text).message],
    ["an entry of an image", (text: string) => new EscapingEntryError(text, "it is").message],
    ["a subject of a step", (text: string) => JSON.stringify(stepsOf({ name: text }, 0))],
    ["an argument", (text: string) => messageOf(() => jsonObject(JSON.stringify(text)))],
    [
      "a command",
      (text: string) => messageOf(() => readSettings({ ...env, SLIPWAY_COMMAND: JSON.stringify(text) })),
    ],
  ])("is whole in %s", (_, say) => {
    for (const text of texts) {
      const said = say(text);
      expect(said).toContain("😀");
      // As JSON has half a character as well.
      expect(said).not.toMatch(/\p{Surrogate}|\\ud[89a-f]/u);
    }
  });
});

function failed(text: string): SupervisorReport {
  const cause = { reason: text, message: text };
  return { kind: "bootstrap-failed", reason: "BootstrapFailed", message: text, cause };
}
