import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../src/gateway/gateway.js";
import { Bench } from "./bench.js";

let bench: Bench;
let gateway: Gateway;
let id: string;

beforeEach(async () => {
  bench = await Bench.open();
  gateway = await bench.gateway("one", {
    policy: { restartOn: ["MainProcessFailed", "LocalSupervisorLost"] },
  });
  id = await bench.create(gateway);
});

afterEach(() => bench.close());

const read = () => bench.read(gateway, id);
const fail = () => bench.report(gateway, id, { kind: "exited", exitCode: 1, signal: null });

/** Lets the main process fail; how long the gateway waits for its next launch, to a hundred milliseconds. */
async function failAndWait(): Promise<number> {
  const { run } = await read();
  await fail();
  for (let waited = 0; waited <= 400_000; waited += 100) {
    if ((await read()).run > run) return waited;
    await bench.pass(100);
  }
  throw new Error("never launched again");
}

describe("an automatic restart", () => {
  it("comes at once, then after waits that double up to three minutes", async () => {
    const waits: number[] = [];
    for (let failure = 0; failure < 11; failure += 1) {
      await bench.becomeReady(gateway, id);
      waits.push(await failAndWait());
    }
    const [first = 0, ...later] = waits;
    expect(first).toBeLessThanOrEqual(500);
    for (const [index, wait] of later.entries()) {
      const planned = Math.min(1000 * 2 ** index, 180_000);
      expect(wait, `wait ${index}`).toBeGreaterThanOrEqual(planned - 100);
      expect(wait, `wait ${index}`).toBeLessThanOrEqual(planned + 2500);
    }
    expect(await read()).toMatchObject({ restarts: 11, attemptNumber: 12 });
  });

  it("is counted anew after a run that lasted", async () => {
    for (let failure = 0; failure < 3; failure += 1) {
      await bench.becomeReady(gateway, id);
      await failAndWait();
    }
    expect((await read()).restarts).toBe(3);
    await bench.becomeReady(gateway, id);
    await bench.pass(10_000);
    await fail();
    expect(await read()).toMatchObject({ restarts: 1 });
  });

  it("follows the loss of an admitted supervisor only where the policy says so", async () => {
    await bench.becomeReady(gateway, id);
    bench.driver.running.get(id)!.gone();
    await bench.pass(3000);
    expect(await read()).toMatchObject({ phase: "Starting", attemptNumber: 2, restarts: 1 });
    await bench.kill(gateway);
    gateway = await bench.gateway("two");
    const other = await gateway.create({ ...bench.request, name: "other" });
    await bench.settle();
    await bench.becomeReady(gateway, other.record.id);
    bench.driver.running.get(other.record.id)!.gone();
    await bench.pass(60_000);
    expect(await bench.read(gateway, other.record.id)).toMatchObject({
      phase: "Error",
      reason: "LocalSupervisorLost",
      attemptNumber: 1,
    });
  });

  it("never replays what completed, and follows no timeout", async () => {
    await bench.becomeReady(gateway, id);
    await bench.report(gateway, id, { kind: "exited", exitCode: 0, signal: null });
    await bench.pass(60_000);
    expect(await read()).toMatchObject({ phase: "Completed", attemptNumber: 1 });
    await gateway.startSandbox(id);
    await bench.settle();
    await bench.pass(13_000);
    expect(await read()).toMatchObject({ phase: "Error", reason: "ImagePreparationTimedOut" });
    await bench.pass(60_000);
    expect(await read()).toMatchObject({ phase: "Error", attemptNumber: 2 });
  });

  it("is called off by a stop, also by one that finds nothing to stop", async () => {
    for (let failure = 0; failure < 2; failure += 1) {
      await bench.becomeReady(gateway, id);
      await fail();
    }
    expect(await read()).toMatchObject({ phase: "Starting", reason: "MainProcessRestartBackoff" });
    const { run } = await read();
    await gateway.stopSandbox(id);
    await bench.pass(300_000);
    expect(await read()).toMatchObject({ phase: "Stopped", run, restartAt: null });
  });

  it("does not wait when a user asks for the start", async () => {
    for (let failure = 0; failure < 4; failure += 1) {
      await bench.becomeReady(gateway, id);
      if (failure < 3) await failAndWait();
      else await fail();
    }
    const { run } = await read();
    expect((await gateway.startSandbox(id)).result).toEqual({ ok: true, changed: true });
    await bench.settle();
    expect(await read()).toMatchObject({ run: run + 1 });
  });

  it("that waits survives the gateway", async () => {
    for (let failure = 0; failure < 2; failure += 1) {
      await bench.becomeReady(gateway, id);
      await fail();
    }
    const { restartAt, run } = await read();
    expect(restartAt).not.toBeNull();
    await bench.kill(gateway);
    gateway = await bench.gateway("one", { policy: { restartOn: ["MainProcessFailed"] } });
    expect(await read()).toMatchObject({ phase: "Starting", run, restartAt });
    await bench.pass(3000);
    expect(await read()).toMatchObject({ phase: "Starting", run: run + 1, restartAt: null });
  });
});
