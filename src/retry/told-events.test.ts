import { beforeEach, describe, expect, it } from "vitest";
import { VirtualClock } from "../testing/index.js";
import { messageOf } from "./attempt-failure.js";
import { BootstrapRetrier, exponentialBackoff, permanent, retryBootstrap, transient } from "./index.js";
import { isMarked, unmarked } from "./marks.js";

const refused = (): Error => Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });

let clock: VirtualClock;
let zero: number;
beforeEach(() => {
  clock = new VirtualClock();
  zero = clock.now();
});
const make = (): BootstrapRetrier =>
  new BootstrapRetrier({ clock, backoff: exponentialBackoff({ jitter: "none" }) });

describe("the events of a run", () => {
  it("say which attempt begins and when, how it failed, and which comes next and when", async () => {
    const retrier = make();
    const told: unknown[] = [];
    for (const name of ["attempt", "failure", "waiting"] as const)
      retrier.on(name, (event: unknown) => told.push([name, event]));
    let calls = 0;
    const run = retrier.run(() => {
      calls += 1;
      if (calls === 1) throw refused();
      return "up";
    });
    await clock.advanceAsync(5000);
    expect(await run).toBe("up");
    expect(told).toEqual([
      ["attempt", { attempt: 1, at: zero }],
      [
        "failure",
        expect.objectContaining({ attempt: 1, code: "ECONNREFUSED", hintMs: null, hintClamped: false }),
      ],
      ["waiting", { attempt: 2, nextAttemptAt: zero + 1000 }],
      ["attempt", { attempt: 2, at: zero + 1000 }],
    ]);
  });

  it("are told to nobody who has left, and leaving twice or before coming is nothing", async () => {
    const retrier = make();
    const told: unknown[] = [];
    const listener = (event: unknown): void => void told.push(event);
    retrier.off("attempt", listener);
    retrier.on("attempt", listener);
    retrier.off("attempt", listener);
    retrier.off("attempt", listener);
    await retrier.run(() => "up");
    expect(told).toEqual([]);
  });
});

it("a second run beside the first is refused, and says so", async () => {
  const retrier = make();
  const first = retrier.run(
    () => new Promise<string>((resolve) => clock.schedule(clock.now() + 10, () => resolve("up"))),
  );
  await expect(retrier.run(() => "beside")).rejects.toMatchObject({
    ...{ name: "SlipwayError", code: "INVALID_STATE", field: "state" },
    message: "A run is under way: one at a time",
  });
  await clock.advanceAsync(10);
  expect(await first).toBe("up");
});

/** Counts the listeners that are on a signal. */
function counted(signal: AbortSignal): () => number {
  let listeners = 0;
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = function (this: AbortSignal, ...given: Parameters<typeof addEventListener>) {
    listeners += 1;
    addEventListener.apply(this, given);
  };
  signal.removeEventListener = function (
    this: AbortSignal,
    ...given: Parameters<typeof removeEventListener>
  ) {
    listeners -= 1;
    removeEventListener.apply(this, given);
  };
  return () => listeners;
}

describe("the signals of runs", () => {
  it("have one listener while any run goes on, and none after the last", async () => {
    const [caller, deadline] = [new AbortController(), new AbortController()];
    const counts = [counted(caller.signal), counted(deadline.signal)];
    const options = {
      clock,
      signal: caller.signal,
      deadline: { signal: deadline.signal, remainingMs: () => 60_000 },
    };
    const backoff = exponentialBackoff({ jitter: "none" });
    const after = (failures: number): Promise<string> => {
      let calls = 0;
      return retryBootstrap(() => (calls++ < failures ? Promise.reject(refused()) : "up"), {
        ...options,
        backoff,
      });
    };
    const runs = [after(1), after(2)];
    await clock.advanceAsync(0);
    expect(counts.map((count) => count())).toEqual([1, 1]);
    await clock.advanceAsync(1500);
    expect(counts.map((count) => count())).toEqual([1, 1]);
    await clock.advanceAsync(5000);
    expect(await Promise.all(runs)).toEqual(["up", "up"]);
    expect(counts.map((count) => count())).toEqual([0, 0]);
  });
});

describe("a mark", () => {
  it("says by its name and its message what it is, and what it is about", () => {
    const cause = new Error("no");
    expect(transient(cause)).toMatchObject({
      name: "MarkedError",
      message: "Marked transient by the operation",
      cause,
    });
    expect(permanent(cause)).toMatchObject({
      name: "MarkedError",
      message: "Marked permanent by the operation",
      cause,
    });
    expect([transient(1)["~slipway/verdict"], permanent(1)["~slipway/verdict"]]).toEqual([
      "transient",
      "permanent",
    ]);
    expect(unmarked(permanent(cause))).toBe(cause);
  });

  it.each([null, undefined, "a text", 7, Symbol("s"), {}, () => 1])(
    "is nothing that anybody may throw: %s",
    (thrown) => {
      expect(isMarked(thrown)).toBe(false);
      expect(unmarked(thrown)).toBe(thrown);
    },
  );
});

it.each([
  ["its message", { message: "away", details: "d", name: "N" }, "away"],
  [
    "its details where the message is empty",
    { message: "", details: "14 UNAVAILABLE", name: "N" },
    "14 UNAVAILABLE",
  ],
  ["its name where it has no details", { message: "", name: "AwayError" }, "AwayError"],
  ["itself where it has none of them", { status: 3 }, '{"status":3}'],
  ["a text", "down", '"down"'],
  ["what is inside a mark", transient(new Error("inside")), "inside"],
])("a failure says %s", (_, thrown, message) => {
  expect(messageOf(thrown)).toBe(message);
});
