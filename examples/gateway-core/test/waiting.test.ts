import { readDeadline } from "slipway";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newRecord } from "../src/decide/attempt.js";
import { recordLaunched } from "../src/decide/driver-report.js";
import { recordProgress } from "../src/decide/progress-report.js";
import { withWaiting } from "../src/decide/waiting.js";
import type { DriverProgress } from "../src/driver/driver.js";
import { planFor } from "../src/gateway/budgets.js";
import type { Gateway } from "../src/gateway/gateway.js";
import { decodeRecord } from "../src/record/record-schema.js";
import type { SandboxRecord } from "../src/record/record.js";
import { Bench, BUDGETS } from "./bench.js";
import { NOW, recordWith } from "./records.js";
import { imageReport } from "./step-reports.js";

/** One's own budget, and as much again for another sandbox's. */
const CEILING_MS = 2 * BUDGETS.preparationMs;

let bench: Bench;
let gateway: Gateway;
let id: string;
let createdAt: number;

beforeEach(async () => {
  bench = await Bench.open();
  gateway = await bench.gateway();
  createdAt = bench.clock.now();
  id = await bench.create(gateway);
});

afterEach(() => bench.close());

const waiting = (position: number, done?: boolean): DriverProgress =>
  imageReport(position, { step: "image-wait", label: "Waited for image", waiting: true, done });

async function say(progress: DriverProgress): Promise<void> {
  const launch = bench.driver.launches.findLast(({ request }) => request.sandbox.id === id);
  launch!.context.report(progress);
  await bench.settle();
}

async function deadline(of = gateway) {
  const { deadline: state } = await bench.read(of, id);
  return readDeadline(state!, bench.clock.now());
}

/** How much of the budget is left, be it running or not. */
async function budgetLeft(of = gateway): Promise<number> {
  const { paused, pausedBudgetMs, bounds } = await deadline(of);
  return paused ? pausedBudgetMs! : bounds.budget! - bench.clock.now();
}

describe("waiting for somebody else's work", () => {
  it("eats neither the budget nor the stall limit, and shows as a step of its own", async () => {
    await bench.pass(2000);
    await say(waiting(0));
    const left = await budgetLeft();
    // Longer than the stall limit, and than the whole budget.
    await bench.pass(BUDGETS.preparationMs + 20_000);
    expect(await budgetLeft()).toBe(left);
    expect(await deadline()).toMatchObject({ status: "active", limitedBy: "phase-ceiling" });
    const { steps } = await bench.read(gateway, id);
    expect(
      steps.steps.map(({ step, startedAt, finishedAt }) => [step, startedAt !== null, finishedAt]),
    ).toEqual([
      ["image-wait", true, null],
      ["image", false, null],
    ]);
    await say(waiting(0, true));
    expect(await budgetLeft()).toBe(left);
    await bench.pass(BUDGETS.stallMs! - 1000);
    expect(await deadline()).toMatchObject({ status: "active", limitedBy: "stall" });
    await bench.pass(1000);
    expect(await deadline()).toMatchObject({ status: "expired" });
  });

  it("ends with the first report of work of one's own, which has what was left", async () => {
    await bench.pass(2000);
    await say(waiting(0));
    const left = await budgetLeft();
    await bench.pass(50_000);
    await say(imageReport(10));
    await bench.pass(5000);
    expect(await budgetLeft()).toBe(left - 5000);
    await say(imageReport(20));
    await bench.pass(5000);
    expect(await deadline()).toMatchObject({ status: "active", limitedBy: "stall" });
  });

  it("is bounded by the ceiling of preparation, and not moved by it", async () => {
    await say(waiting(0));
    expect((await deadline()).deadlineAt).toBe(createdAt + CEILING_MS);
    for (let position = 1; position < 4; position += 1) {
      await bench.pass(BUDGETS.preparationMs / 2);
      await say(waiting(position));
    }
    expect(await deadline()).toMatchObject({ status: "active", deadlineAt: createdAt + CEILING_MS });
    await bench.pass(createdAt + CEILING_MS - bench.clock.now());
    const { deadline: state, phase, reason } = await bench.read(gateway, id);
    expect([phase, reason]).toEqual(["Error", "ImagePreparationTimedOut"]);
    expect(state?.expiry).toMatchObject({ limitedBy: "phase-ceiling", at: createdAt + CEILING_MS });
    expect(state?.expiry?.message).toMatch(/^preparation did not finish within its ceiling of 360 s/);
  });

  it("as long as may be, before a preparation as long as may be, leaves admission all of its windows", async () => {
    await say(waiting(0));
    // One whole preparation of another sandbox, and then one of one's own.
    await bench.pass(BUDGETS.preparationMs - 1000);
    await say(waiting(1, true));
    const left = await budgetLeft();
    for (let position = 1; (await budgetLeft()) > 1000; position += 1) {
      await say(imageReport(position));
      await bench.pass(Math.min((await budgetLeft()) - 500, BUDGETS.stallMs! - 1000));
    }
    expect(left).toBe(BUDGETS.preparationMs);
    bench.driver.launches.at(-1)!.succeed();
    await bench.settle();
    await bench.report(gateway, id, { kind: "rejected", generation: 1, reason: "Invalid", message: "no" });
    const { bounds } = await deadline();
    const enteredAt = bench.clock.now();
    expect(bounds.budget).toBe(enteredAt + BUDGETS.admissionMs);
    expect(bounds["phase-ceiling"]).toBe(enteredAt + BUDGETS.admissionCeilingMs);
    expect(bounds["attempt-ceiling"]).toBeGreaterThanOrEqual(bounds["phase-ceiling"]!);
  });

  it("has the room that the gateway gives it, and then the work is on what is left of that", async () => {
    await bench.kill(gateway);
    const budgets = { ...BUDGETS, waitMs: 1000 };
    const narrow = await bench.gateway("narrow", { budgets });
    const startedAt = bench.clock.now();
    id = (await narrow.create({ ...bench.request, name: "narrow" })).record.id;
    await bench.settle();
    await say(waiting(0));
    const ceiling = startedAt + BUDGETS.preparationMs + 1000;
    expect(await deadline(narrow)).toMatchObject({ paused: true, deadlineAt: ceiling });
    await bench.pass(3000);
    await say(waiting(0, true));
    const { bounds } = await deadline(narrow);
    expect(bounds.budget).toBe(startedAt + BUDGETS.preparationMs + 3000);
    expect(bounds["phase-ceiling"]).toBe(ceiling);
  });

  it("of an attempt from before there was room for it goes by that attempt's plan", () => {
    const [preparation, admission] = planFor(BUDGETS, {}).phases;
    const unbounded = { ...preparation!, ceilingMs: undefined };
    const ceilingMs = BUDGETS.preparationMs + BUDGETS.admissionCeilingMs;
    const plan = { ...planFor(BUDGETS, {}), phases: [unbounded, admission!], ceilingMs };
    const sandbox = { ...recordWith(), policy: { version: 1 } };
    const old = newRecord(sandbox, { plan, token: "token-1" }, NOW);
    const read = decodeRecord(old.id, JSON.parse(JSON.stringify(old)));
    const { deadline } = withWaiting(read, true, NOW + 1000);
    expect(readDeadline(deadline!, NOW + 1000)).toMatchObject({
      paused: true,
      limitedBy: "attempt-ceiling",
      deadlineAt: NOW + ceilingMs,
    });
  });

  it("is one pause, however often it is reported, and what repeats moves nothing", async () => {
    await say(waiting(0));
    const paused = (await bench.read(gateway, id)).deadline;
    await say(waiting(0));
    expect((await bench.read(gateway, id)).deadline).toEqual(paused);
    await bench.pass(1000);
    await say(waiting(4));
    const moved = (await bench.read(gateway, id)).deadline;
    expect(moved).toMatchObject({ pausedAt: paused?.pausedAt, pauseSeq: paused?.pauseSeq });
  });

  it("a gateway that is killed in the middle of it: the next one waits anew, on the same ceiling and what was left", async () => {
    await bench.pass(2000);
    await say(waiting(0));
    const left = await budgetLeft();
    await bench.kill(gateway);
    bench.clock.suspend(60_000);
    const next = await bench.gateway("two");
    await bench.pass(3000);
    expect(bench.driver.launches).toHaveLength(2);
    // Nobody waits until the driver says so again: what it does until then is its own.
    const launchedAt = (await bench.read(next, id)).instance!.startedAt;
    expect(await deadline(next)).toMatchObject({ paused: false });
    expect(await budgetLeft(next)).toBe(left - (bench.clock.now() - launchedAt));
    const running = await budgetLeft(next);
    await say(waiting(0));
    await bench.pass(30_000);
    expect(await deadline(next)).toMatchObject({ paused: true, deadlineAt: createdAt + CEILING_MS });
    expect(await budgetLeft(next)).toBe(running);
  });

  it("is not waited for by nobody: found without its launch it runs again, and stalls, long before the ceiling", async () => {
    await say(waiting(0));
    await bench.kill(gateway);
    bench.clock.suspend(60_000);
    // The one that comes next cannot find out what became of the launch.
    bench.driver.onObserve = () => Promise.reject(new Error("the engine is away"));
    const next = await bench.gateway("two");
    expect(await deadline(next)).toMatchObject({ paused: false });
    await bench.pass(BUDGETS.stallMs!);
    expect(await deadline(next)).toMatchObject({ status: "expired", limitedBy: "stall" });
    // Written with the next sweep, for the sandbox is looked at again and again meanwhile.
    await bench.pass(10_000);
    expect(await bench.read(next, id)).toMatchObject({ phase: "Error", reason: "ImagePreparationTimedOut" });
  });

  it("does not begin with the late word of a launch that has ended, or of one that has started its work", async () => {
    await bench.pass(1000);
    bench.driver.launches.at(-1)!.succeed();
    await bench.settle();
    await say(waiting(1));
    expect(await deadline()).toMatchObject({ paused: false });
  });

  it("does not begin with the late word of a launch that has failed, before the next try or during it", async () => {
    const failed = bench.driver.launches.at(-1)!;
    await bench.pass(1000);
    failed.fail(new Error("the lock's file is gone"));
    await bench.settle();
    const left = await budgetLeft();
    failed.context.report(waiting(1));
    await bench.settle();
    expect(await deadline()).toMatchObject({ paused: false, status: "active" });
    await bench.pass(400);
    expect(await budgetLeft()).toBe(left - 400);
    await bench.pass(600);
    expect(bench.driver.launches).toHaveLength(2);
    failed.context.report(waiting(2));
    await bench.settle();
    expect(await deadline()).toMatchObject({ paused: false, status: "active" });
    // The one that is at work now may still wait.
    await say(waiting(0));
    expect(await deadline()).toMatchObject({ paused: true });
  });

  it("begins with the word of the run that is launching only, whatever the record has of it", () => {
    const { deadline: state, ...others } = recordWith();
    const attempt = state!.attempt;
    const launching = { id: "sb-2", run: 2, handle: null, startedAt: NOW, launchedAt: null };
    const records: readonly (readonly [SandboxRecord, boolean])[] = [
      [{ ...others, deadline: state, run: 2, instance: launching }, true],
      [{ ...others, deadline: state, run: 2, instance: null }, false],
      [{ ...others, deadline: state, run: 2, instance: { ...launching, launchedAt: NOW } }, false],
      [{ ...others, deadline: state, run: 2, instance: { ...launching, run: 1 } }, false],
    ];
    for (const [record, begins] of records) {
      const told = recordProgress(record, { attempt, run: 2, progress: waiting(1) }, state!.startedAt + 1000);
      expect(told.record.deadline?.pausedAt !== null).toBe(begins);
    }
  });

  it("is not ended by an earlier run that says it has started", async () => {
    await say(waiting(0));
    const record = await bench.read(gateway, id);
    const later = { ...record, run: 2, instance: { ...record.instance!, run: 2 } };
    const told = recordLaunched(later, { run: 1, handle: null }, bench.clock.now());
    expect(told.result).toBe(false);
    expect(told.record.deadline?.pausedAt).toBe(record.deadline?.pausedAt);
  });

  it("is over when the driver gives up, and the pause before the next try is on the budget", async () => {
    await say(waiting(0));
    const left = await budgetLeft();
    await bench.pass(10_000);
    bench.driver.launches.at(-1)!.fail(new Error("the lock's file is gone"));
    await bench.settle();
    expect(await deadline()).toMatchObject({ paused: false });
    expect(await budgetLeft()).toBe(left);
    await bench.pass(400);
    expect(await budgetLeft()).toBe(left - 400);
  });

  it("is over with the supervisor's first report, and takes nothing from admission", async () => {
    await say(waiting(0));
    await bench.pass(10_000);
    bench.driver.launches.at(-1)!.succeed();
    await bench.settle();
    await bench.report(gateway, id, { kind: "rejected", generation: 1, reason: "Invalid", message: "no" });
    const enteredAt = bench.clock.now();
    await say(waiting(5));
    expect(await deadline()).toMatchObject({ phase: "admission", paused: false });
    expect((await deadline()).deadlineAt).toBe(enteredAt + BUDGETS.admissionMs);
  });
});
