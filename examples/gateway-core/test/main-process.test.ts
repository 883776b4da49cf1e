import { describe, expect, it } from "vitest";
import { parsePolicy } from "../src/policy/policy.js";
import { MainProcess } from "../src/supervisor/main-process.js";

const policy = parsePolicy({ version: 1 });

describe("a main process that cannot be started", () => {
  // The first three are thrown by the call, the last one comes later.
  const commands = {
    "no program": [""],
    "a NUL": ["a\0"],
    "too long": ["true", "x".repeat(3_000_000)],
    none: ["/none"],
  };
  for (const [what, command] of Object.entries(commands)) {
    it(`ends with exit code 127: ${what}`, async () => {
      const main = MainProcess.start(command, policy);
      const started = main.started();
      expect(await main.exit).toEqual({ exitCode: 127, signal: null });
      expect(await started).toBe(false);
      await main.ask();
    });
  }
});

describe("a policy", () => {
  const bad: [string, Record<string, string>, string][] = [
    ["a value with a NUL", { A: "x", B: "y\0" }, "policy.env.B"],
    ["a name with a NUL", { "A\0": "x" }, "policy.env.A\0"],
    ["a reserved name", { SLIPWAY_SANDBOX: "x" }, "policy.env.SLIPWAY_SANDBOX"],
    [
      "too much of it",
      Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`V${at}`, "x".repeat(4000)])),
      "policy.env",
    ],
  ];
  for (const [what, env, field] of bad) {
    it(`is refused by its field for its environment: ${what}`, () => {
      expect(() => parsePolicy({ version: 1, env })).toThrow(expect.objectContaining({ field }) as Error);
    });
  }
});
