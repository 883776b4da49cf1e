import { describe, expect, it, vi } from "vitest";
import { InMemoryActivationLedger, VirtualClock } from "../../testing/index.js";
import { BootstrapRetrier, bootstrapSequence, type BootstrapSequenceOptions } from "../index.js";

const step = (name: unknown, run: unknown = () => 1): unknown => ({ name, run });

function setUp() {
  const ledger = new InMemoryActivationLedger();
  const read = vi.spyOn(ledger, "read");
  const options = {
    instanceId: "i-1",
    steps: [],
    activate: vi.fn(),
    ledger,
    retrier: { clock: new VirtualClock() },
  };
  return { options, read };
}

const run = (options: unknown): Promise<unknown> => bootstrapSequence(options as BootstrapSequenceOptions);

describe("bootstrapSequence refuses, before it reads or runs anything,", () => {
  const wrong: readonly [field: string, expected: string, changes: object][] = [
    ["instanceId", 'a text, got ""', { instanceId: "" }],
    ["instanceId", "a text, got 5", { instanceId: 5 }],
    ["activate", "a function, got null", { activate: null }],
    ["ledger", "an ActivationLedger, got undefined", { ledger: undefined }],
    ["ledger.read", "a function, got undefined", { ledger: { compareAndSwap: () => true } }],
    ["ledger.compareAndSwap", "a function, got Number", { ledger: { read: () => null, compareAndSwap: 5 } }],
    ["retrier", "a BootstrapRetrier or the options of one, got Number", { retrier: 5 }],
    ["steps", "a list, got Object", { steps: {} }],
    ["steps[0]", "a step, got null", { steps: [null] }],
    ["steps[1]", "a step, got undefined", { steps: Object.assign([step("a")], { length: 2 }) }],
    ["steps[0].name", 'a text that no other step has, got ""', { steps: [step("")] }],
    ["steps[0].name", "a text that no other step has, got 5", { steps: [step(5)] }],
    ["steps[1].name", 'a text that no other step has, got "a"', { steps: [step("a"), step("a")] }],
    ["steps[0].run", "a function, got String", { steps: [step("a", "run")] }],
  ];
  it.each(wrong)("a wrong %s: it must be %s", async (field, expected, changes) => {
    const { options, read } = setUp();
    await expect(run({ ...options, ...changes })).rejects.toMatchObject({
      code: "INVALID_OPTION",
      field,
      message: `Invalid bootstrap sequence: ${field} must be ${expected}`,
    });
    expect([read.mock.calls.length, options.activate.mock.calls.length]).toEqual([0, 0]);
  });

  it.each([null, undefined, 5, "options"])("%o for options", async (options) => {
    await expect(run(options)).rejects.toMatchObject({ code: "INVALID_OPTION", field: "options" });
  });
});

describe("the values of the steps", () => {
  it("go by their names, whatever those are, and nobody changes them afterwards", async () => {
    const { options } = setUp();
    const seen: unknown[] = [];
    const steps = [
      { name: "__proto__", run: () => "first" },
      { name: "last", run: ({ results }: { results: object }) => seen.push({ ...results }) },
    ];
    const { results } = await bootstrapSequence({ ...options, steps });
    expect(seen).toEqual([Object.fromEntries([["__proto__", "first"]])]);
    expect(Object.entries(results)).toEqual([
      ["__proto__", "first"],
      ["last", 1],
    ]);
    expect(Object.isFrozen(results)).toBe(true);
    expect(results["toString"]).toBeUndefined();
  });

  it("are none where the instance was decided before", async () => {
    const { options } = setUp();
    await bootstrapSequence(options);
    const steps = [{ name: "policy", run: vi.fn() }];
    const again = await bootstrapSequence({ ...options, steps });
    expect(again).toMatchObject({ outcome: "already-active", started: false, results: {} });
    expect(steps[0]?.run).not.toHaveBeenCalled();
  });
});

describe("the steps of a sequence", () => {
  it("are the ones that it was given, whoever changes the list meanwhile", async () => {
    const { options } = setUp();
    const steps: { name: string; run: () => unknown }[] = [];
    steps.push({ name: "policy", run: () => steps.push({ name: "late", run: vi.fn() }) });
    const { results } = await bootstrapSequence({ ...options, steps });
    expect(Object.keys(results)).toEqual(["policy"]);
  });

  it("are told what is left to the deadline, and of its end, at the moment of reading", async () => {
    const clock = new VirtualClock();
    const end = clock.now() + 10_000;
    const controller = new AbortController();
    const deadline = { signal: new AbortController().signal, remainingMs: () => end - clock.now() };
    const { options } = setUp();
    const seen: unknown[] = [];
    const steps: BootstrapSequenceOptions["steps"] = [
      {
        name: "policy",
        run: (context) => {
          seen.push(context.step, context.attempt, context.remainingMs, context.signal.aborted);
          clock.advance(1000);
          controller.abort("enough");
          seen.push(context.remainingMs, context.signal.aborted);
        },
      },
    ];
    const retrier = new BootstrapRetrier({ clock, deadline, signal: controller.signal });
    await expect(bootstrapSequence({ ...options, steps, retrier })).rejects.toBe("enough");
    expect(seen).toEqual(["policy", 1, 10_000, false, 9000, true]);
  });

  it("need no retrier: one of their own is made", async () => {
    const { options } = setUp();
    expect(await bootstrapSequence({ ...options, retrier: undefined })).toMatchObject({
      outcome: "activated",
    });
  });
});
