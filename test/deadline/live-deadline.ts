import { VirtualClock } from "../../src/testing/index.js";
import {
  type CommitResult,
  type DeadlineState,
  PhasedDeadline,
  type PhasedDeadlineOptions,
} from "../../src/deadline/index.js";

export const plan = {
  phases: [
    { name: "prepare", budgetMs: 60_000, stallMs: 20_000 },
    { name: "admit", budgetMs: 30_000, renewOn: "change" as const },
  ],
  ceilingMs: 200_000,
  observeEveryMs: 5000,
};

export function start(options: PhasedDeadlineOptions = {}) {
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

export function persisted(options: PhasedDeadlineOptions = {}) {
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
