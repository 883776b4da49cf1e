import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SupervisorReport } from "../src/decide/supervisor-report.js";
import type { Gateway } from "../src/gateway/gateway.js";
import { Bench } from "./bench.js";
import { claimOf } from "./claims.js";
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
