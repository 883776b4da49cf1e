import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { cp, readFile } from "node:fs/promises";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { groupMembers } from "../src/driver/process-identity.js";
import { readFailures } from "../src/metrics/failure-header.js";
import { UNTOLD_FAILURE } from "../src/record/exit-codes.js";
import { supervisorBundle } from "../src/supervisor-bundle.js";
import { eventually } from "../src/testing/eventually.js";
import type { ScriptedGateway } from "./scripted-gateway.js";
import type { SupervisedOptions } from "./supervised.js";
import { NETWORK, sidecars, SupervisedWorkspace } from "./supervised-workspace.js";
import { tempDir } from "./temp-dir.js";

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

describe("a supervisor whose gateway is not there yet", () => {
  it("waits it out with capped backoff, says so, and starts the workload once over the kept workspace", async () => {
    await gateway.reserve();
    const supervised = start();
    await supervised.says(
      /\[gateway\] Bootstrap waits \d+(\.\d)? s for attempt 4 .*ECONNREFUSED \(transient\)/,
    );
    expect(await read("runs")).toBe("");
    await gateway.open();
    await isReady();
    expect([await read("runs"), await read("sentinel")]).toEqual(["x", "kept"]);
    expect(gateway.entry).toMatchObject({ state: "active" });
    expect(gateway.kinds("bootstrap")[0]).toMatchObject({
      reason: "BootstrapInProgress",
      message: expect.stringMatching(/attempt/) as string,
    });
    const told = gateway.asked.map(({ failures }) => readFailures(failures).transient ?? 0);
    const waits = [...supervised.text.matchAll(/for attempt (\d+)/g)].map(([, attempt]) => Number(attempt));
    expect(told.reduce((sum, each) => sum + each, 0)).toBe(Math.max(...waits) - 1);
  });

  it("is one self-contained file, which needs nothing beside it", async () => {
    await gateway.reserve();
    const program = join(await tempDir(), "supervisor.mjs");
    await cp(supervisorBundle, program);
    gateway.policy = NETWORK;
    const supervised = start({ program });
    await supervised.says(/waits/);
    await gateway.open();
    await isReady();
    expect(await read("runs")).toBe("x");
    expect(await sidecars(supervised)).toHaveLength(1);
  });

  it("gives up when the budget of the launch is over, and has started nothing", async () => {
    await gateway.reserve();
    const supervised = start({ budgetMs: 1200 });
    expect(await supervised.exitCode()).toBe(1);
    expect(supervised.text).toMatch(/Bootstrap failed after .*deadline/);
    expect(await read("runs")).toBe("");
  });

  it("goes by the gateway's deadline from its first answer on, and keeps it when the gateway is gone", async () => {
    await gateway.open();
    gateway.remainingMs = 1500;
    gateway.script = ({ path }) => (path.endsWith("/configuration") ? "drop" : undefined);
    const supervised = start({ budgetMs: 600_000 });
    await supervised.says(/\[policy\] Bootstrap waits/);
    await gateway.close();
    expect(await supervised.exitCode()).toBe(1);
    expect(supervised.text).toMatch(/Bootstrap failed after .*deadline/);
  });

  it("is cancelled by SIGTERM while it waits, and leaves no process", async () => {
    await gateway.reserve();
    const supervised = start();
    await supervised.says(/waits/);
    supervised.signal("SIGTERM");
    expect(await supervised.exitCode()).toBe(143);
    expect(supervised.text).toMatch(/Bootstrap was cancelled/);
    expect(await groupMembers(supervised.pid)).toEqual([]);
  });

  it("survives resets, hangs and 503 on the way", async () => {
    await gateway.open();
    const answers = ["drop", { status: 503 }, "drop", { status: 429, body: null }] as const;
    let next = 0;
    gateway.script = () => answers[next++];
    start();
    await isReady();
    expect(await read("runs")).toBe("x");
  });
});

describe("what no wait mends ends a bootstrap at once", () => {
  it.each([
    [401, "unauthorized"],
    [409, "stale-run"],
    [410, "expired"],
    [410, "settled"],
  ])("a refusal of the gateway: %i %s", async (status, code) => {
    await gateway.open();
    gateway.script = () => ({ status, body: { error: { code, message: `no: ${code}` } } });
    const supervised = start();
    expect(await supervised.exitCode()).not.toBe(0);
    expect(supervised.text).toContain(`Dismissed: no: ${code}`);
    expect(gateway.asked).toHaveLength(1);
    expect(await read("runs")).toBe("");
  });

  it.each([
    [403, "HTTP_403"],
    [400, "HTTP_400"],
  ])("an answer of %i, which is reported where it can be", async (status, code) => {
    await gateway.open();
    gateway.script = ({ path }) => (path.endsWith("/configuration") ? { status } : undefined);
    const supervised = start();
    expect(await supervised.exitCode()).toBe(1);
    expect(gateway.kinds("bootstrap-failed")).toMatchObject([
      { reason: "BootstrapFailed", cause: { reason: code } },
    ]);
    expect(await read("runs")).toBe("");
  });

  it("a certificate that nobody vouches for: verification is not weakened", async () => {
    const dir = await tempDir();
    const [key, cert] = [join(dir, "key.pem"), join(dir, "cert.pem")];
    const words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"];
    execFileSync("openssl", [...words, "-keyout", key, "-out", cert], { stdio: "ignore" });
    const server = createTlsServer({ key: await readFile(key), cert: await readFile(cert) }, () => {
      throw new Error("a request came through");
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
      const supervised = start({ url: `https://localhost:${(server.address() as AddressInfo).port}` });
      expect(await supervised.exitCode()).toBe(UNTOLD_FAILURE);
      expect(supervised.text).toMatch(/failure is permanent; last failure DEPTH_ZERO_SELF_SIGNED_CERT/);
    } finally {
      server.close();
    }
  });
});

describe("an invalid policy", () => {
  it("is reported as rejected, and a repaired one is taken up at once", async () => {
    await gateway.open();
    gateway.policy = { version: 1, network: { allow: ["nowhere"] } };
    const supervised = start();
    await eventually("the rejection", () => Promise.resolve(gateway.kinds("rejected").length > 0));
    expect(gateway.kinds("rejected")).toMatchObject([
      {
        generation: 1,
        reason: "ConfigurationInvalid",
        message: expect.stringContaining("allow[0]") as string,
      },
    ]);
    await supervised.says(/POLICY_REJECTED \(transient\): policy.network.allow\[0\]/);
    expect(await read("runs")).toBe("");
    gateway.commit({ version: 1 });
    await isReady();
    expect(gateway.kinds("rejected")).toHaveLength(1);
    expect(gateway.kinds("accepted")).toEqual([{ kind: "accepted", generation: 2 }]);
    expect(await read("runs")).toBe("x");
  });

  it("is rejected again when the first time was not heard", async () => {
    await gateway.open();
    gateway.policy = { version: 2 };
    let lost = 0;
    gateway.script = ({ body }) => {
      const isRejection = (body as { kind?: string } | null)?.kind === "rejected";
      return isRejection && lost++ === 0 ? "drop" : undefined;
    };
    start();
    await eventually("two rejections", () => Promise.resolve(gateway.kinds("rejected").length === 2));
  });

  it("that replaces a valid one before the start goes through every step first", async () => {
    await gateway.open();
    let changed = false;
    gateway.script = ({ body }) => {
      if ((body as { kind?: string } | null)?.kind === "accepted" && !changed) {
        changed = true;
        gateway.commit({ version: 1, env: { GENERATION: "two" } });
      }
      return undefined;
    };
    start();
    await isReady();
    expect(await read("env")).toContain('"GENERATION":"two"');
    expect(gateway.kinds("ready")).toEqual([{ kind: "ready", generation: 2 }]);
  });
});
