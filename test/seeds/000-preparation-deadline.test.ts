import { describe, expect, it } from "vitest";
import { getCondition } from "../../src/conditions/index.js";
import { deadlineConditions, definePlan, PhasedDeadline, readDeadline } from "../../src/deadline/index.js";
import { decodeDeadlineState } from "../../src/schema/index.js";
import { VirtualClock } from "../../src/testing/index.js";

const MINUTE = 60_000;

/** The window that used to cover everything from create to Ready. */
const SHARED_WINDOW_MS = 5 * MINUTE;

const plan = definePlan({
  phases: [
    {
      name: "preparation",
      budgetMs: 30 * MINUTE,
      stallMs: { download: 2 * MINUTE, extract: 5 * MINUTE },
      timeoutReason: "ImagePreparationTimedOut",
    },
    { name: "admission", budgetMs: SHARED_WINDOW_MS, renewOn: "change", ceilingMs: 60 * MINUTE },
  ],
  ceilingMs: 95 * MINUTE,
});

function create(clock: VirtualClock, attempt = "attempt-1"): PhasedDeadline {
  return PhasedDeadline.start(plan, { attempt, clock, configuration: { generation: 1, digest: "sha256:1" } });
}

/** The reference image: 4.9 GB at 14 MB/s, reported every second, takes 5 min 50 s to download. */
function downloadReferenceImage(clock: VirtualClock, deadline: PhasedDeadline): void {
  const total = 4_900_000_000;
  const each = 14_000_000;
  for (let position = each; position < total + each; position += each) {
    clock.advance(1000);
    deadline.progress({ step: "download", part: "layer-1", position: Math.min(position, total) });
  }
}

describe("seed 000: first-time image preparation has its own bounded deadline", () => {
  it("a reference image takes more than five minutes to prepare and then proceeds to admission", () => {
    const clock = new VirtualClock();
    const deadline = create(clock);
    const startedAt = clock.now();
    downloadReferenceImage(clock, deadline);
    expect(clock.now() - startedAt).toBeGreaterThan(SHARED_WINDOW_MS);
    expect(deadline.enter("admission")).toMatchObject({ applied: true });
    expect(deadline.complete()).toMatchObject({ applied: true });
    expect(deadline.state.status).toBe("completed");
  });

  it("an invalid policy receives the whole admission window, not what preparation left over", () => {
    const clock = new VirtualClock();
    const deadline = create(clock);
    downloadReferenceImage(clock, deadline);
    deadline.enter("admission");
    expect(deadline.remainingMs()).toBe(SHARED_WINDOW_MS);
    clock.advance(MINUTE);
    expect(
      deadline.reject({ generation: 1, reason: "ConfigurationInvalid", message: "unknown host" }),
    ).toMatchObject({ applied: true, renewed: true });
    expect(deadline.remainingMs()).toBe(SHARED_WINDOW_MS);
    clock.advance(SHARED_WINDOW_MS);
    expect(deadline.state.expiry).toMatchObject({ phase: "admission", reason: "ProvisioningTimedOut" });
    expect(deadline.state.expiry?.message).toContain("ConfigurationInvalid: unknown host");
  });

  it("stalled preparation expires at its own deadline with an inspectable reason and invokes cleanup", () => {
    const clock = new VirtualClock();
    const deadline = create(clock);
    const cleanups: string[] = [];
    deadline.on("expired", () => cleanups.push(deadline.attempt));
    clock.advance(10_000);
    deadline.progress({ step: "download", position: 1_400_000_000 });
    const stalledAt = clock.now();
    clock.advance(30 * MINUTE);
    expect(deadline.state.expiry).toMatchObject({
      phase: "preparation",
      limitedBy: "stall",
      at: stalledAt + 2 * MINUTE,
      reason: "ImagePreparationTimedOut",
      message: "preparation stalled: no new progress for 120 s; last progress in download at 1400000000",
    });
    expect(cleanups).toEqual(["attempt-1"]);
    expect(deadline.state.cleanup.status).toBe("pending");
    expect(getCondition(deadlineConditions(deadline.state, clock.now()), "Ready")).toMatchObject({
      status: "False",
      reason: "ImagePreparationTimedOut",
    });
  });

  it("restarts, duplicate progress and no-op settings writes neither extend the deadline nor revive an attempt", () => {
    const clock = new VirtualClock();
    let deadline = create(clock);
    const deadlineAt = clock.now() + 30 * MINUTE;
    deadline.progress({ step: "extract", position: 7 });
    for (let restart = 0; restart < 5; restart += 1) {
      const saved = JSON.stringify(deadline.state);
      clock.restart(MINUTE / 2);
      deadline = PhasedDeadline.restore(decodeDeadlineState(JSON.parse(saved)), { clock });
      expect(deadline.progress({ step: "extract", position: 7 })).toMatchObject({ why: "duplicate" });
      expect(deadline.change({ generation: 2 + restart, digest: "sha256:1" })).toMatchObject({
        renewed: false,
      });
      expect(readDeadline(deadline.state, clock.now()).bounds.budget).toBe(deadlineAt);
    }
    clock.advance(30 * MINUTE);
    expect(deadline.state.status).toBe("expired");
    const settled = JSON.stringify(deadline.state);
    const revived = PhasedDeadline.restore(decodeDeadlineState(JSON.parse(settled)), { clock });
    expect(revived.progress({ step: "extract", position: 8 })).toMatchObject({ why: "settled" });
    expect(revived.change({ generation: 99, digest: "sha256:2" })).toMatchObject({ why: "settled" });
    expect(revived.enter("admission")).toMatchObject({ why: "settled" });
    expect(JSON.stringify(revived.state)).toBe(settled);
  });

  it("a real committed configuration change keeps its repair window in admission", () => {
    const clock = new VirtualClock();
    const deadline = create(clock);
    clock.advance(20 * MINUTE);
    deadline.enter("admission");
    clock.advance(4 * MINUTE);
    expect(deadline.change({ generation: 2, digest: "sha256:2" })).toMatchObject({ renewed: true });
    expect(deadline.remainingMs()).toBe(SHARED_WINDOW_MS);
    clock.advance(4 * MINUTE);
    expect(deadline.change({ generation: 3, digest: "sha256:2" })).toMatchObject({ renewed: false });
    expect(deadline.remainingMs()).toBe(MINUTE);
  });

  it("the lifecycle tests cover both phases and their transition without a network or a real clock", () => {
    const clock = new VirtualClock();
    const deadline = create(clock);
    const seen: string[] = [];
    deadline.on("phase", ({ from, to }) => seen.push(`${from} -> ${to}`));
    deadline.on("settled", ({ status }) => seen.push(status));
    clock.advance(30 * MINUTE - 1);
    deadline.progress({ step: "extract", position: 1 });
    deadline.enter("admission");
    clock.advance(SHARED_WINDOW_MS - 1);
    expect(deadline.state.status).toBe("active");
    clock.advance(1);
    expect(seen).toEqual(["preparation -> admission", "expired"]);
    expect(clock.timers).toBe(0);
  });
});
