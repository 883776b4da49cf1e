import { afterEach, describe, expect, it, vi } from "vitest";
import { callHook, reportTo } from "./hook.js";

const fault = new Error("a mistake in a hook");

function consoleErrors(): unknown[][] {
  return vi.mocked(console.error).mock.calls;
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe("a hook that fails", () => {
  it.each([
    [
      "throws",
      () => {
        throw fault;
      },
    ],
    ["rejects", () => Promise.reject(fault)],
  ])("tells onError what it %s, and nobody else", async (_, hook) => {
    vi.spyOn(console, "error").mockReturnValue();
    const told: unknown[] = [];
    callHook(hook, undefined, (error) => told.push(error));
    await Promise.resolve();
    expect(told).toEqual([fault]);
    expect(consoleErrors()).toEqual([]);
  });

  it.each([[undefined], [null]])("is printed where onError is %s", (onError) => {
    vi.spyOn(console, "error").mockReturnValue();
    reportTo(onError, fault);
    expect(consoleErrors()).toEqual([["Slipway: no onError for", fault]]);
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("a mistake in onError");
      },
    ],
    ["rejects", () => Promise.reject(new Error("a mistake in onError"))],
  ])("harms nobody where onError %s too", async (_, onError: () => unknown) => {
    vi.spyOn(console, "error").mockReturnValue();
    reportTo(onError, fault);
    await Promise.resolve();
    expect(consoleErrors()).toEqual([]);
  });

  it("harms nobody where there is no console", () => {
    vi.stubGlobal("console", undefined);
    expect(() => {
      reportTo(undefined, fault);
    }).not.toThrow();
    vi.unstubAllGlobals();
  });
});

describe("what a hook answers", () => {
  it("is nobody's concern, whatever its `then` is", () => {
    vi.spyOn(console, "error").mockReturnValue();
    const answers = [
      undefined,
      null,
      7,
      {
        get then(): unknown {
          throw fault;
        },
      },
    ];
    for (const answer of answers) callHook(() => answer, undefined, undefined);
    callHook(undefined, undefined, undefined);
    expect(consoleErrors()).toEqual([]);
  });
});
