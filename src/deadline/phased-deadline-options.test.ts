import { describe, expect, it, vi } from "vitest";
import { plan, start } from "../../test/deadline/live-deadline.js";
import { type Clock, TimerQueue } from "../clock/index.js";
import { VirtualClock } from "../testing/index.js";
import type { CommitResult, PhasedDeadlineOptions } from "./live-options.js";
import { PhasedDeadline } from "./phased-deadline.js";
import type { DeadlineState } from "./state.js";

describe("a live deadline", () => {
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
    const printed = vi.spyOn(console, "error").mockReturnValue();
    const none = { clock: null, timers: null, onError: null } as unknown as PhasedDeadlineOptions;
    using deadline = PhasedDeadline.start(plan, { attempt: "a1", ...none });
    const mistake = new Error("nobody asked for it");
    deadline.on("change", () => {
      throw mistake;
    });
    expect(deadline.progress({ step: "pull", position: 1 })).toMatchObject({ applied: true });
    expect(printed.mock.calls).toEqual([["Slipway: no onError for", mistake]]);
    printed.mockRestore();
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

  it("takes null for no options", () => {
    const options = null as unknown as PhasedDeadlineOptions & { readonly attempt: string };
    expect(() => PhasedDeadline.start(plan, options)).toThrow(/deadline options must be an object, got null/);
    expect(() => PhasedDeadline.restore(start().deadline.state, options)).toThrow(
      /must be an object, got null/,
    );
  });
});
