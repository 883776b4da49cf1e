import { observeDockerInspect, type DesiredState, type Observation } from "slipway/phase";
import { VirtualClock } from "slipway/testing";
import { expect, it } from "vitest";
import { settledEnd } from "../src/settled-end.js";

const ENDED_AT = Date.parse("2026-11-30T12:00:00Z");

function end(OOMKilled: boolean, ExitCode = 137): Observation {
  const State = {
    Status: "exited",
    OOMKilled,
    ExitCode,
    StartedAt: "2026-11-30T11:00:00Z",
    FinishedAt: "2026-11-30T12:00:00Z",
  };
  return observeDockerInspect({ inspect: { State } });
}

const killed = end(false);
const outOfMemory = end(true);
const gone = observeDockerInspect({ inspect: null, error: { statusCode: 404 } });

interface Circumstances {
  readonly ageMs?: number;
  readonly desired?: DesiredState;
  readonly signal?: AbortSignal;
}

/** An engine that shows each of these 60 ms after the one before, and the last for ever. */
async function told(
  shown: readonly Observation[],
  { ageMs = 5, desired = "running", signal = new AbortController().signal }: Circumstances = {},
): Promise<{ reason: string | null; looks: number; afterMs: number }> {
  const clock = new VirtualClock({ startAt: ENDED_AT + ageMs });
  const begun = clock.now();
  let looks = 0;
  const look = (): Promise<Observation> => {
    const seen = shown[Math.min(Math.floor((clock.now() - begun) / 60), shown.length - 1)];
    looks += 1;
    return seen === undefined ? Promise.reject(new Error("nothing is shown")) : Promise.resolve(seen);
  };
  const settled = settledEnd(look, { desired }, clock, signal).then(({ failureReason }) => ({
    reason: failureReason,
    looks,
    afterMs: clock.now() - begun,
  }));
  await Promise.all([clock.advanceAsync(10_000), settled.catch(() => undefined)]);
  return settled;
}

it("a lack of memory that the engine learns after the end is told as one", async () => {
  expect(await told([killed, outOfMemory])).toEqual({ reason: "OutOfMemory", looks: 3, afterMs: 100 });
});

it("a kill whose cause stays unknown is told within a second of its end", async () => {
  expect(await told([killed])).toMatchObject({ reason: "Killed", afterMs: 1000 });
  expect(await told([killed], { ageMs: 900 })).toMatchObject({ reason: "Killed", afterMs: 100 });
});

it.each([
  ["a kill that is a second old", killed, { ageMs: 1000 }, "Killed"],
  ["an end of its own", end(false, 3), {}, "ProcessExited"],
  ["another signal", end(false, 139), {}, "Killed"],
  ["a lack of memory", outOfMemory, {}, "OutOfMemory"],
  ["a kill after a stop was asked for", killed, { desired: "stopped" as const }, "Killed"],
  ["a kill before a deletion", killed, { desired: "deleted" as const }, "Killed"],
])("%s is told at once", async (_, seen, options, reason) => {
  expect(await told([seen], options)).toEqual({ reason, looks: 1, afterMs: 0 });
});

it("an end in the future of the clock, as a badly known skew gives it, is waited for no longer", async () => {
  expect(await told([killed], { ageMs: -3_600_000 })).toMatchObject({ reason: "Killed", afterMs: 1000 });
});

it("what was seen of an end is told where the container is removed meanwhile", async () => {
  expect(await told([killed, gone])).toMatchObject({ reason: "Killed", afterMs: 100 });
});

it("whoever does not wait any more is let go", async () => {
  const control = new AbortController();
  const reason = new Error("the gateway ends");
  control.abort(reason);
  await expect(told([killed], { signal: control.signal })).rejects.toBe(reason);
});
