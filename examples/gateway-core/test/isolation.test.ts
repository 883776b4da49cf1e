import { getCondition } from "slipway";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../src/gateway/gateway.js";
import { buildApp } from "../src/http/app.js";
import type { SandboxView } from "../src/http/view.js";
import { Bench, BUDGETS } from "./bench.js";

const RESTART_ON = { policy: { restartOn: ["MainProcessFailed"] } };
const MISMATCH = "isolation-backend-mismatch";

let bench: Bench;
let id: string;

beforeEach(async () => {
  bench = await Bench.open();
});

afterEach(() => bench.close());

const on = (isolationBackend: string | null) => bench.gateway("one", { ...RESTART_ON, isolationBackend });
const mismatches = (): number => bench.logged.filter((event) => event === MISMATCH).length;

/** A sandbox that was pinned to `strict`, ran, and failed often enough to wait for its next restart. */
async function waitingForRestart(): Promise<Gateway> {
  const gateway = await on("strict");
  id = await bench.create(gateway);
  for (let failure = 0; failure < 2; failure += 1) {
    await bench.becomeReady(gateway, id);
    await bench.report(gateway, id, { kind: "exited", exitCode: 1, signal: null });
  }
  expect(await bench.read(gateway, id)).toMatchObject({
    phase: "Starting",
    reason: "MainProcessRestartBackoff",
    isolationBackend: "strict",
  });
  return gateway;
}

/** The same records under a gateway with another selection. */
async function under(gateway: Gateway, selected: string | null): Promise<Gateway> {
  await bench.kill(gateway);
  return on(selected);
}

describe("the pin of an isolation backend", () => {
  it("moves a sandbox whose restart cannot succeed to an error, once, and off the restart scan", async () => {
    const gateway = await under(await waitingForRestart(), "plain");
    const record = await bench.read(gateway, id);
    expect(record).toMatchObject({
      phase: "Error",
      reason: "IsolationBackendMismatch",
      restartAt: null,
      desired: "running",
    });
    expect(getCondition(record.conditions, "IsolationBackendMatched")).toMatchObject({ status: "False" });
    // No timeout was found: there is no general reason, and every contract shows the mismatch.
    expect(getCondition(record.conditions, "Ready")?.generalReasons).toBeUndefined();
    await bench.pass(200_000);
    expect(mismatches()).toBe(1);
    expect(await bench.read(gateway, id)).toEqual(record);
  });

  it("refuses a start while another one is selected, and accepts it once the selection is restored", async () => {
    const wrong = await under(await waitingForRestart(), "plain");
    const refused = await wrong.startSandbox(id);
    expect(refused.result).toMatchObject({ ok: false, code: "isolation-backend-mismatch" });
    expect(wrong.standing(refused.record).operations.start).toMatchObject({ allowed: false });
    const none = await under(wrong, null);
    expect((await none.startSandbox(id)).result).toMatchObject({ ok: false });
    const right = await under(none, "strict");
    const before = await bench.read(right, id);
    expect((await right.startSandbox(id)).result).toEqual({ ok: true, changed: true });
    const started = await bench.becomeReady(right, id);
    expect(started).toMatchObject({ phase: "Ready", id: before.id, attemptNumber: before.attemptNumber + 1 });
    expect(getCondition(started.conditions, "IsolationBackendMatched")).toMatchObject({ status: "True" });
    expect(bench.driver.launches.at(-1)?.request.isolationBackend).toBe("strict");
  });

  it("gives way to a stop that comes at the same time, and decides again after it", async () => {
    const before = await waitingForRestart();
    await bench.kill(before);
    let stopped = false;
    // The stop is written between the scan's read and its write.
    bench.driver.onObserve = async () => {
      if (stopped) return;
      stopped = true;
      const other = await bench.gateway("two", { ...RESTART_ON, isolationBackend: "strict" });
      await other.stopSandbox(id);
    };
    const gateway = await on("plain");
    await bench.pass(60_000);
    expect(stopped).toBe(true);
    expect(await bench.read(gateway, id)).toMatchObject({ phase: "Stopped", desired: "stopped" });
    expect(mismatches()).toBe(0);
  });

  it("launches nothing on another backend, and says at the preparation deadline what was wrong", async () => {
    const first = await on("strict");
    id = await bench.create(first);
    await bench.kill(first);
    bench.clock.restart(4000);
    const gateway = await on("plain");
    const launches = bench.driver.launches.length;
    await bench.pass(BUDGETS.preparationMs);
    expect(bench.driver.launches).toHaveLength(launches);
    const record = await bench.read(gateway, id);
    expect(record).toMatchObject({ phase: "Error", reason: "IsolationBackendMismatch" });
    expect(record.deadline?.cleanup.status).toBe("done");
    const app = buildApp({ gateway, log: () => undefined });
    const seen = async (contract?: string): Promise<SandboxView> => {
      const headers = contract === undefined ? {} : { "slipway-reason-contract": contract };
      return (await (await app.request(`/v1/sandboxes/${id}`, { headers })).json()) as SandboxView;
    };
    for (const contract of [undefined, "1", "nonsense"]) {
      const view = await seen(contract);
      expect(view.reason).toBe("ImagePreparationTimedOut");
      const ready = getCondition(view.conditions, "Ready");
      expect(ready).toMatchObject({ reason: "ImagePreparationTimedOut", status: "False" });
      expect(ready?.cause?.reason).toBe("IsolationBackendMismatch");
      expect(getCondition(view.conditions, "IsolationBackendMatched")).toMatchObject({ status: "False" });
    }
    expect(await seen("2")).toMatchObject({ reason: "IsolationBackendMismatch" });
  });

  it("stops nothing that runs because the selection changed", async () => {
    const first = await on("strict");
    id = await bench.create(first);
    await bench.becomeReady(first, id);
    const gateway = await under(first, "plain");
    await bench.pass(60_000);
    expect(await bench.read(gateway, id)).toMatchObject({ phase: "Ready" });
    expect(bench.driver.calls).not.toContain("stop");
  });
});
