import { expect } from "vitest";
import type { DockerDriverOptions } from "../src/docker-driver.js";
import { DriverBench } from "./driver-bench.js";
import type { TestEngine } from "./engine.js";

/** The drivers that a test has on a real engine. */
export class EngineBenches {
  readonly #engine: TestEngine;
  readonly #benches: DriverBench[] = [];

  constructor(engine: TestEngine) {
    this.#engine = engine;
  }

  bench(options: Partial<DockerDriverOptions> = {}): DriverBench {
    const made = new DriverBench(this.#engine, options);
    this.#benches.push(made);
    return made;
  }

  /** A test is over: its sandboxes go, and nothing may be left of them. */
  async settle(): Promise<void> {
    for (const made of this.#benches.splice(0)) await made.driver.remove(made.sandbox, made);
    expect(await this.#engine.remains()).toEqual({ containers: [], volumes: [], dangling: 0 });
  }
}
