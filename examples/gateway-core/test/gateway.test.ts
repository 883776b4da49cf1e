import { readDeadline } from "slipway";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SupervisorReport } from "../src/decide/supervisor-report.js";
import { PermanentDriverError } from "../src/driver/driver.js";
import type { Gateway } from "../src/gateway/gateway.js";
import { recordSupervisorGone } from "../src/decide/driver-report.js";
import { InvalidInputError } from "../src/input-error.js";
import { claimOf } from "./claims.js";
import { Bench, BUDGETS } from "./bench.js";

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

const accepted: SupervisorReport = { kind: "accepted", generation: 1 };
const ready: SupervisorReport = { kind: "ready", generation: 1 };
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

describe("a supervisor that finds its run started by one that is gone", () => {
  const notReplayed: SupervisorReport = {
    kind: "bootstrap",
    succeeded: false,
    reason: "BootstrapCancelled",
    message: "The instance is active already; nothing is replayed.",
  };
  const launch = async (): Promise<void> => {
    bench.driver.launches.at(-1)!.succeed();
    await bench.settle();
  };
  /** As the one that is gone has written it. */
  const wasStarted = async (): Promise<void> => {
    const claim = claimOf("gone", 1);
    const record = await read();
    await gateway.activations.swap(record, { expectedVersion: null, next: claim });
    const next = { ...claim, state: "active" as const, version: claim.version + 1 };
    expect(await gateway.activations.swap(record, { expectedVersion: claim.version, next })).toBe(true);
  };
  const over = { phase: "Error", reason: "Killed", exitCode: null, activatedRun: 1 };

  it("ends the run as an error, which nothing but an explicit start follows", async () => {
    await launch();
    await report(accepted);
    await wasStarted();
    await report(ready);
    expect(await report(notReplayed)).toEqual({ ok: true, activate: false });
    expect(await read()).toMatchObject({ ...over, message: expect.stringMatching(/not started again/) });
    expect((await read()).conditions).toContainEqual(
      expect.objectContaining({ type: "Bootstrapped", status: "True" }),
    );
    // What became of the container it is in says no more.
    bench.driver.running.get(id)?.gone();
    await gateway.reconcile();
    await bench.pass(60_000);
    expect(await read()).toMatchObject(over);
    expect(bench.driver.launches).toHaveLength(1);
    expect((await gateway.startSandbox(id)).result).toMatchObject({ ok: true });
    await bench.settle();
    expect(await read()).toMatchObject({ phase: "Starting", run: 2 });
  });

  it("ends it as well where the one that is gone was never heard to be ready, and its attempt with it", async () => {
    await launch();
    await report(accepted);
    await wasStarted();
    await report(notReplayed);
    expect(await read()).toMatchObject({ ...over, deadline: { status: "cancelled" } });
  });

  it("ends none that was admitted and not started, whose supervisor was told to end before it got to that", async () => {
    await launch();
    await report(accepted);
    await report({ ...notReplayed, message: "admission: Bootstrap was cancelled after 2 attempts." });
    expect(await read()).toMatchObject({ phase: "Provisioning", deadline: { status: "active" } });
    // What takes its place starts it.
    await wasStarted();
    await report(ready);
    expect(await read()).toMatchObject({ phase: "Ready", run: 1 });
  });

  it.each(["stopSandbox", "deleteSandbox"] as const)("changes nothing after %s", async (end) => {
    await launch();
    await report(accepted);
    await wasStarted();
    bench.driver.pace = () => new Promise(() => undefined);
    await gateway[end](id);
    const before = await read();
    expect(await report(notReplayed)).toMatchObject({ ok: false, code: "settled" });
    expect(await read()).toEqual(before);
  });

  it("and an end that the one that is gone tells later is noted, and decides nothing", async () => {
    await launch();
    await report(accepted);
    await wasStarted();
    await report(ready);
    await report(notReplayed);
    const { message, finishedAt } = await read();
    expect(await report({ kind: "exited", exitCode: 0, signal: null })).toMatchObject({ ok: true });
    expect(await read()).toMatchObject({ ...over, exitCode: 0, message, finishedAt });
  });

  it("changes nothing about a run that was not admitted, or whose end is known", async () => {
    await launch();
    await wasStarted();
    await report(notReplayed);
    expect(await read()).toMatchObject({ phase: "Provisioning", activatedRun: null });
    await report(accepted);
    await report(ready);
    await report({ kind: "exited", exitCode: 0, signal: null });
    expect(await report(notReplayed)).toMatchObject({ ok: false, code: "settled" });
    expect(await read()).toMatchObject({ phase: "Completed", exitCode: 0 });
  });
});

describe("what is wrong with an input", () => {
  it("is said in a message that can be passed on, however long the field is", () => {
    const error = new InvalidInputError(`policy.${"k".repeat(3000)}`, "absent", "x".repeat(3000));
    expect(error.message.length).toBeLessThan(400);
    expect(error.message).toMatch(/^policy\.kkk.*… must be absent, got "xxx.*…$/);
  });
});

describe("the condition Bootstrapped", () => {
  const said = async (): Promise<string> => {
    const found = (await read()).conditions.find(({ type }) => type === "Bootstrapped");
    return `${found?.status} ${found?.reason}`;
  };
  const waiting = {
    kind: "bootstrap",
    succeeded: false,
    reason: "BootstrapInProgress",
    message: "policy: waits for attempt 2",
    cause: { reason: "ECONNREFUSED", message: "refused" },
  } as const;
  const launch = async (): Promise<void> => {
    bench.driver.launches.at(-1)!.succeed();
    await bench.settle();
  };

  it("says what every attempt came to, and nothing of the one before", async () => {
    expect(await said()).toBe("False BootstrapPending");
    await launch();
    await report(waiting);
    expect(await said()).toBe("False BootstrapInProgress");
    await report(accepted);
    await report(ready);
    expect(await said()).toBe("True BootstrapSucceeded");
    await gateway.stopSandbox(id);
    await bench.settle();
    expect(await said()).toBe("True BootstrapSucceeded");
    await gateway.startSandbox(id);
    await bench.settle();
    expect(await said()).toBe("False BootstrapPending");
  });

  it("does not go on waiting after the attempt has expired, and keeps the cause", async () => {
    await launch();
    await report(waiting);
    await bench.pass(BUDGETS.admissionMs + 1000);
    const found = (await read()).conditions.find(({ type }) => type === "Bootstrapped");
    expect(found).toMatchObject({
      status: "False",
      reason: "BootstrapDeadlineExceeded",
      cause: waiting.cause,
    });
  });

  it("is cancelled with a stop, and says what the supervisor said of a failure", async () => {
    await gateway.stopSandbox(id);
    await bench.settle();
    expect(await said()).toBe("False BootstrapCancelled");
    await gateway.startSandbox(id);
    await bench.settle();
    await launch();
    await report({ kind: "bootstrap-failed", reason: "BootstrapFailed", message: "401" });
    expect(await said()).toBe("False BootstrapFailed");
  });

  it("is true of a workload that ended before it was ready", async () => {
    await launch();
    await report(accepted);
    await report({ kind: "exited", exitCode: 1, signal: null });
    expect(await said()).toBe("True BootstrapSucceeded");
  });
});
