import type { Hono } from "hono";
import { readDeadline } from "slipway";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SupervisorReport } from "../src/decide/supervisor-report.js";
import type { Gateway } from "../src/gateway/gateway.js";
import { buildApp } from "../src/http/app.js";
import { HELD_HEADER, REMAINING_HEADER, VERSION_HEADER } from "../src/http/supervisor-routes.js";
import { Bench, BUDGETS } from "./bench.js";
import { claimOf } from "./claims.js";

let bench: Bench;
let gateway: Gateway;
let app: Hono;
let id: string;

beforeEach(async () => {
  bench = await Bench.open();
  gateway = await bench.gateway();
  app = buildApp({ gateway, log: () => undefined });
  id = await bench.create(gateway);
});

afterEach(() => bench.close());

const read = () => bench.read(gateway, id);

/** Asks as the supervisor of the current attempt and run, over HTTP. */
async function ask(method: string, path: string, body?: unknown, as: Record<string, string> = {}) {
  const record = await read();
  const headers = {
    authorization: `Bearer ${record.deadline?.attempt ?? ""}`,
    "x-slipway-run": String(record.run),
    ...as,
  };
  const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
  const response = await app.request(`/v1/supervisor/${id}/${path}`, init);
  await bench.settle();
  const answer = (await response.json()) as { error?: { code: string }; swapped?: boolean; entry?: unknown };
  return { status: response.status, remaining: response.headers.get("x-slipway-remaining-ms"), ...answer };
}

const report = (body: SupervisorReport) => ask("POST", "report", body);
const entryNow = async () => (await ask("GET", "activation")).entry;
const swap = (expectedVersion: number | null, next: unknown) =>
  ask("POST", "activation", { expectedVersion, next });
const accepted: SupervisorReport = { kind: "accepted", generation: 1 };
const claim = (name = "a") => claimOf(name, 1);
const started = (name = "a") => ({ ...claim(name), state: "active", version: claim(name).version + 1 });

async function launch(): Promise<void> {
  bench.driver.launches.at(-1)?.succeed();
  await bench.settle();
}

describe("the ledger over HTTP", () => {
  it("is claimed once after admission, and then said to be active", async () => {
    expect(await ask("GET", "activation")).toMatchObject({ status: 200, entry: null });
    expect(await swap(null, claim())).toMatchObject({ status: 409, error: { code: "not-activated" } });
    await report(accepted);
    expect(await swap(null, claim())).toMatchObject({ status: 200, swapped: true });
    expect(await swap(null, claim("b"))).toMatchObject({ status: 200, swapped: false });
    expect(await swap(7, { ...started(), version: 8 })).toMatchObject({ swapped: false });
    expect(await swap(claim().version, started())).toMatchObject({ swapped: true });
    expect(await swap(7, null)).toMatchObject({ swapped: false });
    expect(await entryNow()).toMatchObject({
      state: "active",
      claim: "a",
      version: started().version,
      at: bench.clock.now(),
    });
  });

  it("tells the one deadline with every answer", async () => {
    expect((await report(accepted)).remaining).toBe(String(BUDGETS.admissionMs));
    await bench.pass(1000);
    expect((await ask("GET", "activation")).remaining).toBe(String(BUDGETS.admissionMs - 1000));
    expect((await ask("GET", "configuration")).remaining).toBe(String(BUDGETS.admissionMs - 1000));
    expect((await report({ kind: "ready", generation: 1 })).remaining).toBeNull();
  });

  it("tells for how long it held a question, which is no time that is left of the deadline", async () => {
    await report(accepted);
    const { deadline, run } = await read();
    const headers = { authorization: `Bearer ${deadline?.attempt ?? ""}`, "x-slipway-run": String(run) };
    const asked = app.request(`/v1/supervisor/${id}/configuration?after=1&waitMs=5000`, { headers });
    await bench.pass(5000);
    const response = await asked;
    expect(response.status).toBe(204);
    expect(response.headers.get(REMAINING_HEADER)).toBe(String(BUDGETS.admissionMs - 5000));
    expect(response.headers.get(HELD_HEADER)).toBe("5000");
    expect(response.headers.get(VERSION_HEADER)).toBe(String((await read()).deadline?.version));
  });

  it("takes nothing from anybody else", async () => {
    await report(accepted);
    const strangers = [{ authorization: "Bearer guess" }, { authorization: "" }];
    for (const as of strangers) {
      expect(await ask("GET", "activation", undefined, as)).toMatchObject({ status: 401 });
      const body = { expectedVersion: null, next: claim() };
      expect(await ask("POST", "activation", body, as)).toMatchObject({ status: 401 });
    }
    const staleRun = { "x-slipway-run": "7" };
    expect(await ask("GET", "activation", undefined, staleRun)).toMatchObject({
      error: { code: "stale-run" },
    });
    expect(await entryNow()).toBeNull();
  });

  it.each([
    ["a stop", null, { ...claim(), state: "stopped" }],
    ["an end", null, { ...claim(), state: "completed" }],
    ["a start without a claim", null, { ...claim(), state: "active" }],
    ["a claim of nobody", null, { ...claim(), claim: null }],
    ["a version of its own choice", null, { ...claim(), version: 5 }],
    ["another claim's version", null, { ...claim(), version: claim("b").version }],
    ["a second claim", claim().version, { ...claim(), version: claim().version + 1 }],
  ])("refuses %s from a supervisor", async (_what, expectedVersion, next) => {
    await report(accepted);
    expect(await swap(expectedVersion, next)).toMatchObject({ status: 409, error: { code: "not-allowed" } });
    expect(await entryNow()).toBeNull();
  });

  it("refuses another's claim to be started, and what is active to be given back", async () => {
    await report(accepted);
    await swap(null, claim());
    expect(await swap(claim().version, { ...started(), claim: "b" })).toMatchObject({
      error: { code: "not-allowed" },
    });
    await swap(claim().version, started());
    expect(await swap(started().version, null)).toMatchObject({ error: { code: "not-allowed" } });
    expect(await entryNow()).toMatchObject({ state: "active" });
  });

  it("lets a claim that started nothing be given back", async () => {
    await report(accepted);
    await swap(null, claim());
    expect(await swap(claim().version, null)).toMatchObject({ swapped: true });
    expect(await swap(null, claim("b"))).toMatchObject({ swapped: true });
    // The same message once more, from a line that repeats: it is about a claim that is gone.
    expect(await swap(claim().version, null)).toMatchObject({ swapped: false });
    expect(await entryNow()).toMatchObject({ claim: "b" });
  });

  it.each([
    ["state", { ...claim(), state: "napping" }],
    ["version", { ...claim(), version: 0 }],
    ["claim", { ...claim(), claim: "x".repeat(200) }],
    ["extra", { ...claim(), extra: 1 }],
  ])("names the field of bad input: %s", async (field, next) => {
    expect(await swap(null, next)).toMatchObject({ status: 400, error: { field: `next.${field}` } });
  });
});

describe("of a stop and a start one wins", () => {
  it("the stop that comes first", async () => {
    await report(accepted);
    const record = await read();
    await gateway.stopSandbox(id);
    expect(await gateway.activations.read(record)).toMatchObject({ state: "stopped", claim: null });
    expect(await swap(null, claim())).toMatchObject({ error: { code: "settled" } });
  });

  it("the start that comes first, which is then told that it was stopped", async () => {
    await launch();
    await report(accepted);
    await swap(null, claim());
    const record = await read();
    await gateway.stopSandbox(id);
    expect(await gateway.activations.read(record)).toMatchObject({ state: "stopped", claim: "a" });
    await bench.settle();
    expect(await read()).toMatchObject({ phase: "Stopped" });
  });

  it("an expiry that nobody has written down yet refuses the claim", async () => {
    await report(accepted);
    const early = bench.clock.now();
    bench.clock.advance(BUDGETS.admissionMs - 1);
    expect(bench.clock.now()).toBeGreaterThan(early);
    const record = await read();
    bench.clock.advance(1);
    expect(record.deadline?.status).toBe("active");
    expect(await swap(null, claim())).toMatchObject({ error: { code: "expired" } });
  });
});

describe("what was started is on record", () => {
  it("an end of the main process completes its instance, and a later start is another instance", async () => {
    await launch();
    await report(accepted);
    await swap(null, claim());
    await swap(claim().version, started());
    await report({ kind: "ready", generation: 1 });
    const before = await read();
    await report({ kind: "exited", exitCode: 0, signal: null });
    expect(await gateway.activations.read(before)).toMatchObject({ state: "completed" });
    await gateway.startSandbox(id);
    await bench.settle();
    const after = await read();
    expect(after.instance?.id).not.toBe(before.instance?.id);
    expect(await gateway.activations.read(after)).toBeNull();
  });

  it("a supervisor that is gone in the middle of a start leaves it uncertain, and nothing repeats it", async () => {
    await launch();
    await report(accepted);
    await swap(null, claim());
    const launches = bench.driver.launches.length;
    bench.driver.running.get(id)?.gone();
    await bench.pass(5000);
    expect(await read()).toMatchObject({ phase: "Error", reason: "LocalActivationUncertain" });
    await bench.pass(60_000);
    expect(bench.driver.launches).toHaveLength(launches);
  });

  it("deleting a sandbox takes its entries along", async () => {
    await launch();
    await report(accepted);
    await swap(null, claim());
    const record = await read();
    await gateway.deleteSandbox(id);
    await bench.pass(1000);
    expect(await gateway.records.read(id)).toBeNull();
    expect(await gateway.activations.read(record)).toBeNull();
  });
});

describe("a bootstrap that failed for good", () => {
  const failure: SupervisorReport = {
    kind: "bootstrap-failed",
    reason: "BootstrapFailed",
    message: "policy: the failure is permanent",
    cause: { reason: "HTTP_403", message: "refused" },
  };

  it("is Error at once, is cleaned up, and is left by an explicit start with a new attempt and deadline", async () => {
    await launch();
    await report({
      kind: "bootstrap",
      succeeded: false,
      reason: "BootstrapInProgress",
      message: "policy: waits",
    });
    const before = await read();
    expect(before.deadline?.phase).toBe("admission");
    expect(before.conditions.find(({ type }) => type === "Bootstrapped")).toMatchObject({
      status: "False",
      reason: "BootstrapInProgress",
    });
    expect((await report(failure)).status).toBe(200);
    await bench.settle();
    const failed = await read();
    expect(failed).toMatchObject({ phase: "Error", reason: "BootstrapFailed", activatedRun: null });
    expect(failed.conditions.find(({ type }) => type === "Bootstrapped")).toMatchObject({
      reason: "BootstrapFailed",
      cause: { reason: "HTTP_403" },
    });
    await bench.pass(60_000);
    expect(failed.deadline?.cleanup.status).not.toBe("none");
    expect(await read()).toMatchObject({ phase: "Error", attemptNumber: 1 });

    expect((await gateway.startSandbox(id)).result).toEqual({ ok: true, changed: true });
    await bench.settle();
    const recovered = await read();
    expect(recovered).toMatchObject({ id, phase: "Starting", attemptNumber: 2 });
    expect(recovered.deadline?.attempt).not.toBe(failed.deadline?.attempt);
    expect(recovered.deadline && readDeadline(recovered.deadline, bench.clock.now())).toMatchObject({
      status: "active",
      remainingMs: BUDGETS.stallMs,
    });
    await launch();
    await report(accepted);
    await swap(null, claim("second"));
    await swap(claim("second").version, started("second"));
    await report({ kind: "ready", generation: 1 });
    expect(await read()).toMatchObject({ phase: "Ready", id });
  });

  it("is not taken from a supervisor whose workload runs", async () => {
    await launch();
    await report(accepted);
    await report({ kind: "ready", generation: 1 });
    expect(await report(failure)).toMatchObject({ error: { code: "settled" } });
    await report({ kind: "enforcement-lost", message: "SIGKILL" });
    const { phase, conditions } = await read();
    expect(phase).toBe("Ready");
    expect(conditions.find(({ type }) => type === "LocalEnforced")).toMatchObject({
      status: "False",
      reason: "LocalEnforcementLost",
    });
  });
});
