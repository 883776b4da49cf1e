import { describe, expect, it } from "vitest";
import type { Clock } from "../clock/index.js";
import { VirtualClock } from "../testing/index.js";
import { applyDeadlineEvent } from "./apply.js";
import type { DeadlineEvent } from "./event.js";
import type { Commit, CommitResult } from "./live-options.js";
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

/** A deadline whose state lies in a store of one record, and the other writers of that record. */
class Desk {
  readonly clock = new VirtualClock();
  readonly errors: unknown[] = [];
  /** The versions that commits were tried with. */
  readonly tried: number[] = [];
  row: DeadlineState | null = null;
  /** How the store answers: at once, after so many milliseconds, or not at all. */
  answer: "at once" | "away" | number = "at once";
  /** How often anything was put on the clock. */
  alarms = 0;

  readonly commit: Commit = (next, expected) => {
    this.tried.push(next.version);
    if (this.answer === "away") throw new Error("the store is away");
    if (this.answer === "at once") return this.#swap(next, expected);
    const at = this.clock.now() + this.answer;
    return new Promise((resolve) =>
      this.clock.schedule(at, () => {
        resolve(this.#swap(next, expected));
      }),
    );
  };

  #swap(next: DeadlineState, expected: number): CommitResult {
    if (this.row?.version !== expected) return { committed: false, current: this.row };
    this.row = structuredClone(next);
    return { committed: true };
  }

  get #options() {
    const counting: Clock = {
      now: () => this.clock.now(),
      schedule: (...args) => {
        this.alarms += 1;
        return this.clock.schedule(...args);
      },
    };
    const onError = (error: unknown): void => void this.errors.push(error);
    return { clock: counting, commit: this.commit, observe: false, onError };
  }

  start() {
    const configuration = { generation: 1 };
    const deadline = PhasedDeadline.start(plan, { ...this.#options, attempt: "a1", configuration });
    this.row = deadline.state;
    return deadline;
  }

  restore(options: { readonly rebase?: boolean } = {}) {
    return PhasedDeadline.restore(this.row!, { ...this.#options, ...options });
  }

  /** Another writer, whose clock may be ahead. */
  elsewhere(event: DeadlineEvent, aheadMs = 0): DeadlineState {
    this.row = applyDeadlineEvent(this.row!, event, this.clock.now() + aheadMs).state;
    return this.row;
  }
}

const enter = { type: "enter", attempt: "a1", phase: "admit" } as const;
const change = { type: "change", attempt: "a1", generation: 2 } as const;

describe("the state of a writer that was faster", () => {
  it("is announced as soon as it is known", () => {
    const desk = new Desk();
    const deadline = desk.start();
    const heard: number[] = [];
    deadline.on("change", ({ version }) => heard.push(version));
    const winner = desk.elsewhere(enter);
    void deadline.enter("admit");
    expect(heard).toEqual([winner.version]);
  });

  it.each<[string, { readonly rebase?: boolean }]>([
    ["loaded by a replica", { rebase: false }],
    ["moved once already", {}],
  ] as readonly [string, { readonly rebase?: boolean }][])(
    "is not moved onto this clock where the own one was %s",
    async (_, options) => {
      const desk = new Desk();
      desk.start()[Symbol.dispose]();
      if (options.rebase === undefined) {
        desk.clock.advance(10_000);
        desk.elsewhere({ type: "tick" });
        desk.clock.stepWall(-3_600_000);
        desk.clock.restart();
      }
      const deadline = desk.restore(options);
      await desk.clock.advanceAsync(10);
      const winner = desk.elsewhere(enter, 4000);
      await deadline.change({ generation: 2 });
      expect(deadline.state).toMatchObject({
        version: winner.version + 1,
        windowEndsAt: winner.windowEndsAt,
        startedAt: winner.startedAt,
      });
    },
  );

  it("gets every step's and part's latest report that was not stored", async () => {
    const desk = new Desk();
    const deadline = desk.start();
    await deadline.progress({ step: "pull", part: "a", position: 1 });
    await deadline.progress({ step: "pull", part: "a", position: 2 });
    await deadline.progress({ step: "pull", part: "b", position: 3 });
    await deadline.progress({ step: "unpack", position: 4 });
    desk.elsewhere(change);
    await desk.clock.advanceAsync(1000);
    expect(desk.row).toMatchObject({
      configuration: { generation: 2 },
      marks: [
        { step: "pull", part: "a", position: 2 },
        { step: "pull", part: "b", position: 3 },
        { step: "unpack", part: null, position: 4 },
      ],
    });
    expect(desk.errors).toEqual([]);
  });

  it("expires for nobody before that is stored", async () => {
    const desk = new Desk();
    const deadline = desk.start();
    const { signal } = deadline;
    await deadline.progress({ step: "pull", position: 1 });
    await deadline.progress({ step: "pull", position: 2 });
    // Its own window, which nobody has found over yet: a report that comes after it is refused.
    desk.row = { ...desk.row!, version: 9, windowEndsAt: desk.clock.now() + 500 };
    desk.clock.advance(900);
    desk.answer = 50;
    await desk.clock.advanceAsync(150);
    expect([deadline.state.status, deadline.state.version, signal.aborted]).toEqual(["active", 9, false]);
    await desk.clock.advanceAsync(50);
    expect(desk.row).toMatchObject({ status: "expired", version: 10 });
    expect(signal.aborted).toBe(true);
  });
});

describe("a store", () => {
  it("is told at once of a state that was moved onto another clock", async () => {
    const desk = new Desk();
    desk.start()[Symbol.dispose]();
    desk.clock.advance(10_000);
    const saved = desk.elsewhere({ type: "tick" });
    desk.clock.stepWall(-3_600_000);
    desk.clock.restart();
    desk.restore();
    await Promise.resolve();
    expect(desk.row).toMatchObject({ version: saved.version + 1, startedAt: saved.startedAt - 3_600_000 });
  });

  it("is not asked about what changes nothing", async () => {
    const desk = new Desk();
    const deadline = desk.start();
    expect(await deadline.change({ generation: 1 })).toMatchObject({ why: "unchanged" });
    expect(await deadline.enter("prepare")).toMatchObject({ why: "duplicate" });
    expect(await deadline.tick()).toMatchObject({ changed: false });
    expect(desk.tried).toEqual([]);
  });

  it("that is away is not asked again for every look at what is over", () => {
    const desk = new Desk();
    const deadline = desk.start();
    desk.answer = "away";
    desk.clock.advance(20_000);
    for (let look = 0; look < 10; look += 1) expect(deadline.state.status).toBe("active");
    expect(desk.tried).toHaveLength(1);
    desk.clock.advance(1000);
    expect(desk.tried).toHaveLength(2);
  });

  it("that takes its time is asked once, and nothing rings meanwhile", async () => {
    const desk = new Desk();
    const deadline = desk.start();
    desk.answer = 5000;
    desk.clock.advance(20_000);
    const { alarms } = desk;
    for (let look = 0; look < 10; look += 1) expect(deadline.state.status).toBe("active");
    await desk.clock.advanceAsync(4000);
    expect(desk.tried).toEqual([2]);
    expect(desk.alarms - alarms).toBeLessThanOrEqual(1);
    await desk.clock.advanceAsync(1000);
    expect(deadline.state.status).toBe("expired");
  });

  it("is asked one question at a time, in the order of the events", async () => {
    const desk = new Desk();
    const deadline = desk.start();
    desk.answer = 100;
    const answers = [deadline.enter("admit"), deadline.change({ generation: 2 })];
    await desk.clock.advanceAsync(150);
    answers.push(deadline.change({ generation: 3 }), deadline.complete());
    await desk.clock.advanceAsync(400);
    expect(await Promise.all(answers)).toMatchObject(answers.map(() => ({ applied: true })));
    expect(desk.tried).toEqual([2, 3, 4, 5]);
  });

  it("that answers at once is believed at once, whatever it did before", async () => {
    const desk = new Desk();
    const deadline = desk.start();
    desk.answer = 100;
    const entered = deadline.enter("admit");
    await desk.clock.advanceAsync(100);
    await entered;
    desk.answer = "at once";
    void deadline.change({ generation: 2 });
    expect(deadline.state.configuration).toMatchObject({ generation: 2 });
  });

  it("that refuses for ever is asked 17 times for an event", async () => {
    const desk = new Desk();
    const deadline = desk.start();
    const contested = PhasedDeadline.restore(deadline.state, {
      clock: desk.clock,
      commit: (next) => {
        desk.tried.push(next.version);
        return { committed: false, current: { ...deadline.state, version: next.version } };
      },
    });
    await expect(contested.enter("admit")).rejects.toMatchObject({
      code: "COMMIT_FAILED",
      message: "The store refused the commit 17 times in a row",
    });
    expect(desk.tried).toHaveLength(17);
  });

  it("that forgets to answer is told what an answer is", async () => {
    const desk = new Desk();
    const deadline = desk.start();
    const commit = (() => undefined) as unknown as Commit;
    const restored = PhasedDeadline.restore(deadline.state, { clock: desk.clock, commit });
    await expect(restored.enter("admit")).rejects.toThrow(
      "Invalid deadline option: commit must be answered with { committed: true } or { committed: false, current }, got undefined",
    );
  });
});

describe("a deadline that was superseded", () => {
  it.each([
    ["another attempt", "a2"],
    ["the removal of its record", undefined],
  ])("says by what: %s", async (by, attempt) => {
    const desk = new Desk();
    const deadline = desk.start();
    const { signal } = deadline;
    desk.row = attempt === undefined ? null : { ...desk.row!, attempt, version: 5 };
    await deadline.enter("admit");
    expect(signal.reason).toMatchObject({
      code: "ATTEMPT_SUPERSEDED",
      message: `Attempt a1 was superseded by ${by}`,
      field: "attempt",
      value: attempt,
    });
  });

  it("writes no progress of its own any more, not even when it is disposed", async () => {
    const desk = new Desk();
    const deadline = desk.start();
    await deadline.progress({ step: "pull", position: 1 });
    await deadline.progress({ step: "pull", position: 2 });
    desk.row = { ...desk.row!, attempt: "a2", version: 5 };
    await deadline.enter("admit");
    const { length } = desk.tried;
    deadline[Symbol.dispose]();
    await desk.clock.advanceAsync(5000);
    expect([desk.tried.length, desk.row.version]).toEqual([length, 5]);
  });
});
