import { readFileSync } from "node:fs";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import {
  bootstrapSequence,
  BootstrapDeadlineError,
  BootstrapPermanentError,
  BootstrapRetrier,
  classify,
  completeActivation,
  exponentialBackoff,
  grpcStatusNames,
  stopActivation,
  type BootstrapRetrierOptions,
} from "../../src/retry/index.js";
import { InMemoryActivationLedger, seededRandom, VirtualClock } from "../../src/testing/index.js";

const status = (name: string): Error => {
  const code = grpcStatusNames.findIndex((known) => known === name);
  return Object.assign(new Error(`${code} ${name}`), { code, details: name, metadata: { get: () => [] } });
};

/** What the names in the vectors stand for, as the clients throw it. */
function thrown(name: string): unknown {
  if (name === "TLS_CA_FILE_MISSING") {
    try {
      return readFileSync(join(tmpdir(), "slipway-no-such-folder", "ca.crt"));
    } catch (error) {
      return error;
    }
  }
  if (name === "TLS_CERT_INVALID")
    return Object.assign(new Error("unable to verify the first certificate"), {
      code: "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    });
  return status(name);
}

let clock: VirtualClock;
let ledger: InMemoryActivationLedger;
let starts: number[];
const seconds = (): number => (clock.now() - 1_800_000_000_000) / 1000;

beforeEach(() => {
  clock = new VirtualClock();
  ledger = new InMemoryActivationLedger();
  starts = [];
});

/** The supervisor: policy from a gateway that is up from `upAt`, then the sidecar that is ready from `readyAt`. */
function supervise(
  gateway: { upAt: number; readyAt?: number; answer?: () => unknown },
  options: BootstrapRetrierOptions = {},
  instanceId = "run-1",
): { run: ReturnType<typeof bootstrapSequence>; retrier: BootstrapRetrier } {
  const retrier = new BootstrapRetrier({
    clock,
    random: seededRandom(2),
    backoff: exponentialBackoff(),
    ...options,
  });
  const run = bootstrapSequence({
    instanceId,
    ledger,
    retrier,
    steps: [
      {
        name: "policy",
        run: () => {
          if (seconds() < gateway.upAt) throw status("UNAVAILABLE");
          return gateway.answer === undefined ? "policy" : gateway.answer();
        },
      },
      {
        name: "enforcement",
        run: () => {
          if (seconds() < (gateway.readyAt ?? 0))
            throw Object.assign(new Error("connect ENOENT"), { code: "ENOENT", syscall: "connect" });
        },
      },
    ],
    activate: () => starts.push(seconds()),
  });
  run.catch(() => undefined);
  return { run, retrier };
}

describe("seed 002: bootstrap outlives an outage of the gateway", () => {
  it("criterion 1: tolerates transient unavailability and becomes usable without deletion", async () => {
    const { run } = supervise({ upAt: 60 });
    await clock.advanceAsync(120_000);
    expect((await run).outcome).toBe("activated");
  });

  it.each([11.1, 120.1, 180, 900])(
    "criterion 2: outlives %d s, for the policy and for the sidecar",
    async (upAt) => {
      const { run } = supervise({ upAt, readyAt: upAt * 2 });
      await clock.advanceAsync(upAt * 2000 + 31_000);
      expect((await run).outcome).toBe("activated");
      expect(starts).toHaveLength(1);
      expect(starts[0]).toBeGreaterThanOrEqual(upAt * 2);
    },
  );

  it.each([
    "UNAUTHENTICATED",
    "PERMISSION_DENIED",
    "FAILED_PRECONDITION",
    "TLS_CERT_INVALID",
    "TLS_CA_FILE_MISSING",
  ])("criterion 3: %s fails explicitly, and no workload starts", async (name) => {
    const answer = (): never => {
      throw thrown(name);
    };
    const { run, retrier } = supervise({ upAt: 5, answer });
    await clock.advanceAsync(60_000);
    await expect(run).rejects.toBeInstanceOf(BootstrapPermanentError);
    expect(retrier.status().outcome).toBe("permanent");
    expect([starts, ledger.entries.size]).toEqual([[], 0]);
  });

  it("criterion 4: attempts are bounded, backoff is capped, waiting is cancellable and diagnosable", async () => {
    const controller = new AbortController();
    const { run, retrier } = supervise(
      { upAt: 0, answer: () => new Promise(() => undefined) },
      { signal: controller.signal },
    );
    await clock.advanceAsync(10_000);
    expect(retrier.status()).toMatchObject({ state: "waiting", lastError: { code: "ATTEMPT_TIMEOUT" } });
    await clock.advanceAsync(600_000);
    for (const { waitMs } of retrier.status().history) expect(waitMs).toBeLessThanOrEqual(30_000);
    expect(retrier.toCondition()).toMatchObject({ status: "False", cause: { reason: "ATTEMPT_TIMEOUT" } });
    controller.abort("shutdown");
    await expect(run).rejects.toBe("shutdown");
    expect(clock.timers).toBe(0);
  });

  it("criterion 5: workspace data survives the recovery", async () => {
    const workspace = mkdtempSync(join(tmpdir(), "slipway-workspace-"));
    try {
      writeFileSync(join(workspace, "sentinel"), "kept");
      const end = clock.now() + 100_000;
      const deadline = { signal: new AbortController().signal, remainingMs: () => end - clock.now() };
      const { run } = supervise({ upAt: 130 }, { deadline });
      await clock.advanceAsync(130_000);
      await expect(run).rejects.toBeInstanceOf(BootstrapDeadlineError);
      const recovered = supervise({ upAt: 130 }, {}, "run-2");
      expect((await recovered.run).outcome).toBe("activated");
      expect(readFileSync(join(workspace, "sentinel"), "utf8")).toBe("kept");
      expect(starts).toHaveLength(1);
    } finally {
      rmSync(workspace, { recursive: true });
    }
  });

  it("criterion 6: stops and completed workloads stay terminal", async () => {
    await stopActivation(ledger, "stopped", clock.now());
    expect((await supervise({ upAt: 0 }, {}, "stopped").run).outcome).toBe("stopped");
    await supervise({ upAt: 0 }, {}, "done").run;
    await completeActivation(ledger, "done", clock.now());
    expect((await supervise({ upAt: 0 }, {}, "done").run).outcome).toBe("completed");
    expect(starts).toHaveLength(1);
  });

  it("criterion 7: a terminal bootstrap error is left by an explicit new attempt with a new deadline", async () => {
    const crashed = { state: "activating", version: 1, claim: "gone", at: 0 } as const;
    await ledger.compareAndSwap("run-1", null, crashed);
    expect((await supervise({ upAt: 0 }).run).outcome).toBe("activation-uncertain");
    expect(starts).toHaveLength(0);
    expect((await supervise({ upAt: 0 }, {}, "run-2").run).outcome).toBe("activated");
    expect(starts).toHaveLength(1);
  });
});

interface Vector {
  readonly id: string;
  readonly input: { readonly op: string; readonly errors: readonly string[]; readonly outageMs?: number };
  readonly expect: {
    readonly retry?: boolean;
    readonly outcome?: string;
    readonly workloadStartedBefore?: boolean;
  };
}

describe("lifecycle.json bootstrapRetry", () => {
  const all = JSON.parse(readFileSync("test/fixtures/vectors/lifecycle.json", "utf8")) as Vector[];
  it.each(
    all.filter(({ input }) => input.op === "bootstrapRetry").map((vector) => [vector.id, vector] as const),
  )("%s", async (_id, { input, expect: expected }) => {
    if (input.outageMs !== undefined) {
      const { run } = supervise({ upAt: input.outageMs / 1000 });
      await clock.advanceAsync(input.outageMs - 1);
      expect(starts.length > 0).toBe(expected.workloadStartedBefore);
      await clock.advanceAsync(30_001);
      expect((await run).outcome).toBe("activated");
      return;
    }
    for (const name of input.errors)
      expect(classify(thrown(name)).verdict !== "permanent").toBe(expected.retry);
  });
});
