import { describe, expect, it, vi } from "vitest";
import { judge } from "./judge.js";
import type { Classification, Classifier, Verdict } from "./verdict.js";

const refused = (): Error => Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
const hinting = (): Error =>
  Object.assign(new Error("503"), { status: 503, headers: { "retry-after": "7" } });
const ask = (error: unknown, own: Classifier, onHookError?: (error: unknown) => void): Classification =>
  judge(error, {}, { classify: own, onHookError });

describe("an embedder's classifier", () => {
  it("is asked first, and fields that it leaves out are the default rules'", () => {
    expect(ask(refused(), () => ({ verdict: "permanent" }))).toEqual({
      verdict: "permanent",
      code: "ECONNREFUSED",
      kind: "network",
      explanation: "The embedder's classifier says permanent",
      retryAfterMs: undefined,
      pushbackMs: undefined,
    });
    const whole = { verdict: "suspect", code: "MINE", kind: "server", explanation: "Mine" } as const;
    expect(ask(refused(), () => ({ ...whole, retryAfterMs: 4.2, pushbackMs: 3 }))).toEqual({
      ...whole,
      retryAfterMs: 5,
      pushbackMs: 3,
    });
  });

  it("is given the error and what it may look at", () => {
    const own = vi.fn(() => undefined);
    const error = refused();
    const context = { timedOut: false, now: 5 };
    judge(error, context, { classify: own, onHookError: undefined });
    expect(own).toHaveBeenCalledExactlyOnceWith(error, context);
  });

  it.each<[Verdict, number | undefined]>([
    ["transient", 7000],
    ["suspect", 7000],
    ["permanent", undefined],
    ["cancelled", undefined],
  ])("that says %s leaves the peer's hint at %o", (verdict, retryAfterMs) => {
    expect(ask(hinting(), () => ({ verdict })).retryAfterMs).toBe(retryAfterMs);
    expect(ask(hinting(), () => ({ verdict, pushbackMs: 3 })).pushbackMs).toBe(retryAfterMs && 3);
  });

  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["no verdict", {}],
    ["another word", { verdict: "maybe" }],
    ["a text", "transient"],
  ])("that answers %s leaves it to the default rules", (_name, answer) => {
    expect(ask(refused(), () => answer as undefined)).toMatchObject({
      verdict: "transient",
      code: "ECONNREFUSED",
    });
  });

  it("that throws is passed over, and its mistake is told", () => {
    const mistake = new Error("mine");
    const onHookError = vi.fn();
    const own = (): never => {
      throw mistake;
    };
    expect(ask(refused(), own, onHookError).code).toBe("ECONNREFUSED");
    expect(onHookError).toHaveBeenCalledExactlyOnceWith(mistake);
  });

  it.each([
    ["the caller gave up", true, false, "cancelled"] as const,
    ["time was up", false, true, "transient"] as const,
  ])("is not asked where %s", (_name, isAborted, timedOut, verdict) => {
    const own = vi.fn(() => ({ verdict: "permanent" }) as const);
    const controller = new AbortController();
    if (isAborted) controller.abort();
    const context = { signal: controller.signal, timedOut };
    expect(judge(refused(), context, { classify: own, onHookError: undefined }).verdict).toBe(verdict);
    expect(own).not.toHaveBeenCalled();
  });
});
