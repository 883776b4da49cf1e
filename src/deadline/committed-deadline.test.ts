import { describe, expect, it } from "vitest";
import { persisted, start } from "../../test/deadline/live-deadline.js";
import { isSlipwayError } from "../errors.js";
import { applyDeadlineEvent } from "./apply.js";
import type { DeadlineEvent } from "./event.js";
import type { CommitResult, PhasedDeadlineOptions } from "./live-options.js";
import { PhasedDeadline } from "./phased-deadline.js";

type DeadlineEventWithoutAttempt = DeadlineEvent extends infer E
  ? E extends DeadlineEvent
    ? Omit<E, "attempt">
    : never
  : never;

describe.each([false, true])("a live deadline with a store that answers later: %s", (late) => {
  it("is final only when it is stored", async () => {
    const { clock, store, deadline } = persisted();
    store.late = late;
    const entered = deadline.enter("admit");
    expect(deadline.state.phase).toBe(late ? "prepare" : "admit");
    expect(await entered).toEqual({ applied: true, changed: true });
    expect(deadline.state.phase).toBe("admit");
    expect(store.row?.phase).toBe("admit");
    await clock.advanceAsync(30_000);
    expect(store.row).toMatchObject({ status: "expired", version: 3 });
    expect(deadline.signal.aborted).toBe(true);
    await clock.advanceAsync(60_000);
    expect(store.commits).toBe(2);
    expect(clock.timers).toBe(0);
  });

  it("acting on an old snapshot expires nothing: it adopts the winner's state and waits on", async () => {
    const { clock, store, deadline } = persisted();
    store.late = late;
    const events: string[] = [];
    deadline.on("phase", ({ to }) => events.push(to)).on("expired", () => events.push("expired"));
    await clock.advanceAsync(19_000);
    store.row = applyDeadlineEvent(
      store.row!,
      { type: "enter", attempt: "a1", phase: "admit" },
      clock.now(),
    ).state;
    await clock.advanceAsync(1000);
    expect(deadline.state).toMatchObject({ status: "active", phase: "admit" });
    expect(deadline.signal.aborted).toBe(false);
    expect(store.row.status).toBe("active");
    await clock.advanceAsync(28_999);
    expect(deadline.state.status).toBe("active");
    await clock.advanceAsync(1);
    expect(store.row).toMatchObject({ status: "expired", version: 3 });
    expect(events).toEqual(["admit", "expired"]);
  });

  it("announces what another writer did, once and as its own", async () => {
    const { store, clock, deadline } = persisted();
    store.late = late;
    const seen: string[] = [];
    deadline.on("progress", ({ step, part, position }) => seen.push(`${step} ${part} ${position}`));
    deadline.on("renewed", ({ phase }) => seen.push(`renewed ${phase}`));
    await deadline.progress({ step: "pull", part: "l1", position: 1 });
    const elsewhere = (event: DeadlineEventWithoutAttempt): void => {
      store.row = applyDeadlineEvent(
        store.row!,
        { attempt: "a1", ...event } as DeadlineEvent,
        clock.now(),
      ).state;
    };
    elsewhere({ type: "progress", phase: "prepare", step: "pull", part: "l2" });
    elsewhere({ type: "progress", phase: "prepare", step: "pull", part: "l1", position: 5 });
    await deadline.change({ generation: 2 });
    elsewhere({ type: "progress", phase: "prepare", step: "pull", part: "l1", position: 1, run: 1 });
    await deadline.enter("admit");
    elsewhere({ type: "change", generation: 3 });
    clock.advance(10);
    elsewhere({ type: "change", generation: 4 });
    expect(await deadline.change({ generation: 4 })).toMatchObject({ why: "unchanged" });
    expect(seen).toEqual(["pull l1 1", "pull l1 5", "pull l2 null", "pull l1 1", "renewed admit"]);
  });

  it("decides an event again on the state of another writer", async () => {
    const { store, clock, deadline } = persisted();
    store.late = late;
    store.row = applyDeadlineEvent(
      store.row!,
      { type: "enter", attempt: "a1", phase: "admit" },
      clock.now(),
    ).state;
    expect(await deadline.enter("admit")).toMatchObject({ applied: false, why: "duplicate" });
    store.row = applyDeadlineEvent(
      store.row,
      { type: "change", attempt: "a1", generation: 2 },
      clock.now(),
    ).state;
    expect(await deadline.complete()).toMatchObject({ applied: true });
    expect(store.row).toMatchObject({ status: "completed", configuration: { generation: 2 }, version: 4 });
  });

  it("is fenced when another attempt took its place, or its record is gone", async () => {
    for (const gone of [false, true]) {
      const { clock, store, deadline } = persisted();
      store.late = late;
      const { signal } = deadline;
      store.row = gone ? null : { ...store.row!, attempt: "a2", version: 9 };
      expect(await deadline.enter("admit")).toMatchObject({ applied: false, why: "stale-attempt" });
      expect(isSlipwayError(signal.reason) && signal.reason.code).toBe("ATTEMPT_SUPERSEDED");
      expect(deadline.remainingMs()).toBe(0);
      await clock.advanceAsync(600_000);
      expect(clock.timers).toBe(0);
      expect(store.row?.version ?? 0).toBe(gone ? 0 : 9);
    }
  });

  it("stores progress that the store once failed to take as soon as it takes it, with nothing else due", async () => {
    const { clock, store, deadline, errors } = persisted();
    store.late = late;
    store.fail = true;
    await deadline.progress({ step: "pull", position: 1 });
    await clock.advanceAsync(0);
    expect([errors.length, store.row?.marks]).toEqual([1, []]);
    store.fail = false;
    await clock.advanceAsync(1000);
    expect(store.row?.marks).toMatchObject([{ step: "pull", position: 1 }]);
  });

  it("stores progress at a bounded rate, and decides it again after another writer", async () => {
    const { clock, store, deadline } = persisted();
    store.late = late;
    for (let position = 1; position <= 100; position += 1)
      await deadline.progress({ step: "pull", position });
    await clock.advanceAsync(0);
    expect(store.commits).toBeLessThanOrEqual(2);
    store.row = applyDeadlineEvent(store.row!, { type: "pause", attempt: "a1", seq: 1 }, clock.now()).state;
    await clock.advanceAsync(2500);
    expect(store.row).toMatchObject({
      pausedAt: clock.now() - 2500,
      marks: [{ step: "pull", position: 100 }],
    });
    expect(deadline.state.version).toBe(store.row.version);
  });

  it("keeps trying to write an expiry while the store is away, and tells the one who asked", async () => {
    const { clock, store, deadline, errors } = persisted();
    store.late = late;
    store.fail = true;
    await expect(deadline.enter("admit")).rejects.toThrow("the store is away");
    expect(deadline.state.phase).toBe("prepare");
    await clock.advanceAsync(25_000);
    expect(errors.length).toBeGreaterThanOrEqual(5);
    expect(errors.length).toBeLessThanOrEqual(7);
    expect(deadline.signal.aborted).toBe(false);
    expect(deadline.remainingMs()).toBe(0);
    store.fail = false;
    await clock.advanceAsync(1001);
    expect(store.row).toMatchObject({ status: "expired", expiry: { at: clock.now() - 6001 } });
    expect(deadline.signal.aborted).toBe(true);
  });

  it("writes a state that was moved onto another clock before any event", async () => {
    const { clock, store, deadline } = persisted();
    await clock.advanceAsync(10_000);
    await deadline.progress({ position: 1 });
    await clock.advanceAsync(1500);
    const saved = store.row!;
    clock.stepWall(-3_600_000);
    clock.restart();
    store.late = late;
    const again = PhasedDeadline.restore(saved, { clock, commit: store.commit });
    const entered = again.enter("admit");
    await entered;
    expect(store.row).toMatchObject({ version: saved.version + 2, phase: "admit" });
    expect(store.row!.startedAt).toBeLessThan(saved.startedAt - 3_500_000);
  });
});

describe("a live deadline with a store", () => {
  it("judges an event by when it came and not by when the store had time for it", async () => {
    const { clock, deadline, store } = persisted();
    await deadline.enter("admit");
    deadline[Symbol.dispose]();
    let release = (): void => {};
    const slow = new Promise<void>((resolve) => (release = resolve));
    const restored = PhasedDeadline.restore(deadline.state, {
      clock,
      observe: false,
      commit: (next, expected) => slow.then(() => store.commit(next, expected)),
    });
    clock.advance(29_000);
    const first = restored.change({ generation: 2, digest: "d2" });
    clock.advance(500);
    const second = restored.complete();
    clock.advance(5000);
    release();
    expect([await first, await second]).toMatchObject([{ renewed: true }, { applied: true }]);
    expect(store.row).toMatchObject({ status: "completed", windowEndsAt: clock.now() - 5500 + 30_000 });
  });

  it.each([[undefined], [false], [{}], [{ committed: false }]])(
    "does not take %o for an answer",
    async (result) => {
      const { clock, deadline } = persisted();
      const commit = (): CommitResult => result as unknown as CommitResult;
      const restored = PhasedDeadline.restore(deadline.state, { clock, commit });
      await expect(restored.enter("admit")).rejects.toMatchObject({
        code: "INVALID_OPTION",
        field: "commit",
      });
    },
  );

  it("refuses a commit that is no function", () => {
    expect(() => start({ commit: 5 as unknown as PhasedDeadlineOptions["commit"] })).toThrow(
      /commit must be a function/,
    );
  });

  it("expires nothing any more once it is disposed", async () => {
    const { clock, store, deadline } = persisted();
    deadline[Symbol.dispose]();
    clock.advance(60_000);
    expect(deadline.state.status).toBe("active");
    await clock.advanceAsync(0);
    expect(store.commits).toBe(0);
  });

  it("gives up on a store that refuses for ever", async () => {
    const { clock, deadline } = persisted();
    const state = deadline.state;
    let version = 10;
    const contested = PhasedDeadline.restore(state, {
      clock,
      commit: () => ({ committed: false, current: { ...state, version: (version += 1) } }),
    });
    await expect(contested.enter("admit")).rejects.toMatchObject({ code: "COMMIT_FAILED" });
  });

  it("rejects a mistake instead of throwing it", async () => {
    const { deadline } = persisted();
    await expect(deadline.enter("")).rejects.toMatchObject({ code: "INVALID_EVENT", field: "phase" });
  });

  it("records the passing of time, so that a clock set back gains little", async () => {
    const { clock, store } = persisted({ observe: true });
    await clock.advanceAsync(12_000);
    expect(store.row!.observedAt).toBeGreaterThan(clock.now() - 5002);
    expect(store.commits).toBe(2);
  });

  it("stores what was held back when it is disposed", async () => {
    const { clock, store, deadline } = persisted();
    await deadline.progress({ position: 1 });
    await deadline.progress({ position: 2 });
    deadline[Symbol.dispose]();
    await clock.advanceAsync(0);
    expect(store.row?.marks).toEqual([{ step: null, part: null, position: 2 }]);
    expect(clock.timers).toBe(0);
  });

  it("decides events in the order in which they came", async () => {
    const { store, deadline } = persisted();
    store.late = true;
    const answers = await Promise.all([
      deadline.progress({ step: "pull", position: 1 }),
      deadline.enter("admit"),
      deadline.reject({ generation: 1 }),
      deadline.change({ generation: 2 }),
      deadline.complete(),
      deadline.complete(),
    ]);
    expect(answers.map((answer) => answer.applied)).toEqual([true, true, true, true, true, false]);
    expect(store.row).toMatchObject({ status: "completed", version: 6 });
  });
});
