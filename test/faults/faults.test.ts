import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { findPostgres } from "../../examples/gateway-core/test/postgres-server.js";
import { runFaults, type FaultRunOptions } from "./bench/fault-bench.js";
import { violationLines } from "./bench/report.js";
import { findFakeTime } from "./bench/surroundings.js";
import { buildPrograms } from "./build-programs.mjs";

const SEED = Number(process.env["SLIPWAY_FAULTS_SEED"] ?? 20_261_129);
const found = findPostgres();
const skipped = "missing" in found ? ` (skipped: ${found.missing})` : "";
const without = findFakeTime() === null ? " (no clock is stepped: libfaketime is not installed)" : "";
const all = process.env["SLIPWAY_FAULTS"] === "all";
const byHand = all || skipped !== "" ? "" : " (skipped: only with SLIPWAY_FAULTS=all)";
const cli = fileURLToPath(new URL("../../examples/gateway-core/dist/cli.js", import.meta.url));

const options = (durationMs: number): FaultRunOptions => ({
  seed: SEED,
  durationMs,
  postgres: "bin" in found ? found.bin : "",
  program: cli,
  operationsPerSecond: 6,
  faultEveryMs: 2500,
});

describe.skipIf(skipped !== "")(`three gateways on one database${skipped}${without}`, () => {
  it(`lose nothing under load and faults (seed ${SEED})`, async () => {
    const report = await runFaults(options(50_000));
    expect(violationLines(report.violations), `seed ${SEED} repeats the schedule`).toEqual([]);
    // The run means something only when there was something to lose.
    expect(Object.values(report.faults).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(10);
    expect(report.operations.answered).toBeGreaterThan(20);
    expect(report.versions).toBeGreaterThan(100);
    expect(report.starts).toBeGreaterThan(0);
    expect(report.expired).toBeGreaterThan(0);
  }, 600_000);
});

describe.skipIf(skipped !== "" || !all)(`gateways without a protection${skipped}${byHand}`, () => {
  it.each([
    ["compare-and-swap", "write-lost"],
    ["lease", "lease-broken"],
    ["fencing-token", "stale-credentials-taken"],
    ["expiry-first", "expiry-overruled"],
  ])(
    `are caught: %s (seed ${SEED})`,
    async (broken, rule) => {
      const program = fileURLToPath(new URL("broken-gateway.js", await buildPrograms()));
      const env = { SLIPWAY_BROKEN: broken };
      const report = await runFaults({ ...options(60_000), program, env, peaceLimitMs: 20_000 });
      expect(report.violations.map((violation) => violation.rule)).toContain(rule);
    },
    600_000,
  );
});
