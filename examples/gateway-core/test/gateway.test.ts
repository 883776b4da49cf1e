import { readDeadline } from "slipway";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SupervisorReport } from "../src/decide/supervisor-report.js";
import { PermanentDriverError } from "../src/driver/driver.js";
import type { Gateway } from "../src/gateway/gateway.js";
import { Bench, BUDGETS } from "./bench.js";
import { accepted, ready } from "./supervisor-reports.js";

let bench: Bench;
let gateway: Gateway;
let id: string;

beforeEach(async () => {
  bench = await Bench.open();
  gateway = await bench.gateway();
  id = await bench.create(gateway);
});

afterEach(() => bench.close());

const read = () => bench.read(gateway, id);

async function deadlineAt(): Promise<number | null> {
  const { deadline } = await read();
  return deadline && readDeadline(deadline, bench.clock.now()).deadlineAt;
}

/** Speaks as the supervisor of the current attempt, or of a given one. */
async function report(report: SupervisorReport, as?: { token?: string; run?: number }) {
  const record = await read();
  const result = await gateway.report(
    id,
    as?.token ?? record.deadline!.attempt,
    as?.run ?? record.run,
    report,
  );
  await bench.settle();
  return result;
}

const rejected: SupervisorReport = {
  kind: "rejected",
  generation: 1,
  reason: "Invalid",
  message: "no such host",
};

function progress(position: number): void {
  bench.driver.launches.at(-1)!.context.report({
    step: "image",
    label: "Image copied",
    subject: "image",
    unit: "bytes",
    position,
    total: 100,
  });
}

describe("preparation and admission", () => {
  it("ends preparation with the first authenticated report, and then grants the full admission window", async () => {
    for (let position = 0; position < 15; position += 1) {
      progress(position);
      await bench.pass(10_000);
    }
    const enteredAt = bench.clock.now();
    expect(await report(accepted)).toEqual({ ok: true, activate: true });
    expect(await deadlineAt()).toBe(enteredAt + BUDGETS.admissionMs);
    expect(await report(ready)).toMatchObject({ ok: true });
    expect(await read()).toMatchObject({ phase: "Ready", admission: "accepted", appliedGeneration: 1 });
  });

  it("does not take a driver's word for the end of preparation", async () => {
    progress(100);
    bench.driver.launches[0]!.succeed();
    await bench.settle();
    expect((await read()).deadline?.phase).toBe("preparation");
  });

  it("takes no report with another attempt's secret, another run's number, or none", async () => {
    for (const as of [{ token: "guess" }, { token: "" }]) {
      expect(await report(accepted, as)).toMatchObject({ ok: false, code: "unauthorized" });
    }
    expect(await report(accepted, { run: 7 })).toMatchObject({ ok: false, code: "stale-run" });
    expect((await read()).deadline?.phase).toBe("preparation");
  });

  it("grants a rejected configuration one full window, and a repeated rejection none", async () => {
    await bench.pass(6000);
    await report(rejected);
    const window = await deadlineAt();
    await bench.pass(10_000);
    await report(rejected);
    expect(await deadlineAt()).toBe(window);
    expect(await read()).toMatchObject({ admission: "rejected" });
  });

  it("says at the top of the record that a configuration was rejected and why, until another one is committed", async () => {
    await report(rejected);
    const message = "configuration generation 1 was rejected: Invalid: no such host";
    const readyMessage = async () => (await read()).conditions.find(({ type }) => type === "Ready")?.message;
    expect(await read()).toMatchObject({ phase: "Provisioning", reason: "Admission", message });
    expect(await readyMessage()).toBe(message);
    await gateway.update(id, { policy: { version: 1 } });
    expect(await read()).toMatchObject({ message });
    await gateway.update(id, { policy: { version: 1, env: { A: "b" } } });
    expect(await read()).toMatchObject({ reason: "Admission", message: "admission is under way" });
    expect(await readyMessage()).toBe("admission is under way");
  });

  it("opens a new window for a real change, and none for a write of the same content", async () => {
    await report(rejected);
    const window = (await deadlineAt())!;
    await bench.pass(10_000);
    const same = await gateway.update(id, { policy: { version: 1 } });
    expect(same.result).toMatchObject({ ok: true, renewed: false, sameContent: true });
    expect(await deadlineAt()).toBe(window);
    const real = await gateway.update(id, { policy: { version: 1, env: { A: "b" } } });
    expect(real.result).toMatchObject({ ok: true, renewed: true, sameContent: false });
    expect(await deadlineAt()).toBe(window + 10_000);
    expect(await report({ kind: "accepted", generation: 1 })).toMatchObject({
      ok: false,
      code: "not-current",
    });
    expect(await report({ kind: "accepted", generation: 3 })).toMatchObject({ ok: true, activate: true });
  });

  it("refuses a write that was decided on an older configuration", async () => {
    await gateway.update(id, { policy: { version: 1, env: {} } });
    const stale = await gateway.update(id, { policy: { version: 1 }, ifGeneration: 1 });
    expect(stale.result).toMatchObject({ ok: false, code: "generation-conflict" });
    expect(stale.record.configuration.generation).toBe(2);
  });
});

describe("expiry", () => {
  it("is written before anything is cleaned up, and cleanup is done once", async () => {
    const seen: string[] = [];
    gateway.hub.subscribe(({ record }) => {
      if (record?.deadline?.status === "expired")
        seen.push(`written: cleanup ${record.deadline.cleanup.status}`);
      if (bench.driver.calls.includes("clean-up") && !seen.includes("cleaned")) seen.push("cleaned");
    });
    await bench.pass(12_000);
    expect(seen[0]).toBe("written: cleanup pending");
    const record = await read();
    expect(record).toMatchObject({ phase: "Error", reason: "ImagePreparationTimedOut" });
    expect(record.deadline?.expiry).toMatchObject({ limitedBy: "stall", phase: "preparation" });
    expect(record.deadline?.cleanup).toMatchObject({ status: "done", claims: 1 });
    expect(bench.driver.calls.filter((call) => call === "clean-up")).toHaveLength(1);
  });

  it("stops the driver's work, and takes neither late progress nor a late report", async () => {
    const launch = bench.driver.launches[0]!;
    await bench.pass(12_000);
    expect(launch.context.signal.aborted).toBe(true);
    const before = await read();
    progress(50);
    await bench.settle();
    expect(await report(accepted)).toMatchObject({ ok: false, code: "expired" });
    expect(await report(ready)).toMatchObject({ ok: false, code: "expired" });
    expect((await read()).deadline).toEqual(before.deadline);
    expect(gateway.refusals.of(id)).toContainEqual(
      expect.objectContaining({ event: "progress", why: "settled" }),
    );
  });

  it("is found by a report that comes at the deadline, before any timer", async () => {
    await report(rejected);
    const record = await read();
    bench.clock.suspend(BUDGETS.admissionMs);
    expect(await report(ready, { token: record.deadline!.attempt, run: record.run })).toMatchObject({
      ok: false,
    });
    expect(await read()).toMatchObject({ phase: "Error", reason: "ProvisioningTimedOut" });
    expect((await read()).message).toContain("no such host");
  });

  it("tries a failed cleanup again, and a start waits for it", async () => {
    bench.driver.failCleanups = 2;
    await bench.pass(12_000);
    expect((await read()).deadline?.cleanup).toMatchObject({
      status: "pending",
      error: "something holds on to it",
    });
    const start = await gateway.startSandbox(id);
    expect(start.result).toEqual({ ok: true, changed: true });
    expect(start.record).toMatchObject({ phase: "Error", startPending: true, attemptNumber: 1 });
    await bench.pass(5000);
    const record = await read();
    expect(record).toMatchObject({ phase: "Starting", startPending: false, attemptNumber: 2 });
    expect(record.deadline).toMatchObject({ status: "active", startedAt: record.since });
    expect(bench.driver.calls.filter((call) => call === "clean-up")).toHaveLength(3);
  });

  it("keeps identity and configuration for the next attempt, under a new secret", async () => {
    const first = await read();
    await bench.pass(12_000);
    await gateway.startSandbox(id);
    await bench.settle();
    const second = await read();
    expect(second).toMatchObject({
      id: first.id,
      name: first.name,
      configuration: first.configuration,
      run: first.run + 1,
    });
    expect(second.deadline?.attempt).not.toBe(first.deadline?.attempt);
    expect(await report(accepted, { token: first.deadline!.attempt })).toMatchObject({
      code: "unauthorized",
    });
  });
});

describe("a driver that fails", () => {
  it("is tried again within the same deadline when that may help", async () => {
    const before = (await read()).deadline?.startedAt;
    bench.driver.launches[0]!.fail(new Error("connection reset"));
    await bench.pass(2000);
    const record = await read();
    expect(record).toMatchObject({ phase: "Provisioning", run: 2 });
    expect(record.deadline?.startedAt).toBe(before);
  });

  it("ends the attempt at once when it cannot help, and says why", async () => {
    bench.driver.launches[0]!.fail(new PermanentDriverError("LocalImageNotFound", "there is no such image"));
    await bench.settle();
    const record = await read();
    expect(record).toMatchObject({
      phase: "Error",
      reason: "LocalImageNotFound",
      message: "there is no such image",
    });
    expect(record.deadline).toMatchObject({ status: "cancelled", cleanup: { status: "done" } });
  });

  it("starts a supervisor that vanished before admission again, and never one that was admitted", async () => {
    bench.driver.launches[0]!.succeed();
    await bench.settle();
    bench.driver.running.get(id)!.gone();
    await bench.pass(2000);
    expect(await read()).toMatchObject({ run: 2, phase: "Provisioning" });
    bench.driver.launches[1]!.succeed();
    await bench.settle();
    await report(accepted);
    bench.driver.running.get(id)!.gone();
    await bench.pass(5000);
    expect(await read()).toMatchObject({ run: 2, phase: "Error", reason: "LocalSupervisorLost" });
  });
});
