import { beforeEach, describe, expect, it } from "vitest";
import { Interruption, type InterruptedBy } from "./interruption.js";

let caller: AbortController;
let deadline: AbortController;
let run: Run;

/** Something that is under way, and remembers who ended it. */
class Run extends Interruption {
  readonly endedBy: InterruptedBy[] = [];

  get reason(): string {
    return "over";
  }

  begin(...signals: Parameters<Interruption["watch"]>): void {
    this.watch(...signals);
  }

  end(...signals: Parameters<Interruption["watch"]>): void {
    this.unwatch(...signals);
  }

  protected interrupted(by: InterruptedBy): void {
    this.endedBy.push(by);
  }

  protected isCaller(signal: AbortSignal): boolean {
    return signal === caller.signal;
  }
}

beforeEach(() => {
  caller = new AbortController();
  deadline = new AbortController();
  run = new Run();
});

describe("what may be ended from outside", () => {
  it("is ended once, by whoever comes first", () => {
    run.begin(caller.signal, deadline.signal);
    expect(run.aborted).toBe(false);
    deadline.abort();
    caller.abort();
    expect([run.aborted, run.endedBy]).toEqual([true, ["deadline"]]);
  });

  it.each([
    [
      "the caller's",
      () => run.begin(caller.signal, undefined),
      () => {
        caller.abort();
      },
      "caller",
    ],
    [
      "the deadline's",
      () => run.begin(undefined, deadline.signal),
      () => {
        deadline.abort();
      },
      "deadline",
    ],
  ] as const)("needs no other signal than %s", (_, begin, abort, by) => {
    begin();
    abort();
    expect(run.endedBy).toEqual([by]);
  });

  it("is ended by nobody once it is no longer watched, whichever signal there was", () => {
    run.begin(caller.signal, deadline.signal);
    run.end(caller.signal, deadline.signal);
    const other = new Run();
    other.begin(undefined, undefined);
    other.end(undefined, undefined);
    caller.abort();
    deadline.abort();
    expect([run.endedBy, other.endedBy]).toEqual([[], []]);
  });
});

describe("who waits for its end", () => {
  it("is told at once, and only the last who came", () => {
    const told: string[] = [];
    run.begin(caller.signal, undefined);
    run.addEventListener("abort", () => told.push("first"));
    run.addEventListener("abort", () => told.push("second"));
    caller.abort();
    expect(told).toEqual(["second"]);
  });

  it("is told soon where the end came before it", async () => {
    const told: string[] = [];
    run.begin(caller.signal, undefined);
    caller.abort();
    run.addEventListener("abort", () => told.push("late"));
    expect(told).toEqual([]);
    await Promise.resolve();
    expect(told).toEqual(["late"]);
  });

  it("is told nothing while nothing ended, nor once it waits no longer", async () => {
    const told: string[] = [];
    run.begin(caller.signal, undefined);
    run.addEventListener("abort", () => told.push("gone"));
    await Promise.resolve();
    run.removeEventListener();
    caller.abort();
    expect(told).toEqual([]);
  });
});
