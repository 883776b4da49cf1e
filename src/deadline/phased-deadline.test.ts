import { describe, expect, it } from "vitest";
import { type Clock, TimerQueue } from "../clock/index.js";
import { isSlipwayError } from "../errors.js";
import { VirtualClock } from "../testing/index.js";
import { applyDeadlineEvent } from "./apply.js";
import { DeadlineExpiredError } from "./deadline-errors.js";
import type { DeadlineEvent } from "./event.js";
import type { CommitResult, PhasedDeadlineOptions } from "./live-options.js";
import { PhasedDeadline } from "./phased-deadline.js";
import type { DeadlineState } from "./state.js";

const plan = {
  phases: [
    { name: "prepare", budgetMs: 60_000, stallMs: 20_000 },
    { name: "admit", budgetMs: 30_000, renewOn: "change" as const },
  ],
  ceilingMs: 200_000,
  observeEveryMs: 5000,
};

function start(options: PhasedDeadlineOptions = {}) {
  const clock = new VirtualClock();
  const events: string[] = [];
  const deadline = PhasedDeadline.start(plan, {
    attempt: "a1",
    configuration: { generation: 1 },
    clock,
    ...options,
  });
  deadline.on("progress", ({ step, position }) => events.push(`progress ${step} ${position}`));
  deadline.on("phase", ({ from, to }) => events.push(`phase ${from} ${to}`));
  deadline.on("renewed", ({ phase }) => events.push(`renewed ${phase}`));
  deadline.on("expired", ({ limitedBy }) => events.push(`expired ${limitedBy}`));
  deadline.on("settled", ({ status }) => events.push(`settled ${status}`));
  deadline.on("change", ({ version }) => events.push(`change ${version}`));
  return { clock, deadline, events };
}

describe("a live deadline", () => {
  it("announces every fact once, and a change after what it brought", () => {
    const { clock, deadline, events } = start();
    clock.advance(100);
    deadline.progress({ step: "pull", position: 1 });
    deadline.enter("admit");
    deadline.enter("admit");
    clock.advance(100);
    deadline.reject({ generation: 1 });
    deadline.reject({ generation: 1 });
    deadline.complete();
    expect(events).toEqual([
      "progress pull 1",
      "change 2",
      "phase prepare admit",
      "change 3",
      "renewed admit",
      "change 4",
      "settled completed",
      "change 5",
    ]);
    expect(clock.timers).toBe(0);
  });

  it("announces progress at a bounded rate, and always the last of it", () => {
    const { clock, deadline, events } = start({ progressEveryMs: 1000 });
    for (let report = 1; report <= 3000; report += 1) {
      clock.advance(1);
      deadline.progress({ step: "pull", position: report });
    }
    clock.advance(1000);
    const changes = events.filter((event) => event.startsWith("change"));
    expect(changes).toEqual(["change 2", "change 1001", "change 2001", "change 3001"]);
    expect(events.filter((event) => event.startsWith("progress"))).toHaveLength(3000);
  });

  it("is not disturbed by listeners that throw, dispose or come back", () => {
    const errors: unknown[] = [];
    const { clock, deadline, events } = start({ onError: (error) => errors.push(error) });
    const mine = new Error("mine");
    deadline.on("phase", () => {
      throw mine;
    });
    deadline.on("phase", () => void deadline.reject({ generation: 1 }));
    deadline.enter("admit");
    expect(errors).toEqual([mine]);
    expect(events).toEqual(["phase prepare admit", "change 2", "change 3"]);
    deadline.on("expired", () => deadline[Symbol.dispose]());
    clock.advance(30_000);
    expect(deadline.state.status).toBe("expired");
    expect(clock.timers).toBe(0);
  });

  it("reports what a listener's promise rejects with, and nothing is left unhandled", async () => {
    const errors: unknown[] = [];
    const { deadline } = start({ onError: (error) => errors.push(error) });
    const mine = new Error("mine");
    deadline.on("phase", () => Promise.reject(mine));
    deadline.enter("admit");
    await Promise.resolve();
    await Promise.resolve();
    expect(errors).toEqual([mine]);
  });

  it("tells what an abort listener causes after what caused it", () => {
    const { clock, deadline, events } = start();
    deadline.signal.addEventListener("abort", () => void deadline.claimCleanup("g"));
    clock.advance(20_000);
    expect(events).toEqual(["expired stall", "settled expired", "change 2", "change 3"]);
  });

  it("is silent at once when a listener disposes it", () => {
    const { deadline, events } = start();
    deadline.on("phase", () => deadline[Symbol.dispose]());
    deadline.on("phase", () => events.push("too late"));
    deadline.enter("admit");
    // The change that was not announced yet is, for it is to be persisted.
    expect(events).toEqual(["phase prepare admit", "change 2"]);
  });

  it("survives an error handler that throws", () => {
    const { deadline } = start({
      onError: () => {
        throw new Error("worse");
      },
    });
    deadline.on("phase", () => {
      throw new Error("mine");
    });
    expect(deadline.enter("admit")).toMatchObject({ applied: true });
  });

  it("subscribes once, and unsubscribes", () => {
    const { clock, deadline } = start();
    let once = 0;
    let never = 0;
    let removed = 0;
    const count = (): void => void (never += 1);
    const counted = (): void => void (removed += 1);
    deadline
      .once("change", () => (once += 1))
      .on("change", count)
      .once("change", counted);
    deadline
      .off("change", count)
      .off("change", counted)
      .off("change", () => {});
    deadline.enter("admit");
    clock.advance(10);
    deadline.complete();
    expect([once, never, removed]).toEqual([1, 0, 0]);
  });

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

  it("refuses a rate that is none", () => {
    expect(() => start({ progressEveryMs: -1 })).toThrow(
      /progressEveryMs must be a safe integer, 0 or more, got -1/,
    );
  });

  it.each(["clock", "timers", "commit", "onError", "progressEveryMs"] as const)(
    "refuses, by name and value, a %s that is none, at a start and at a restore",
    (field) => {
      const { state } = start().deadline;
      const values: unknown[] = [{}, [], 5.5, "x", true, Number.NaN, Symbol("s"), 1n];
      // An absent port or hook may be written `null`; a store or a rate never could.
      if (field === "commit" || field === "progressEveryMs") values.push(null);
      for (const wrong of values) {
        const options = { [field]: wrong } as unknown as PhasedDeadlineOptions;
        const refusal = expect.objectContaining({ code: "INVALID_OPTION", field, value: wrong });
        expect(() => PhasedDeadline.start(plan, { attempt: "a1", ...options })).toThrow(refusal);
        expect(() => PhasedDeadline.restore(state, options)).toThrow(refusal);
      }
    },
  );

  it("takes null for an absent clock, queue and hook, at a start and at a restore", () => {
    const none = { clock: null, timers: null, onError: null } as unknown as PhasedDeadlineOptions;
    using deadline = PhasedDeadline.start(plan, { attempt: "a1", ...none });
    deadline.on("change", () => {
      throw new Error("nobody is told");
    });
    expect(deadline.progress({ step: "pull", position: 1 })).toMatchObject({ applied: true });
    using restored = PhasedDeadline.restore(deadline.state, none);
    expect(restored.state.attempt).toBe("a1");
    const clock = new VirtualClock();
    const timers = new TimerQueue(clock);
    using waiting = PhasedDeadline.start(plan, { attempt: "a2", ...none, clock, timers });
    expect([waiting.state.status, clock.timers]).toEqual(["active", 1]);
  });

  it("needs no more of a clock than the time where it is given the queue to wait in", () => {
    const clock = new VirtualClock();
    const timers = new TimerQueue(clock);
    const told = { now: () => clock.now() } as unknown as Clock;
    using deadline = PhasedDeadline.start(plan, { attempt: "a1", clock: told, timers });
    clock.advance(3_600_000);
    expect(deadline.state.status).toBe("expired");
    for (const options of [{ clock: told }, { clock: told, timers: null as never }])
      expect(() => PhasedDeadline.start(plan, { attempt: "a1", ...options })).toThrow(
        expect.objectContaining({ code: "INVALID_OPTION", field: "clock" }),
      );
  });

  it("shows nothing of what a wrong port, hook or store's answer says", async () => {
    const secret = { url: "postgres://user:s3cret@host", key: "s3cret" };
    for (const field of ["clock", "timers", "commit", "onError"] as const)
      for (const wrong of [secret, secret.url, [secret.url]]) {
        const options = { attempt: "a1", [field]: wrong } as unknown as PhasedDeadlineOptions & {
          attempt: string;
        };
        expect(() => PhasedDeadline.start(plan, options)).toThrow(
          expect.objectContaining({ message: expect.not.stringContaining("s3cret") as string }),
        );
      }
    const errors: unknown[] = [];
    using deadline = PhasedDeadline.start(plan, {
      attempt: "a1",
      clock: new VirtualClock(),
      commit: () => secret as unknown as CommitResult,
      onError: (error) => errors.push(error),
    });
    await Promise.allSettled([
      Promise.resolve().then(() => deadline.progress({ step: "pull", position: 1 })),
    ]);
    expect(String(errors)).not.toContain("s3cret");
  });

  it("survives ports that do not want to be looked at", () => {
    const refuse = (): never => {
      throw new Error("s3cret");
    };
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    for (const wrong of [revoked.proxy, new Proxy({}, { get: refuse, getPrototypeOf: refuse })])
      for (const field of ["clock", "timers", "commit", "onError"])
        expect(() =>
          PhasedDeadline.start(plan, { attempt: "a1", [field]: wrong } as { attempt: string }),
        ).toThrow(expect.objectContaining({ code: "INVALID_OPTION", field }));
  });

  it.each([null, undefined, 5, "x", {}, { schemaVersion: 2 }])("takes %o for no state", (state) => {
    expect(() => PhasedDeadline.restore(state as unknown as DeadlineState)).toThrow(
      expect.objectContaining({ code: "INVALID_STATE", field: "schemaVersion" }),
    );
  });

  it.each([
    ["clock", {}, "a Clock with now() and schedule()"],
    ["timers", {}, "a TimerQueue"],
    ["commit", 5, "a function"],
    ["progressEveryMs", -1, "a safe integer, 0 or more"],
  ])("says what is expected of %s", (field, wrong, expected) => {
    const options = { attempt: "a1", [field]: wrong } as unknown as { attempt: string };
    expect(() => PhasedDeadline.start(plan, options)).toThrow(
      `Invalid deadline option: ${field} must be ${expected}, got `,
    );
    for (const none of [5, "x"])
      expect(() => PhasedDeadline.start(plan, none as never)).toThrow(
        expect.objectContaining({ code: "INVALID_OPTION", field: "" }),
      );
    expect(() => PhasedDeadline.restore({ schemaVersion: 2 } as never)).toThrow(
      "Invalid deadline state: schemaVersion must be 1, as decoding leaves it, got 2",
    );
  });

  it("counts a second pause and its end above those that it knows of", () => {
    const { deadline } = start();
    for (const seq of [1, 2, 3, 4]) {
      if (seq % 2 === 1) deadline.pause();
      else deadline.resume();
      expect(deadline.state.pauseSeq).toBe(seq);
    }
  });

  it("takes null for no options", () => {
    const options = null as unknown as PhasedDeadlineOptions & { readonly attempt: string };
    expect(() => PhasedDeadline.start(plan, options)).toThrow(/deadline options must be an object, got null/);
    expect(() => PhasedDeadline.restore(start().deadline.state, options)).toThrow(
      /must be an object, got null/,
    );
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

describe("listeners that act", () => {
  it("tell every other one in order, also when what was held back is told", () => {
    const { clock, deadline } = start();
    const heard: number[] = [];
    deadline.on("change", ({ version }) => {
      if (version === 3) deadline.pause(1);
    });
    deadline.on("change", ({ version }) => heard.push(version));
    deadline.progress({ step: "pull", position: 1 });
    deadline.progress({ step: "pull", position: 2 });
    clock.advance(1000);
    expect(heard).toEqual([2, 3, 4]);
    deadline[Symbol.dispose]();
  });

  it("lose nothing that was reported while the first of them came", () => {
    const clock = new VirtualClock();
    const deadline = PhasedDeadline.start(plan, { attempt: "a1", configuration: { generation: 1 }, clock });
    const heard: number[] = [];
    deadline.on("phase", () => {
      deadline.progress({ position: 1 });
      deadline.on("change", ({ version }) => heard.push(version));
      deadline.progress({ position: 2 });
    });
    deadline.enter("admit");
    clock.advance(2000);
    expect(heard.at(-1)).toBe(deadline.state.version);
    deadline[Symbol.dispose]();
  });
});

/** A store of one record. `fail` makes it unreachable; `late` lets it answer only later. */
class Store {
  row: DeadlineState | null;
  commits = 0;
  fail = false;
  late = false;

  constructor(row: DeadlineState | null) {
    this.row = row;
  }

  readonly commit = (next: DeadlineState, expected: number): CommitResult | Promise<CommitResult> => {
    this.commits += 1;
    if (this.late) return Promise.resolve().then(() => this.#swap(next, expected));
    return this.#swap(next, expected);
  };

  #swap(next: DeadlineState, expected: number): CommitResult {
    if (this.fail) throw new Error("the store is away");
    if (this.row?.version !== expected) return { committed: false, current: this.row };
    // As a store does it: what comes back is never the object that was written.
    this.row = JSON.parse(JSON.stringify(next)) as DeadlineState;
    return { committed: true };
  }
}

type DeadlineEventWithoutAttempt = DeadlineEvent extends infer E
  ? E extends DeadlineEvent
    ? Omit<E, "attempt">
    : never
  : never;

function persisted(options: PhasedDeadlineOptions = {}) {
  const clock = new VirtualClock();
  const store = new Store(null);
  const errors: unknown[] = [];
  const settings = {
    attempt: "a1",
    configuration: { generation: 1 },
    clock,
    onError: (error: unknown) => errors.push(error),
  };
  const deadline = PhasedDeadline.start(plan, {
    ...settings,
    observe: false,
    ...options,
    commit: store.commit,
  });
  store.row = deadline.state;
  return { clock, store, deadline, errors };
}

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
