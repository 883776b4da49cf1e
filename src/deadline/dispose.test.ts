import { describe, expect, it, vi } from "vitest";
import { VirtualClock } from "../testing/index.js";
import { PhasedDeadline } from "./phased-deadline.js";

const plan = { phases: [{ name: "work", budgetMs: 60_000 }] };

describe("disposing of a deadline that has news held back", () => {
  it("tells them once, whatever a listener reports and disposes of meanwhile", () => {
    const clock = new VirtualClock();
    const deadline = PhasedDeadline.start(plan, { attempt: "a1", clock });
    let told = 0;
    deadline.progress({ step: "pull", position: 1 });
    deadline.progress({ step: "pull", position: 2 });
    deadline.on("change", () => {
      told += 1;
      deadline.progress({ step: "pull", position: 2 + told });
      deadline[Symbol.dispose]();
    });
    deadline[Symbol.dispose]();
    expect([told, clock.timers]).toEqual([1, 0]);
  });

  it("leaves no alarm where the clock cannot be read any more", () => {
    const clock = new VirtualClock();
    const deadline = PhasedDeadline.start(plan, { attempt: "a1", clock });
    deadline.progress({ step: "pull", position: 1 });
    deadline.progress({ step: "pull", position: 2 });
    expect(clock.timers).toBe(1);
    vi.spyOn(clock, "now").mockImplementation(() => {
      throw new Error("no clock");
    });
    expect(() => {
      deadline[Symbol.dispose]();
    }).toThrow("no clock");
    expect(clock.timers).toBe(0);
  });

  it("asks a store that fails once more and no oftener, though its failure is a reason to dispose", async () => {
    const clock = new VirtualClock();
    let commits = 0;
    const deadline = PhasedDeadline.start(plan, {
      attempt: "a1",
      clock,
      commit: () => {
        commits += 1;
        throw new Error("no store");
      },
      onError: () => {
        deadline[Symbol.dispose]();
      },
    });
    await deadline.progress({ step: "pull", position: 1 });
    deadline[Symbol.dispose]();
    await clock.advanceAsync(120_000);
    expect(commits).toBe(2);
    expect(clock.timers).toBe(0);
  });
});
