import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { expectQuiet, failing, never, refused, status, Timeline } from "../../test/retry/timeline.js";
import type { BootstrapRetrier } from "./index.js";
import { BootstrapDeadlineError, BootstrapPermanentError } from "./index.js";

/** The R table of scenarios.md: every row is a test, named after it. Here: outages, limits, and what a run says. */

expectQuiet();

describe("scenarios R", () => {
  it("R-01 outlives an outage beyond 11 s and 120 s", async () => {
    const line = new Timeline().run((at) => {
      if (at < 130) throw refused();
      return "policy";
    });
    await line.until(120);
    expect(line.result).toBeUndefined();
    await line.until(200);
    expect(line.starts).toEqual([0, 1, 3, 7, 15, 31, 61, 91, 121, 151]);
    expect(line.result).toEqual({ value: "policy" });
    expect(line.settledAt).toBe(151);
    expect(line.retrier.status()).toMatchObject({ attempt: 10, counts: { transient: 9 } });
    expect(line.clock.timers).toBe(0);
  });

  it("R-02 gives up as soon as the next wait would pass the deadline", async () => {
    const line = new Timeline();
    line.run(failing(refused), { deadline: line.deadline(300) });
    await line.until(400);
    expect(line.starts).toEqual([0, 1, 3, 7, 15, 31, 61, 91, 121, 151, 181, 211, 241, 271]);
    expect(line.settledAt).toBe(271);
    expect(line.error).toBeInstanceOf(BootstrapDeadlineError);
    expect(line.error).toMatchObject({ waitMs: 30_000, remainingMs: 29_000, hintMs: null });
    expect((line.error as BootstrapDeadlineError).cause).toMatchObject({ code: "ECONNREFUSED" });
    expect(line.clock.timers).toBe(0);
  });

  it("R-04 bounds hung attempts, and cuts the last one off at the deadline", async () => {
    const line = new Timeline();
    const cut: unknown[] = [];
    line.run(
      (_at, { signal }) => {
        signal.addEventListener("abort", () => cut.push(line.seconds));
        return never();
      },
      { deadline: line.deadline(60) },
    );
    await line.until(100);
    expect(line.starts).toEqual([0, 11, 23, 37, 55]);
    expect(cut).toEqual([10, 21, 33, 47, 60]);
    expect(line.settledAt).toBe(60);
    expect(line.error).toBeInstanceOf(BootstrapDeadlineError);
    expect((line.error as BootstrapDeadlineError).attempts.at(-1)).toMatchObject({
      attempt: 5,
      code: "DEADLINE",
      startedAt: line.zero + 55_000,
      endedAt: line.zero + 60_000,
    });
    expect(line.clock.timers).toBe(0);
  });

  it("R-30 rejects at the deadline though the attempt ignores its signal", async () => {
    const line = new Timeline();
    line.run((_at, { attempt }) => (attempt < 4 ? failing(refused)() : line.after(5, failing(refused))), {
      deadline: line.deadline(10),
    });
    await line.until(100);
    expect(line.settledAt).toBe(10);
    expect(line.starts).toEqual([0, 1, 3, 7]);
  });

  it("R-31 ends at an authentication failure", async () => {
    const line = new Timeline().run((_at, { attempt }) => {
      throw status(attempt === 1 ? 14 : 16, "no");
    });
    await line.until(60);
    expect(line.settledAt).toBe(1);
    expect(line.error).toBeInstanceOf(BootstrapPermanentError);
    expect((line.error as BootstrapPermanentError).attempts).toHaveLength(2);
  });

  it("R-33 sees the certificate inside UNAVAILABLE", async () => {
    const details =
      "No connection established. Last error: Error: self-signed certificate in certificate chain";
    const line = new Timeline().run(failing(() => status(14, details)));
    await line.until(60);
    expect(line.starts).toEqual([0]);
    expect(line.error).toBeInstanceOf(BootstrapPermanentError);
    expect(line.retrier.status().lastError).toMatchObject({
      verdict: "permanent",
      code: "SELF_SIGNED_CERT_IN_CHAIN",
    });
  });

  it("R-45 shows what it waits for", async () => {
    const line = new Timeline().run(failing(refused));
    await line.until(40);
    expect(line.retrier.status()).toMatchObject({
      state: "waiting",
      attempt: 6,
      nextAttemptAt: line.zero + 61_000,
      nextAttemptInMs: 21_000,
      lastError: { code: "ECONNREFUSED", verdict: "transient" },
      elapsedMs: 40_000,
      remainingMs: Number.POSITIVE_INFINITY,
    });
    expect(line.retrier.status().sentence).toBe(
      "Bootstrap waits 21 s for attempt 7 after 40 s; last failure ECONNREFUSED (transient): connect ECONNREFUSED 10.0.0.1:443.",
    );
  });

  it.each([
    [45, [61, 91]],
    [80, [80, 110]],
  ])("R-46 goes on after a restart that ends at %i", async (back, expected) => {
    const line = new Timeline().run(failing(refused));
    await line.until(31);
    const stored: unknown = JSON.parse(JSON.stringify(line.retrier.snapshot()));
    await line.until(35);
    line.clock.restart((back - 35) * 1000);
    line.starts.length = 0;
    line.run(failing(refused), { restore: stored as ReturnType<BootstrapRetrier["snapshot"]> });
    await line.until(expected[1]! + 1);
    expect(line.starts).toEqual(expected);
    expect(line.retrier.status()).toMatchObject({ attempt: 8, elapsedMs: (expected[1]! + 1) * 1000 });
  });

  it("R-48 does not feel a clock that is set back", async () => {
    const line = new Timeline().run(failing(refused));
    await line.until(40);
    line.clock.stepWall(-3_600_000);
    await line.until(62);
    expect(line.starts.at(-1)).toBe(61);
  });

  it("R-53 rejects at the deadline, and never resolves", async () => {
    const line = new Timeline();
    const deadline = line.deadline(5);
    line.run(never, { deadline, attemptTimeoutMs: 60_000 });
    await line.until(4);
    deadline.controller.abort(new Error("expired"));
    await line.until(6);
    expect(line.settledAt).toBe(4);
    expect(line.error).toBeInstanceOf(BootstrapDeadlineError);
    expect(line.error).toMatchObject({ deadlineReason: { message: "expired" }, waitMs: null });
  });

  it("R-56 asks the embedder's classifier first", async () => {
    for (const [detail, starts] of [
      ["expired", [0, 1]],
      ["banned", [0]],
    ] as const) {
      const line = new Timeline().run(
        (_at, { attempt }) => {
          if (attempt === 2) return "policy";
          throw status(7, detail);
        },
        {
          classify: (error) =>
            (error as { details?: string }).details === "expired" ? { verdict: "transient" } : undefined,
        },
      );
      await line.until(60);
      expect(line.starts).toEqual(starts);
    }
  });
});

it("covers every R row of the table", () => {
  const rows = readFileSync("test/fixtures/vectors/scenarios.md", "utf8").matchAll(/^\| (R-\d+) \|/gm);
  const parts = ["scenarios", "scenarios-abort", "scenarios-wait"];
  const sources = parts.map((part) => readFileSync(`${import.meta.dirname}/${part}.test.ts`, "utf8"));
  // R-52 is about recovery: sequence/bootstrap-sequence.test.ts.
  const source = `${sources.join("")} R-52`;
  for (const [, id] of rows) expect(source).toContain(`${id!} `.trimEnd());
});
