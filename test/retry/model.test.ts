import { expect, it } from "vitest";
import { PhasedDeadline } from "../../src/deadline/index.js";
import { BootstrapRetrier, exponentialBackoff } from "../../src/retry/index.js";
import { seededRandom, VirtualClock } from "../../src/testing/index.js";
import { courseOf, type Course, type Limits, type Scripted } from "./model.js";

const ATTEMPTS = 60;

function drawing(seed: number) {
  const random = seededRandom(seed);
  const of = <Value>(list: readonly Value[]): Value => list[Math.floor(random() * list.length)] as Value;
  return { of, chance: (share: number): boolean => random() < share };
}
type Draw = ReturnType<typeof drawing>;

function drawAttempt({ of, chance }: Draw): Scripted {
  const ends = ["permanent", "authentication", "value"] as const;
  const kind = chance(0.05)
    ? of(ends)
    : of<Scripted["kind"]>(["transient", "transient", "transient", "suspect", "suspect", "hangs"]);
  const tookMs = of([0, 0, 0, 100, 700]);
  if (kind === "transient" && chance(0.15))
    return { kind, tookMs, hintMs: of([1000, 5000, 20_000, 400_000]) };
  if (kind === "transient" && chance(0.15)) return { kind, tookMs, pushbackMs: of([1, 250, 4000, 90_000]) };
  return { kind, tookMs };
}

function drawLimits({ of, chance }: Draw): Limits {
  const initialMs = of([500, 1000, 3000]);
  return {
    initialMs,
    factor: of([1, 2, 3]),
    capMs: of([initialMs, 8000, 30_000]),
    attemptTimeoutMs: 2000,
    hintCapMs: of([15_000, 300_000]),
    maxAttempts: chance(0.4) ? of([1, 2, 3, 6, 12]) : Infinity,
    totalMs: chance(0.5) ? of([1, 3000, 20_000, 100_000]) : Infinity,
    suspect: of([
      { attempts: 3, forMs: 60_000 },
      { attempts: 2, forMs: 1000 },
      { attempts: 5, forMs: 100 },
    ]),
    refreshes: chance(0.4),
  };
}

function failureOf({ kind, hintMs, pushbackMs }: Scripted): Error {
  if (hintMs !== undefined)
    return Object.assign(new Error("busy"), {
      status: 503,
      headers: { "retry-after": String(hintMs / 1000) },
    });
  if (pushbackMs !== undefined) {
    const metadata = new Map([["grpc-retry-pushback-ms", String(pushbackMs)]]);
    return Object.assign(new Error("busy"), { code: 14, details: "busy", metadata });
  }
  if (kind === "authentication") return Object.assign(new Error("who?"), { status: 401 });
  if (kind === "suspect") return new Error("boom");
  return Object.assign(new Error("failed"), {
    code: kind === "permanent" ? "CERT_HAS_EXPIRED" : "ECONNREFUSED",
  });
}

/** The same through the library, on a virtual clock, for as long as the model's run lasts. */
async function run(script: readonly Scripted[], limits: Limits, lastsMs: number): Promise<Course> {
  const clock = new VirtualClock();
  const start = clock.now();
  const { totalMs, maxAttempts, refreshes } = limits;
  using deadline = PhasedDeadline.start(
    { phases: [{ name: "bootstrap", budgetMs: totalMs === Infinity ? undefined : totalMs }] },
    { attempt: "a1", clock },
  );
  const retrier = new BootstrapRetrier({
    clock,
    deadline,
    backoff: exponentialBackoff({ ...limits, jitter: "none" }),
    attemptTimeoutMs: limits.attemptTimeoutMs,
    hintCapMs: limits.hintCapMs,
    suspect: limits.suspect,
    maxAttempts: maxAttempts === Infinity ? undefined : maxAttempts,
    refresh: refreshes ? () => undefined : undefined,
  });
  const starts: number[] = [];
  let endedAt = Number.NaN;
  void retrier
    .run(async ({ attempt }) => {
      starts.push(clock.now() - start);
      const scripted = script[attempt - 1];
      if (scripted === undefined || scripted.kind === "hangs") return new Promise<never>(() => undefined);
      if (scripted.tookMs > 0)
        await new Promise<void>((resolve) => clock.schedule(clock.now() + scripted.tookMs, resolve));
      if (scripted.kind !== "value") throw failureOf(scripted);
      return "policy";
    })
    .catch(() => undefined)
    .finally(() => (endedAt = clock.now() - start));
  await clock.advanceAsync(lastsMs);
  const { outcome } = retrier.status();
  if (outcome === null)
    return { starts: starts.slice(0, script.length), outcome: "goes on", endedAt: lastsMs };
  if (outcome === "cancelled") throw new Error("nobody cancelled");
  return { starts, outcome, endedAt };
}

it("a run and a second reading of the design take the same course, 600 times", async () => {
  for (let seed = 1; seed <= 600; seed += 1) {
    const draw = drawing(seed);
    const limits = drawLimits(draw);
    const script = Array.from({ length: ATTEMPTS }, () => drawAttempt(draw));
    const course = courseOf(script, limits);
    expect(await run(script, limits, course.endedAt), `seed ${seed}, ${JSON.stringify(limits)}`).toEqual(
      course,
    );
  }
});
