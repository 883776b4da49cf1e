import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { findPostgres } from "../../examples/gateway-core/test/postgres-server.js";
import { runFaults } from "./bench/fault-bench.js";
import { buildPrograms } from "./build-programs.mjs";

const SEED = Number(process.env["SLIPWAY_FAULTS_SEED"] ?? 20_261_129);
const found = findPostgres();
const all = process.env["SLIPWAY_FAULTS"] === "all";
const skipped =
  "missing" in found
    ? ` (skipped: ${found.missing})`
    : all
      ? ""
      : " (skipped: takes minutes; SLIPWAY_FAULTS=all npx vitest run test/faults)";

// The gateway with all its protections has a gate of its own: `npm run faults`.
describe.skipIf(skipped !== "")(`gateways without a protection${skipped}`, () => {
  it.each([
    ["compare-and-swap", "write-lost", 45],
    ["lease", "lease-broken", 45],
    // Old words of a run that is over have to be delivered again, to an attempt that is not: one run of 45 s had none.
    ["fencing-token", "stale-credentials-taken", 120],
    ["expiry-first", "expiry-overruled", 45],
  ])(
    `are caught: %s (seed ${SEED})`,
    async (broken, rule, seconds) => {
      const report = await runFaults({
        seed: SEED,
        durationMs: seconds * 1000,
        postgres: "bin" in found ? found.bin : "",
        program: fileURLToPath(new URL("broken-gateway.js", await buildPrograms())),
        env: { SLIPWAY_BROKEN: broken },
        operationsPerSecond: 12,
        faultEveryMs: 2500,
        peaceLimitMs: 15_000,
      });
      expect(report.violations.map((violation) => violation.rule)).toContain(rule);
    },
    600_000,
  );
});
