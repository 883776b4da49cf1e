import { describe, expect, it } from "vitest";
import { plan, start } from "../../test/deadline/live-deadline.js";
import { TimerQueue } from "../clock/index.js";
import { VirtualClock } from "../testing/index.js";
import { DeadlineExpiredError } from "./deadline-errors.js";
import { PhasedDeadline } from "./phased-deadline.js";
import type { DeadlineState } from "./state.js";

describe("a live deadline", () => {
  it("aborts its signal with the expiry, the cancellation, and not with the completion", () => {
    const expired = start();
    const { signal } = expired.deadline;
    expect(signal.aborted).toBe(false);
    expired.clock.advance(60_000);
    expect(signal.reason).toBeInstanceOf(DeadlineExpiredError);
    expect(signal.reason).toMatchObject({
      attempt: "a1",
      expiry: { limitedBy: "stall" },
      code: "DEADLINE_EXPIRED",
    });
    const cancelled = start();
    const before = cancelled.deadline.signal;
    cancelled.deadline.cancel("user stop");
    expect(before.reason).toBe("user stop");
    expect(PhasedDeadline.restore(cancelled.deadline.state, { clock: cancelled.clock }).signal.reason).toBe(
      "user stop",
    );
    const completed = start();
    completed.deadline.enter("admit");
    completed.deadline.complete();
    expect(completed.deadline.signal.aborted).toBe(false);
  });

  it("restores an expired attempt aborted, and announces nothing a second time", () => {
    const { clock, deadline } = start();
    clock.advance(60_000);
    const events: string[] = [];
    const again = PhasedDeadline.restore(deadline.state, { clock });
    for (const event of ["expired", "settled", "change"] as const) again.on(event, () => events.push(event));
    expect(again.signal.aborted).toBe(true);
    expect(again.remainingMs()).toBe(0);
    clock.advance(60_000);
    expect(events).toEqual([]);
  });

  it("announces an expiry that happened while nobody ran", () => {
    const { clock, deadline } = start();
    const saved = deadline.state;
    clock.restart(100_000);
    const events: string[] = [];
    const again = PhasedDeadline.restore(saved, { clock }).on("expired", ({ at }) =>
      events.push(`expired ${at}`),
    );
    again.on("change", ({ version }) => events.push(`change ${version}`));
    clock.advance(2);
    expect(events).toEqual([`expired ${saved.startedAt + 20_000}`, "change 2"]);
  });

  it("keeps what was left under a clock that was set back, and says that it is to be written", () => {
    const { clock, deadline } = start({ observe: true });
    deadline.progress({ position: 1 });
    clock.advance(10_500);
    const saved = JSON.parse(JSON.stringify(deadline.state)) as DeadlineState;
    expect(saved.observedAt).toBeGreaterThanOrEqual(clock.now() - 5001);
    clock.stepWall(-3_600_000);
    clock.restart();
    const again = PhasedDeadline.restore(saved, { clock });
    const changes: number[] = [];
    again.on("change", ({ version }) => changes.push(version));
    expect(again.remainingMs()).toBeLessThanOrEqual(20_000 - 10_500 + 5001);
    clock.advance(1);
    expect(changes).toEqual([saved.version + 1]);
    clock.advance(20_000 - 10_500 + 5000);
    expect(again.state.expiry?.limitedBy).toBe("stall");
    const load = PhasedDeadline.restore(saved, { clock, rebase: false });
    expect(load.state.startedAt).toBe(saved.startedAt);
  });

  it("expires for whoever looks first, without its alarm", () => {
    const { clock, deadline, events } = start({
      timers: new TimerQueue({ now: () => 0, schedule: () => ({ [Symbol.dispose]: () => {} }) }),
    });
    clock.advance(20_000);
    expect(deadline.remainingMs()).toBe(0);
    expect(events).toEqual(["expired stall", "settled expired", "change 2"]);
    expect(deadline.progress({ position: 1 })).toEqual({ applied: false, why: "settled", changed: false });
  });

  it("answers for every event, with its own token", () => {
    const { clock, deadline } = start();
    expect(deadline.change({ generation: 2 })).toMatchObject({ renewed: false });
    expect(deadline.pause()).toMatchObject({ applied: true });
    clock.advance(100_000);
    expect(deadline.resume()).toMatchObject({ applied: true });
    expect(deadline.pause(1)).toMatchObject({ why: "duplicate" });
    expect(deadline.tick()).toEqual({ applied: true, changed: false });
    expect(deadline.apply({ type: "complete", attempt: "other" })).toMatchObject({ why: "stale-attempt" });
    expect(deadline.cancel("stop")).toMatchObject({ applied: true });
    expect(deadline.claimCleanup("g")).toMatchObject({ claim: 1 });
    expect(deadline.cleanupDone({ claim: 1, ok: false, error: "busy" })).toMatchObject({ applied: true });
    expect(deadline.waiveCleanup("ops", "gone")).toMatchObject({ applied: true });
    expect(deadline.state.cleanup).toMatchObject({ status: "waived", error: "busy" });
  });

  it("lets out held-back progress when it is disposed, and is silent afterwards", () => {
    const { clock, deadline, events } = start();
    deadline.progress({ position: 1 });
    deadline.progress({ position: 2 });
    deadline[Symbol.dispose]();
    deadline[Symbol.dispose]();
    expect(events.filter((event) => event.startsWith("change"))).toEqual(["change 2", "change 3"]);
    expect(clock.timers).toBe(0);
    deadline.enter("admit");
    expect(events.at(-1)).toBe("change 3");
  });

  it("counts a second pause and its end above those that it knows of", () => {
    const { deadline } = start();
    for (const seq of [1, 2, 3, 4]) {
      if (seq % 2 === 1) deadline.pause();
      else deadline.resume();
      expect(deadline.state.pauseSeq).toBe(seq);
    }
  });

  it("keeps 1000 deadlines on one host timer", () => {
    const clock = new VirtualClock();
    const all = Array.from({ length: 1000 }, (_, index) =>
      PhasedDeadline.start(plan, { attempt: `a${index}`, clock }),
    );
    expect(clock.timers).toBe(1);
    for (const deadline of all) deadline.enter("admit");
    clock.advance(30_000);
    expect(all.every((deadline) => deadline.state.status === "expired")).toBe(true);
    expect(clock.timers).toBe(0);
  });
});
