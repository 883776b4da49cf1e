import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { groupMembers } from "../src/driver/process-identity.js";
import { eventually } from "../src/testing/eventually.js";
import type { ScriptedGateway } from "./scripted-gateway.js";
import type { SupervisedOptions } from "./supervised.js";
import { NETWORK, sidecars, SupervisedWorkspace } from "./supervised-workspace.js";

let workspace: SupervisedWorkspace;
let gateway: ScriptedGateway;

beforeEach(async () => {
  workspace = await SupervisedWorkspace.open();
  ({ gateway } = workspace);
});

afterEach(() => workspace.close());

const start = (options?: Partial<SupervisedOptions>) => workspace.start(options);
const read = (name: string) => workspace.read(name);
const isReady = () => workspace.isReady();

describe.runIf(process.platform === "linux")("enforcement", () => {
  beforeEach(async () => {
    gateway.policy = NETWORK;
    await gateway.open();
  });

  it("is a process of its own, ready before the workload starts, which is led through it", async () => {
    let atAdmission: Promise<readonly number[]> | undefined;
    gateway.script = ({ body }) => {
      if ((body as { kind?: string } | null)?.kind === "accepted") atAdmission = sidecars(supervised);
      return undefined;
    };
    const supervised = start();
    await isReady();
    expect(await atAdmission).toHaveLength(1);
    const env = JSON.parse(await read("env")) as Record<string, string>;
    expect(env["HTTPS_PROXY"]).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(env["NO_PROXY"]).toBe("");
    expect(JSON.stringify(env)).not.toContain("SLIPWAY_TOKEN");
    const denied = await fetch(`${env["HTTP_PROXY"] ?? ""}/.slipway/ready`);
    expect(await denied.json()).toMatchObject({ ready: true });
  });

  it("that dies before the start is brought back in the same bootstrap", async () => {
    let kills = 0;
    gateway.script = async ({ body }) => {
      if ((body as { kind?: string } | null)?.kind !== "accepted" || kills > 0) return undefined;
      kills += 1;
      for (const pid of await sidecars(supervised)) process.kill(pid, "SIGKILL");
      await supervised.says(/\[enforcement\] the enforcement sidecar ended: SIGKILL/);
      return { status: 503 };
    };
    const supervised = start();
    await isReady();
    expect(kills).toBe(1);
    const [pid] = await sidecars(supervised);
    expect(pid).toBeGreaterThan(0);
    const env = JSON.parse(await read("env")) as Record<string, string>;
    expect((await fetch(`${env["HTTP_PROXY"] ?? ""}/.slipway/ready`)).status).toBe(200);
    expect(await read("runs")).toBe("x");
    expect(gateway.kinds("enforcement-lost")).toEqual([]);
  });

  it("that dies after the start is reported, and the workload is cut off and not set free", async () => {
    const supervised = start();
    await isReady();
    for (const pid of await sidecars(supervised)) process.kill(pid, "SIGKILL");
    await eventually("the report", () => Promise.resolve(gateway.kinds("enforcement-lost").length > 0));
    const env = JSON.parse(await read("env")) as Record<string, string>;
    await expect(fetch(`${env["HTTP_PROXY"] ?? ""}/.slipway/ready`)).rejects.toThrow();
    expect(supervised.isRunning).toBe(true);
    gateway.commit({ version: 1, network: { allow: [] } });
    await eventually("the refusal", () => Promise.resolve(gateway.kinds("rejected").length > 0));
    expect(gateway.kinds("rejected")).toMatchObject([
      { message: expect.stringContaining("next start") as string },
    ]);
  });

  it("follows the policy while the workload runs", async () => {
    start();
    await isReady();
    const env = JSON.parse(await read("env")) as Record<string, string>;
    const revision = async (): Promise<unknown> =>
      ((await (await fetch(`${env["HTTP_PROXY"] ?? ""}/.slipway/ready`)).json()) as { revision: unknown })
        .revision;
    expect(await revision()).toBe(1);
    gateway.commit({ version: 1, network: { allow: [] } });
    await eventually("the acceptance", () => Promise.resolve(gateway.kinds("accepted").length === 2));
    expect(await revision()).toBe(2);
  });

  it("ends with the workload, and its end is not reported as a loss", async () => {
    const supervised = start({ command: ["true"] });
    expect(await supervised.exitCode()).toBe(0);
    expect(await groupMembers(supervised.pid)).toEqual([]);
    expect(gateway.kinds("enforcement-lost")).toEqual([]);
    expect(gateway.kinds("exited")).toEqual([{ kind: "exited", exitCode: 0, signal: null }]);
  });
});
