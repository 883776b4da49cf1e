import { DEFAULT_BUDGETS } from "@slipway-examples/gateway-core";
import {
  eventually,
  GatewayProcess,
  StartedGateway,
  type LeapingClock,
} from "@slipway-examples/gateway-core/testing";
import { join } from "node:path";
import { expect, vi } from "vitest";
import { vmDrivers } from "../src/index.js";
import { filesIn, type Lab } from "./lab.js";

/** Without KVM a guest needs seconds for what takes a real machine none; a busy machine makes it many. */
export const LIMIT_MS = 240_000;

/** A sandbox as most tests make it. */
export const create = {
  name: "box",
  image: { name: "local-big:1" },
  command: ["sleep", "1000"],
  driverOptions: { memoryMb: 384 },
};

/** A lab with gateways over its machines, one at a time. */
export class GatewayLab {
  readonly lab: Lab;
  dataDir = "";
  /** The one that is there at present, in this process. */
  gateway: StartedGateway | null = null;

  constructor(lab: Lab) {
    this.lab = lab;
  }

  /** Says where everything is, and imports the image that most tests use. */
  async prepare(): Promise<void> {
    const { lab } = this;
    // For the gateways that are processes of their own.
    vi.stubEnv("SLIPWAY_VM_GUEST", lab.guestDir);
    vi.stubEnv("SLIPWAY_VM_ACCELERATOR", "tcg");
    vi.stubEnv("DOCKER_HOST", `unix://${lab.dockerSocket}`);
    await lab.importImage(await lab.imageTar("big.tar", "--pad", "300"), "local-big:1");
  }

  /** A test is over: its gateway goes, and nothing else may be left. */
  async settle(): Promise<void> {
    const { lab } = this;
    await this.gateway?.close();
    this.gateway = null;
    await eventually("no container left", async () => (await lab.containers()).length === 0);
    await eventually("no process left", async () => (await lab.processes()).length === 0);
    expect(await lab.mounts()).toEqual([]);
  }

  async close(): Promise<void> {
    vi.unstubAllEnvs();
    await this.lab.close();
  }

  /** A gateway with a folder of its own: its client, and waiting for one of its sandboxes. */
  async opened(
    budgets: object = {},
    clock?: LeapingClock,
  ): Promise<Pick<StartedGateway, "client" | "until">> {
    this.dataDir = await this.lab.dataDir();
    const { guestDir, dockerSocket } = this.lab;
    const started = await StartedGateway.start({
      drivers: vmDrivers({ guestDir, dockerSocket, accelerator: "tcg" }),
      dataDir: this.dataDir,
      budgets: { ...DEFAULT_BUDGETS, ...budgets },
      clock,
    });
    this.gateway = started;
    const until: StartedGateway["until"] = (id, seen, limitMs = LIMIT_MS) => started.until(id, seen, limitMs);
    return { client: started.client, until };
  }

  /** A gateway that can be killed. It has this process's environment, and with it the lab's. */
  process(args: readonly string[]): GatewayProcess {
    const cli = join(import.meta.dirname, "../dist/cli.js");
    return new GatewayProcess({ dataDir: this.dataDir, args, cli });
  }

  /** Where a gateway that is a process of its own keeps what is the driver's. */
  get vmOfProcess(): string {
    return join(this.dataDir, "data/vm");
  }

  /** What of the driver's is left, beside images that are complete. */
  async left(vm = join(this.dataDir, "vm")): Promise<readonly string[]> {
    return (await filesIn(vm)).filter((name) => !/^images\/[0-9a-f]{32}\.(sqfs|json)$/.test(name));
  }
}
