import { describe, expect, it } from "vitest";
import { plan, start } from "../../test/deadline/live-deadline.js";
import { VirtualClock } from "../testing/index.js";
import { PhasedDeadline } from "./phased-deadline.js";

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
