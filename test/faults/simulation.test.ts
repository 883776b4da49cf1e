import { afterEach, describe, expect, it } from "vitest";
import { SqliteStore } from "../../examples/gateway-core/src/store/sqlite-store.js";
import { breakProtection, type Protection } from "./breaks.js";
import { checkHistory } from "./checker/check-history.js";
import type { Violation } from "./checker/history.js";
import { simulate } from "./simulation.js";

const SEEDS = [2, 3];
let undo: () => void = () => undefined;

afterEach(() => undo());

async function found(seed: number): Promise<readonly Violation[]> {
  return checkHistory(await simulate(seed));
}

describe("two gateways in virtual time, of which the checker sees everything", () => {
  it.each(SEEDS)(
    "keep every promise (seed %i)",
    async (seed) => {
      expect(await found(seed)).toEqual([]);
    },
    300_000,
  );

  const broken: readonly [Protection, Violation["rule"]][] = [
    ["compare-and-swap", "write-lost"],
    ["lease", "lease-broken"],
    ["fencing-token", "stale-credentials-taken"],
    ["expiry-first", "expiry-overruled"],
  ];
  it.each(broken)(
    "are caught without a protection: %s",
    async (protection, rule) => {
      undo = breakProtection(protection, SqliteStore.prototype);
      const rules = new Set<string>();
      for (const seed of SEEDS) for (const violation of await found(seed)) rules.add(violation.rule);
      expect([...rules]).toContain(rule);
    },
    300_000,
  );
});
