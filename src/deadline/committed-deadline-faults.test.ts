import { describe, expect, it } from "vitest";
import { persisted, plan } from "../../test/deadline/live-deadline.js";
import { applyDeadlineEvent } from "./apply.js";
import type { CommitResult } from "./live-options.js";
import { PhasedDeadline } from "./phased-deadline.js";

describe.each([false, true])("a live deadline whose store refuses or fails, answering later: %s", (late) => {
  const answer = (result: CommitResult): CommitResult | Promise<CommitResult> =>
    late ? Promise.resolve(result) : result;

  it("does not spin on a store that shows an old state for ever", async () => {
    const { clock, deadline } = persisted();
    const { state } = deadline;
    const errors: unknown[] = [];
    let commits = 0;
    const contested = PhasedDeadline.restore(state, {
      clock,
      observe: false,
      onError: (error) => errors.push(error),
      commit: () => {
        commits += 1;
        return answer({ committed: false, current: state });
      },
    });
    await contested.progress({ position: 1 });
    await clock.advanceAsync(500);
    expect(commits).toBeLessThanOrEqual(17);
    expect(errors).toMatchObject([{ code: "COMMIT_FAILED" }]);
    await clock.advanceAsync(3000);
    expect(commits).toBeLessThanOrEqual(17 * 4);
    contested[Symbol.dispose]();
  });

  it("once fenced refuses everything, touches nobody's record, and sleeps", async () => {
    const { clock, store, deadline } = persisted();
    const heard: string[] = [];
    for (const event of ["progress", "phase", "expired", "settled", "change"] as const) {
      deadline.on(event, () => heard.push(event));
    }
    const own = deadline.state;
    const other = PhasedDeadline.start(plan, { attempt: "a2", clock }).state;
    store.late = late;
    store.row = { ...other, version: 1 };
    await deadline.progress({ position: 1 });
    await clock.advanceAsync(1000);
    store.row = { ...other, version: 5 };
    await deadline.enter("admit");
    heard.length = 0;
    const { commits } = store;
    await clock.advanceAsync(300_000);
    const refusals = [
      await deadline.progress({ position: 2 }),
      await deadline.complete(),
      await deadline.tick(),
      await deadline.apply({ type: "enter", attempt: "a2", phase: "admit" }),
    ];
    expect(refusals.every((refusal) => !refusal.applied && refusal.why === "stale-attempt")).toBe(true);
    expect(deadline.state.attempt).toBe(own.attempt);
    expect(heard).toEqual([]);
    expect(store.commits).toBe(commits);
    expect(store.row).toMatchObject({ attempt: "a2", version: 5 });
    expect(clock.timers).toBe(0);
  });

  it("gains no time when the move onto another clock meets another writer", async () => {
    const { clock, store } = persisted();
    store.row = applyDeadlineEvent(store.row!, { type: "tick" }, clock.now() + 10_000).state;
    const saved = store.row;
    clock.advance(10_000);
    clock.stepWall(-3_600_000);
    clock.restart();
    const clamped = { type: "progress", attempt: "a1", phase: "prepare", position: 1 } as const;
    store.row = applyDeadlineEvent(store.row, clamped, clock.now()).state;
    store.late = late;
    const again = PhasedDeadline.restore(saved, { clock, commit: store.commit });
    await clock.advanceAsync(20_001);
    expect(store.row).toMatchObject({ status: "expired", expiry: { limitedBy: "stall" } });
    expect(again.signal.aborted).toBe(true);
  });

  it("does not try for every report while the store is away, and keeps only the latest of them", async () => {
    const { clock, store, deadline, errors } = persisted();
    store.late = late;
    store.fail = true;
    for (let position = 1; position <= 1000; position += 1) {
      await deadline.progress({ step: "pull", position });
      await clock.advanceAsync(1);
    }
    expect(store.commits).toBeLessThanOrEqual(2);
    expect(errors.length).toBeLessThanOrEqual(2);
    store.fail = false;
    await clock.advanceAsync(1001);
    expect(store.row?.marks).toEqual([{ step: "pull", part: null, position: 1000 }]);
  });

  it("fills in what an event leaves out when it is decided, not when it is sent", async () => {
    const { store, deadline } = persisted();
    store.late = late;
    const answers = await Promise.all([
      deadline.pause(),
      deadline.resume(),
      deadline.enter("admit"),
      deadline.progress({ step: "check" }),
    ]);
    expect(answers.map((outcome) => outcome.applied)).toEqual([true, true, true, true]);
    expect(deadline.state).toMatchObject({ pausedAt: null, phase: "admit", marks: [{ step: "check" }] });
  });

  it("does not count a report of one run for the next", async () => {
    const { clock, store, deadline } = persisted();
    store.late = late;
    await deadline.progress({ step: "pull", position: 1 });
    await deadline.progress({ step: "pull", position: 90 });
    const restarted = {
      type: "progress",
      attempt: "a1",
      phase: "prepare",
      step: "pull",
      position: 5,
      run: 1,
    } as const;
    store.row = applyDeadlineEvent(store.row!, restarted, clock.now()).state;
    await clock.advanceAsync(2000);
    expect(deadline.state.marks).toEqual([{ step: "pull", part: null, position: 5 }]);
    expect(await deadline.progress({ step: "pull", position: 50 })).toMatchObject({ applied: true });
  });
});
