import { newRecord } from "../src/decide/attempt.js";
import { planFor } from "../src/gateway/budgets.js";
import type { SandboxRecord } from "../src/record/record.js";
import { BUDGETS } from "./bench.js";

export const NOW = 1_800_000_000_000;

/** A record as a create makes it, with what a test says otherwise. */
export function recordWith(fields: Partial<SandboxRecord> = {}): SandboxRecord {
  const spec = {
    driver: "fake",
    image: { name: "image", path: "/image" },
    command: ["work"],
    driverOptions: {},
    budgets: {},
  };
  const sandbox = { id: "sb", name: "box", spec, policy: { version: 1 }, isolationBackend: null };
  const start = { plan: planFor(BUDGETS, {}), token: "token-1" };
  return { ...newRecord(sandbox, start, NOW - 60_000), ...fields };
}
