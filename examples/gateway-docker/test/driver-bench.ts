import type { DriverProgress, LaunchRequest, SandboxRef, SandboxView } from "@slipway-examples/gateway-core";
import { systemClock, type Clock } from "slipway";
import { derivePhase, type DesiredState, type ExpectedRun, type Observation } from "slipway/phase";
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { DockerDriver, type DockerDriverOptions } from "../src/docker-driver.js";
import { STAND_IN_IMAGE, type TestEngine } from "./engine.js";

export const TOKEN = "the-secret-of-this-attempt";

/** A driver and one sandbox of it, without a gateway. */
export class DriverBench {
  readonly engine: TestEngine;
  readonly driver: DockerDriver;
  readonly sandbox: SandboxRef;
  readonly reports: DriverProgress[] = [];
  readonly signal: AbortSignal = new AbortController().signal;

  constructor(engine: TestEngine, options: Partial<DockerDriverOptions> = {}) {
    this.engine = engine;
    // Long enough for whoever obeys, on any machine. Who does not needs less: one second is the engine's smallest.
    this.driver = new DockerDriver({
      docker: engine.docker,
      gateway: "test",
      stopGraceMs: 60_000,
      ...options,
    });
    const id = randomUUID();
    this.sandbox = { id, name: `sandbox-${id.slice(0, 8)}` };
  }

  request(run: number, command: readonly string[], more: Partial<LaunchRequest> = {}): LaunchRequest {
    return {
      sandbox: this.sandbox,
      instance: { id: `instance-${run}`, attemptNumber: 1, run },
      image: { name: STAND_IN_IMAGE },
      command,
      options: {},
      // Nobody is there: what would call back is the supervisor, and the stand-in does not.
      access: { url: "http://127.0.0.1:9", token: TOKEN },
      ...more,
    };
  }

  async launch(request: LaunchRequest, signal: AbortSignal = this.signal): Promise<string> {
    const report = (progress: DriverProgress): void => void this.reports.push(progress);
    const handle = (await this.driver.launch(request, { signal, report })) as { container: string };
    return handle.container;
  }

  async observe(run: ExpectedRun = {}, handle: string | null = null): Promise<Observation> {
    const seen = await this.driver.observe(
      this.sandbox,
      run,
      handle === null ? null : { container: handle },
      this,
    );
    if (seen === null) throw new Error("nothing was observed");
    return seen;
  }

  /** Looks until it is so. The limit is for a fault that would otherwise hang. */
  async until(is: (seen: Observation) => boolean, run: ExpectedRun = {}): Promise<Observation> {
    return until(async () => {
      const seen = await this.observe(run);
      return is(seen) ? seen : null;
    });
  }
}

/** The phase that the rules make of an observation, and why. */
export function phaseAfter(
  phase: "Starting" | "Ready" | "Stopping" | "Deleting",
  desired: DesiredState,
  observation: Observation,
): { phase: string; reason: string } {
  return derivePhase({ record: { phase, desired, since: 0 }, observation, now: Date.now() });
}

/** A gateway's clock that is ahead of the engine's, which on a test's machine goes by the same host. */
export function clockAhead(byMs: number): Clock {
  return {
    now: () => systemClock.now() + byMs,
    schedule: (at, callback, options) => systemClock.schedule(at - byMs, callback, options),
  };
}

/** The operations of a sandbox that are open, and by which way. */
export function open({ operations }: SandboxView): readonly string[] {
  return Object.entries(operations).flatMap(([name, gate]) =>
    gate.allowed ? [`${name}: ${gate.route}`] : [],
  );
}

export async function until<Value>(look: () => Promise<Value | null>, limitMs = 120_000): Promise<Value> {
  const end = Date.now() + limitMs;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    if (Date.now() > end) throw new Error("it did not come to be in time");
    await delay(25);
  }
}

export async function untilTrue(look: () => boolean): Promise<true> {
  return until(() => Promise.resolve(look() ? true : null));
}
