import type Docker from "dockerode";
import { planRecovery, type Observation, type SandboxRecord } from "slipway/phase";
import { VirtualClock } from "slipway/testing";
import { describe, expect, it } from "vitest";
import { DockerDriver } from "../src/docker-driver.js";

const SANDBOX = { id: "sb-1", name: "one" };
const INSTANCE = "i-1";

/**
 * An engine with one container, on a clock of its own. What it fakes: there is no daemon and no socket; only the calls
 * that a look makes are there.
 */
class DatedEngine {
  readonly clock = new VirtualClock();
  /** How far its clock is ahead of the gateway's. */
  aheadMs: number;
  /** How long it takes to say what time it is, before it looks at its clock and after. */
  pauses: readonly [before: number, after: number] = [0, 0];
  asked = 0;
  /** What it says of its time. */
  says: (now: number) => unknown = (now) => ({ SystemTime: new Date(now).toISOString() });
  readonly driver: DockerDriver;
  readonly #startedAt: string;
  #finishedAt: string | null = null;

  constructor(aheadMs: number) {
    this.aheadMs = aheadMs;
    this.#startedAt = this.#now();
    const container = {
      Id: "c-1",
      Labels: { "slipway.dev/sandbox-id": SANDBOX.id, "slipway.dev/instance-id": INSTANCE },
    };
    const docker = {
      listContainers: () => Promise.resolve([container]),
      listVolumes: () => Promise.resolve({ Volumes: [] }),
      getContainer: () => ({ inspect: () => Promise.resolve(this.#inspect(container.Labels)) }),
      info: ({ abortSignal }: { abortSignal: AbortSignal }) => this.#info(abortSignal),
    } as unknown as Docker;
    this.driver = new DockerDriver({ docker, gateway: "g", clock: this.clock });
  }

  end(): void {
    this.#finishedAt = this.#now();
  }

  async look(signal: AbortSignal = new AbortController().signal): Promise<Observation> {
    const run = { instanceId: INSTANCE, desired: "running" } as const;
    const seen = await this.driver.observe(SANDBOX, run, null, { signal });
    if (seen === null) throw new Error("nothing was observed");
    return seen;
  }

  #now(): string {
    return new Date(this.clock.now() + this.aheadMs).toISOString();
  }

  #inspect(Labels: Readonly<Record<string, string>>): object {
    const Running = this.#finishedAt === null;
    const FinishedAt = this.#finishedAt ?? "0001-01-01T00:00:00Z";
    const Status = Running ? "running" : "exited";
    const State = { Status, Running, ExitCode: Running ? 0 : 143, StartedAt: this.#startedAt, FinishedAt };
    return { Id: "c-1", State, Config: { Labels } };
  }

  async #info(signal: AbortSignal): Promise<unknown> {
    this.asked += 1;
    const [before, after] = this.pauses;
    await this.#pause(before, signal);
    const answer = this.says(this.clock.now() + this.aheadMs);
    await this.#pause(after, signal);
    return answer;
  }

  #pause(ms: number, signal: AbortSignal): Promise<void> {
    if (ms === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.clock.schedule(this.clock.now() + ms, () => resolve());
      signal.addEventListener("abort", () => reject(signal.reason as Error));
    });
  }
}

/** What a gateway does about a run that it stopped as it ended, and that was over two seconds later. */
async function recovered(engine: DatedEngine): Promise<string | null> {
  await engine.clock.advanceAsync(600_000);
  const now = engine.clock.now();
  const record: SandboxRecord = {
    ...{ phase: "Ready", desired: "running", since: now - 500_000, updatedAt: now },
    ...{ instanceId: INSTANCE, shutdownStopAt: now },
  };
  await engine.clock.advanceAsync(2000);
  engine.end();
  await engine.clock.advanceAsync(30_000);
  const observation = await engine.look();
  return planRecovery(record, { managesLifecycle: true, now: engine.clock.now(), observation }).call;
}

describe("an engine with a clock of its own", () => {
  it.each([0, -300, -5000, -60_000, 5000, 60_000])(
    "ahead by %i ms: what the gateway stopped as it ended is started again",
    async (aheadMs) => {
      expect(await recovered(new DatedEngine(aheadMs))).toBe("start");
    },
  );

  it.each([5000, 60_000])(
    "ahead by %i ms: what had ended before the gateway stopped anything is no end of its own making",
    async (aheadMs) => {
      const engine = new DatedEngine(aheadMs);
      await engine.clock.advanceAsync(600_000);
      engine.end();
      await engine.clock.advanceAsync(2000);
      const now = engine.clock.now();
      const record = { phase: "Ready", desired: "running", since: 0, shutdownStopAt: now } as const;
      const observation = await engine.look();
      const plan = planRecovery(record, { managesLifecycle: true, now, observation });
      expect(plan).toMatchObject({ call: null, record: { phase: "Error" } });
    },
  );

  it("is taken for right where its answer may have been under way that long", async () => {
    const engine = new DatedEngine(0);
    engine.end();
    const endedAt = engine.clock.now();
    engine.pauses = [3000, 0];
    const [seen] = await Promise.all([engine.look(), engine.clock.advanceAsync(3000)]);
    expect(seen.finishedAt).toBe(endedAt);
  });

  it.each([
    ["nothing", () => ({})],
    ["no time", () => ({ SystemTime: "soon" })],
    ["an error", () => Promise.reject(new Error("server error"))],
    ["no object", () => null],
  ])("that says %s of its time dates ends as before, and is still looked at", async (_, says) => {
    const engine = new DatedEngine(-5000);
    engine.says = says;
    engine.end();
    const seen = await engine.look();
    expect(seen).toMatchObject({ completed: true, exitCode: 143, finishedAt: engine.clock.now() - 5000 });
  });

  it("that never says its time is not waited for, and asked again only later", async () => {
    const engine = new DatedEngine(-5000);
    engine.pauses = [3_600_000, 0];
    engine.end();
    const endedAt = engine.clock.now() - 5000;
    const [seen] = await Promise.all([engine.look(), engine.clock.advanceAsync(5000)]);
    expect(seen).toMatchObject({ completed: true, finishedAt: endedAt });
    await engine.look();
    expect(engine.asked).toBe(1);
  });

  it("ends a look that is given up while its time is asked for, with the caller's reason", async () => {
    const engine = new DatedEngine(0);
    engine.pauses = [3_600_000, 0];
    engine.end();
    const controller = new AbortController();
    const seen = engine.look(controller.signal).catch((error: unknown) => error);
    await engine.clock.advanceAsync(1000);
    const reason = new Error("enough");
    controller.abort(reason);
    expect(await seen).toBe(reason);
  });

  it("is asked once for all looks, anew after half a minute, and not for what runs", async () => {
    const engine = new DatedEngine(-5000);
    await engine.look();
    expect(engine.asked).toBe(0);
    engine.end();
    const endedAt = engine.clock.now();
    await Promise.all([engine.look(), engine.look(), engine.look()]);
    expect(engine.asked).toBe(1);
    await engine.clock.advanceAsync(30_001);
    // A slower answer contradicts nothing: the end is where it was.
    engine.pauses = [40, 300];
    const [seen] = await Promise.all([engine.look(), engine.clock.advanceAsync(340)]);
    expect(engine.asked).toBe(2);
    expect(seen.finishedAt).toBe(endedAt);
  });

  it("is followed where its clock is set", async () => {
    const engine = new DatedEngine(-60_000);
    engine.end();
    expect((await engine.look()).finishedAt).toBe(engine.clock.now());
    engine.aheadMs = 0;
    await engine.clock.advanceAsync(30_001);
    engine.end();
    expect((await engine.look()).finishedAt).toBe(engine.clock.now());
  });
});
