import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { recordSupervisorGone } from "../src/decide/driver-report.js";
import type { SupervisorReport } from "../src/decide/supervisor-report.js";
import type { Gateway } from "../src/gateway/gateway.js";
import { Bench } from "./bench.js";
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
const report = (report: SupervisorReport) => bench.report(gateway, id, report);

describe("operations", () => {
  async function becomeReady(): Promise<void> {
    bench.driver.launches.at(-1)!.succeed();
    await bench.settle();
    await report(accepted);
    await report(ready);
  }

  it("are retried ever more rarely while they fail", async () => {
    let calls = 0;
    bench.driver.remove = () => {
      calls += 1;
      return Promise.reject(new Error("the disk is gone"));
    };
    await gateway.deleteSandbox(id);
    await bench.pass(60_000);
    expect(calls).toBeGreaterThan(3);
    expect(calls).toBeLessThan(12);
    bench.driver.remove = () => Promise.resolve();
    await bench.pass(31_000);
    expect(await gateway.records.read(id)).toBeNull();
  });

  it("end for good when their supervisor could not tell its gateway why it gave up", async () => {
    await bench.settle();
    const { run } = await read();
    const end = { exitCode: 78, message: "the certificate is of another authority" };
    await gateway.records.change(id, (found, now) => recordSupervisorGone(found, run, now, end));
    const { phase, reason, message, deadline } = await read();
    expect({ phase, reason, message }).toEqual({
      phase: "Error",
      reason: "BootstrapFailed",
      message: end.message,
    });
    expect(deadline).toMatchObject({ status: "cancelled" });
  });

  it("are not disturbed by late news of an earlier attempt's run", async () => {
    await becomeReady();
    const { run } = await read();
    await gateway.stopSandbox(id);
    await bench.settle();
    await gateway.startSandbox(id);
    await bench.settle();
    const before = await read();
    const late = await gateway.records.change(id, (found, now) => recordSupervisorGone(found, run, now));
    expect(late.result).toBe(false);
    expect(await read()).toEqual(before);
  });

  it("keep a result that a late report would change", async () => {
    await becomeReady();
    await gateway.stopSandbox(id);
    await bench.settle();
    expect(await read()).toMatchObject({ phase: "Stopped" });
    await report({ kind: "exited", exitCode: 1, signal: null });
    expect(await read()).toMatchObject({ phase: "Stopped", exitCode: 1, reason: "Stopped" });
  });

  it("do not let a sandbox become ready with a configuration that was not accepted", async () => {
    bench.driver.launches.at(-1)!.succeed();
    await bench.settle();
    await report(accepted);
    await gateway.update(id, { policy: { version: 1, env: { A: "b" } } });
    await report({ kind: "rejected", generation: 2, reason: "Invalid", message: "no" });
    expect(await report(ready)).toMatchObject({ ok: false, code: "not-current" });
    expect(await read()).toMatchObject({ phase: "Provisioning", admission: "rejected" });
  });

  it("stops, starts again with the same identity, and deletes", async () => {
    await becomeReady();
    expect((await gateway.stopSandbox(id)).result).toEqual({ ok: true, changed: true });
    await bench.settle();
    expect(await read()).toMatchObject({ phase: "Stopped", desired: "stopped" });
    expect((await gateway.stopSandbox(id)).result).toEqual({ ok: true, changed: false });
    expect((await gateway.startSandbox(id)).result).toEqual({ ok: true, changed: true });
    await bench.settle();
    expect((await gateway.startSandbox(id)).result).toEqual({ ok: true, changed: false });
    expect(await read()).toMatchObject({ phase: "Starting", attemptNumber: 2 });
    await gateway.deleteSandbox(id);
    await bench.settle();
    expect(await gateway.records.read(id)).toBeNull();
    expect(bench.driver.calls.at(-1)).toBe("remove");
  });

  it("says what exit code 127 may mean: the program is not there", async () => {
    await becomeReady();
    await report({ kind: "exited", exitCode: 127, signal: null });
    expect((await read()).message).toBe(
      "the main process ended with exit code 127: a program that was to be run may not exist in the sandbox",
    );
  });

  it("records how the main process ended, once", async () => {
    await becomeReady();
    await report({ kind: "exited", exitCode: 3, signal: null });
    await report({ kind: "exited", exitCode: 0, signal: null });
    expect(await read()).toMatchObject({ phase: "Error", reason: "MainProcessFailed", exitCode: 3 });
    expect((await read()).message).toBe("the main process ended with exit code 3");
    await gateway.startSandbox(id);
    await bench.settle();
    await becomeReady();
    await report({ kind: "exited", exitCode: 0, signal: null });
    expect(await read()).toMatchObject({ phase: "Completed", exitCode: 0, attemptNumber: 2 });
  });

  it("stops the driver's work in the middle when a stop comes", async () => {
    const { signal } = bench.driver.launches[0]!.context;
    await gateway.stopSandbox(id);
    await bench.settle();
    expect(signal.aborted).toBe(true);
    expect(await read()).toMatchObject({ phase: "Stopped" });
    expect((await read()).deadline).toMatchObject({ status: "cancelled", cleanup: { status: "done" } });
  });
});
