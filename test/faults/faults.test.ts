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
    ["compare-and-swap", "write-lost"],
    ["lease", "lease-broken"],
    ["fencing-token", "stale-credentials-taken"],
    ["expiry-first", "expiry-overruled"],
  ])(
    `are caught: %s (seed ${SEED})`,
    async (broken, rule) => {
      const report = await runFaults({
        seed: SEED,
        durationMs: 45_000,
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
