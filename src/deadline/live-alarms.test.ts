import { describe, expect, it } from "vitest";
import type { Clock, ScheduleOptions } from "../clock/index.js";
import { VirtualClock } from "../testing/index.js";
import type { PhasedDeadlineOptions } from "./live-options.js";
import { PhasedDeadline } from "./phased-deadline.js";

const plan = {
  phases: [{ name: "prepare", budgetMs: 60_000, stallMs: 20_000 }, { name: "admit" }],
  ceilingMs: 200_000,
  observeEveryMs: 5000,
};

/** A clock that tells for when it is asked to ring, and how, and can be made to say anything. */
function setUp(options: PhasedDeadlineOptions = {}) {
  const virtual = new VirtualClock();
  const zero = virtual.now();
  const asked: { readonly inMs: number; readonly options: ScheduleOptions | undefined }[] = [];
  let said: number | undefined;
  const clock: Clock = {
    now: () => said ?? virtual.now(),
    schedule: (at, callback, how) => {
      asked.push({ inMs: at - zero, options: how });
      return virtual.schedule(at, callback, how);
    },
  };
  const configuration = { generation: 1 };
  const deadline = PhasedDeadline.start(plan, { attempt: "a1", configuration, clock, ...options });
  const say = (now: number | undefined): void => void (said = now);
  return { clock: virtual, deadline, asked, say };
}

describe("the alarm of a live deadline", () => {
  it("is set for the first instant at which anything is due, and for none before", () => {
    const { asked } = setUp();
    expect(asked.map(({ inMs }) => inMs)).toEqual([20_000]);
  });

  it.each([
    [true, true],
    [false, false],
    [undefined, false],
  ])("lets the process exit where that is asked for: %s", (unref, lets) => {
    const { asked } = setUp({ unref });
    expect(asked.map(({ options }) => options?.unref === true)).toEqual([lets]);
  });

  it("rings for the passing of time one millisecond after that is to be recorded", () => {
    const { clock, deadline } = setUp({ observe: true });
    const began = deadline.state.observedAt;
    const observed: number[] = [];
    deadline.on("change", ({ observedAt }) => observed.push(observedAt - began));
    clock.advance(12_000);
    expect(observed).toEqual([5001, 10_002]);
  });
});

describe("a live deadline", () => {
  it("has one signal, however often it is asked for", () => {
    const { clock, deadline } = setUp();
    const { signal } = deadline;
    expect(deadline.signal).toBe(signal);
    clock.advance(20_000);
    expect([signal.aborted, deadline.signal === signal]).toEqual([true, true]);
  });

  it("names what is wrong with the time that its clock tells", () => {
    const { deadline, say } = setUp();
    say(0.5);
    expect(() => deadline.progress({ position: 1 })).toThrow(
      expect.objectContaining({ code: "INVALID_INSTANT", field: "now" }),
    );
  });
});
