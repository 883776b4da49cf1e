import { expect, it } from "vitest";
import { InMemoryActivationLedger, VirtualClock } from "../../testing/index.js";
import { exponentialBackoff } from "../backoff.js";
import { BootstrapRetrier } from "../bootstrap-retrier.js";
import { decodeRetrySnapshot, type RetrySnapshot } from "../snapshot.js";
import { bootstrapSequence } from "./bootstrap-sequence.js";

const refused = (): Error => Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });

const unauthenticated = (): Error => Object.assign(new Error("401"), { status: 401 });

interface Limits {
  readonly budgetMs?: number;
  readonly maxAttempts?: number;
}

function setUp(restore?: RetrySnapshot) {
  const clock = new VirtualClock();
  const backoff = exponentialBackoff({ jitter: "none" });
  const retrier = new BootstrapRetrier({ clock, backoff, restore });
  const ran: string[] = [];
  const step = (name: string) => ({ name, run: () => void ran.push(name) });
  const sequence = {
    instanceId: "i-1",
    steps: [step("policy"), step("enforcement")],
    activate: () => void ran.push("activate"),
    ledger: new InMemoryActivationLedger(),
    retrier,
  };
  return { clock, retrier, ran, sequence };
}

it("tells of one success, when all of a bootstrap succeeded", async () => {
  const { retrier, ran, sequence } = setUp();
  const told: string[] = [];
  retrier.on("settled", ({ state }) => told.push(`${state} after ${ran.join(" ")}`));
  retrier.on("change", () => told.push(retrier.toCondition().reason));
  await bootstrapSequence(sequence);
  expect(told.at(-2)).toBe("succeeded after policy enforcement activate");
  expect(told.filter((text) => text.startsWith("succeeded"))).toHaveLength(1);
  expect(told.indexOf("BootstrapSucceeded")).toBe(told.length - 1);
  expect(retrier.toCondition()).toMatchObject({ status: "True", reason: "BootstrapSucceeded" });
});

it("can be gone on with from every snapshot that was taken meanwhile", async () => {
  const { retrier, sequence } = setUp();
  const taken: RetrySnapshot[] = [];
  const take = (): void =>
    void taken.push(decodeRetrySnapshot(JSON.parse(JSON.stringify(retrier.snapshot()))));
  retrier.on("change", take);
  const activate = (): void => take();
  const steps = sequence.steps.map(({ name, run }) => ({
    name,
    run: () => {
      take();
      run();
      take();
    },
  }));
  await bootstrapSequence({ ...sequence, steps, activate });
  taken.pop();
  expect(taken.length).toBeGreaterThan(6);
  for (const snapshot of taken) {
    const again = setUp(snapshot);
    const result = bootstrapSequence(again.sequence);
    await again.clock.advanceAsync(60_000);
    expect(await result).toMatchObject({ outcome: "activated" });
    expect(again.ran).toEqual(["policy", "enforcement", "activate"]);
  }
});

it("goes on from the success of a step that an earlier release stored", async () => {
  const { retrier } = setUp();
  await retrier.run(() => "policy");
  const stored = retrier.snapshot();
  Reflect.deleteProperty(stored, "endedAt");
  expect(stored.state).toBe("succeeded");
  const again = setUp(stored);
  expect(await bootstrapSequence(again.sequence)).toMatchObject({ outcome: "activated" });
});

it("is a run like any other once the sequence is over", async () => {
  const { retrier, sequence } = setUp();
  await bootstrapSequence(sequence);
  expect(retrier.retryNow()).toBe(false);
  expect(await retrier.run(() => "value")).toBe("value");
  expect(retrier.status()).toMatchObject({ state: "succeeded", outcome: "succeeded", attempt: 1 });
});

const endings: [outcome: string, work: () => unknown, limits: Limits][] = [
  ["succeeded", () => "value", {}],
  ["permanent", () => Promise.reject(unauthenticated()), {}],
  ["exhausted", () => Promise.reject(refused()), { maxAttempts: 1 }],
  ["deadline", () => Promise.reject(refused()), { budgetMs: 10 }],
];

it.each(endings)(
  "is told after a restart as it ended: %s",
  async (outcome, work, { budgetMs, ...limits }) => {
    const { clock } = setUp();
    const controller = new AbortController();
    const deadline =
      budgetMs === undefined
        ? undefined
        : { signal: controller.signal, remainingMs: () => budgetMs - (clock.now() % 10) };
    // A wait that fits into the budget would be waited for, and nobody lets the time pass.
    const retrier = new BootstrapRetrier({ clock, deadline, random: () => 0.5, ...limits });
    await retrier.run<unknown>(work).catch(() => undefined);
    const before = retrier.status();
    expect(before.outcome).toBe(outcome);
    clock.advance(60_000);
    const restored = new BootstrapRetrier({ clock, restore: decodeRetrySnapshot(retrier.snapshot()) });
    const { outcome: told, counts, elapsedMs, lastError, nextAttemptAt } = restored.status();
    expect({ told, counts, elapsedMs, nextAttemptAt }).toEqual({
      told: before.outcome,
      counts: before.counts,
      elapsedMs: before.elapsedMs,
      nextAttemptAt: null,
    });
    expect(lastError?.code).toBe(before.lastError?.code);
    expect(restored.toCondition()).toMatchObject({
      reason: retrier.toCondition().reason,
      lastTransitionTime: retrier.toCondition().lastTransitionTime,
    });
    // What is stored again can be read again.
    expect(decodeRetrySnapshot(restored.snapshot())).toEqual(restored.snapshot());
  },
);

it.each([
  ["endedAt", { endedAt: Number.MAX_SAFE_INTEGER }],
  ["outcome", { outcome: "deadline" }],
  ["outcome", { state: "failed", outcome: "tired" }],
])("refuses an end that contradicts the run: %s, %j", async (field, changes) => {
  const { retrier } = setUp();
  await retrier.run(() => "value");
  const stored = { ...retrier.snapshot(), ...changes };
  expect(() => decodeRetrySnapshot(stored)).toThrow(
    expect.objectContaining({ code: "INVALID_STATE", field }),
  );
});

it("has no end when a cancelled run is gone on with", async () => {
  const { clock } = setUp();
  const controller = new AbortController();
  const retrier = new BootstrapRetrier({ clock, signal: controller.signal });
  const run = retrier.run(() => Promise.reject(refused())).catch(() => undefined);
  await clock.advanceAsync(0);
  controller.abort();
  await run;
  const stored = decodeRetrySnapshot(retrier.snapshot());
  expect(stored).toMatchObject({ state: "cancelled", endedAt: clock.now() });
  const restored = new BootstrapRetrier({ clock, restore: stored });
  const again = restored.run(() => "value");
  expect(restored.snapshot()).not.toHaveProperty("endedAt");
  await clock.advanceAsync(60_000);
  expect(await again).toBe("value");
});
