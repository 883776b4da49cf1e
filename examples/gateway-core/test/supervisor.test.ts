import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { cp, readFile, writeFile } from "node:fs/promises";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { ActivationEntry } from "slipway/retry";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { groupMembers } from "../src/driver/process-identity.js";
import { readFailures } from "../src/metrics/failure-header.js";
import { UNTOLD_FAILURE } from "../src/record/exit-codes.js";
import { supervisorBundle } from "../src/supervisor-bundle.js";
import { eventually } from "../src/testing/eventually.js";
import { ScriptedGateway } from "./scripted-gateway.js";
import { Supervised, type SupervisedOptions } from "./supervised.js";
import { tempDir } from "./temp-dir.js";

/** Adds a mark for each start, and stays. */
const WORK = [
  process.execPath,
  "-e",
  `const fs = require("fs");
   fs.appendFileSync("runs", "x");
   fs.writeFileSync("env.new", JSON.stringify(process.env));
   fs.renameSync("env.new", "env");
   setInterval(() => {}, 1000)`,
];
const NETWORK = { version: 1, network: { allow: ["allowed.example:443"] } };

let gateway: ScriptedGateway;
let workspace: string;
const started: Supervised[] = [];

beforeEach(async () => {
  gateway = new ScriptedGateway();
  workspace = await tempDir();
  await writeFile(join(workspace, "sentinel"), "kept");
});

afterEach(async () => {
  await Promise.all(started.splice(0).map((supervised) => supervised.end()));
  await gateway.close();
});

function start(options: Partial<SupervisedOptions> = {}): Supervised {
  const supervised = new Supervised({ url: gateway.url, workspace, command: WORK, ...options });
  started.push(supervised);
  return supervised;
}

async function read(name: string): Promise<string> {
  return readFile(join(workspace, name), "utf8").catch(() => "");
}

/** The ready report came, and the workload got so far as to write. */
async function isReady(): Promise<void> {
  const seen = async (): Promise<boolean> => gateway.kinds("ready").length > 0 && (await read("env")) !== "";
  await eventually("the ready report", seen);
}

/** Process ids of the sidecars of a supervisor. */
async function sidecars(supervised: Supervised): Promise<readonly number[]> {
  const members = await groupMembers(supervised.pid);
  const lines = await Promise.all(
    members.map(
      async (pid) => [pid, await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")] as const,
    ),
  );
  return lines.filter(([, line]) => line.includes("\0enforcement\0")).map(([pid]) => pid);
}

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

describe("the ledger decides", () => {
  // A run that is active was started by a supervisor that is gone: nobody saw its end, and it was no success.
  it.each([
    ["stopped", 0],
    ["completed", 0],
    ["active", 1],
  ] as const)(
    "an instance that is %s is reported, not replayed, and ends with %i",
    async (state, exitCode) => {
      await gateway.open();
      gateway.entry = { state, version: 3, claim: "somebody", at: 1 };
      const supervised = start();
      expect(await supervised.exitCode()).toBe(exitCode);
      expect(supervised.text).toMatch(new RegExp(`The instance is ${state}.*nothing is replayed`));
      expect(gateway.kinds("bootstrap").at(-1)).toMatchObject({ reason: "BootstrapCancelled" });
      expect(await read("runs")).toBe("");
    },
  );

  // What it could not tell is in its own log alone: its exit code says so.
  it.each([
    ["stopped", 0],
    ["active", UNTOLD_FAILURE],
    ["activating", UNTOLD_FAILURE],
  ] as const)(
    "an instance that is %s, and no gateway that hears of it, ends with %i",
    async (state, exitCode) => {
      await gateway.open();
      gateway.entry = { state, version: 3, claim: "somebody", at: 1 };
      gateway.script = ({ path }) => (path.endsWith("/report") ? "drop" : undefined);
      const supervised = start();
      expect(await supervised.exitCode()).toBe(exitCode);
      expect(supervised.text).toMatch(/The gateway could not be told/);
      expect(await read("runs")).toBe("");
    },
  );

  // With that reason a supervisor says that its run was started before it came, which ends the run for good.
  it("a supervisor that is told to end before it started anything says nothing of its run", async () => {
    await gateway.open();
    let claims = 0;
    gateway.script = ({ body }) => {
      const isClaim = (body as { next?: { state?: string } } | null)?.next?.state === "activating";
      if (!isClaim) return undefined;
      claims += 1;
      return { status: 503 };
    };
    const supervised = start();
    await eventually("a claim that is tried again", () => Promise.resolve(claims > 1));
    supervised.signal("SIGTERM");
    expect(await supervised.exitCode()).toBe(143);
    expect(supervised.text).toMatch(/Bootstrap was cancelled/);
    expect(gateway.kinds("accepted")).toHaveLength(1);
    expect(JSON.stringify(gateway.reports)).not.toContain("BootstrapCancelled");
    expect(await read("runs")).toBe("");
  });

  // A gateway found only after it had written the claim that the attempt was over.
  it.each(["taken back", "left as it was, and its answer lost"])(
    "a claim of an attempt that is over starts nothing: it is %s",
    async (how) => {
      await gateway.open();
      const over = { status: 410, body: { error: { code: "expired", message: "the attempt expired" } } };
      let claims = 0;
      gateway.script = ({ method, path, body }) => {
        if (!path.endsWith("/activation")) return undefined;
        const next = (body as { next?: ActivationEntry | null } | null)?.next;
        if (next?.state !== "activating") return method === "GET" && claims > 0 ? over : undefined;
        claims += 1;
        const isBack = how === "taken back";
        gateway.entry = isBack ? { ...next, state: "stopped", version: next.version + 1 } : next;
        return isBack ? over : "drop";
      };
      const supervised = start();
      expect(await supervised.exitCode()).toBe(1);
      expect(supervised.text).toContain("Dismissed: the attempt expired");
      expect(claims).toBe(1);
      expect(await read("runs")).toBe("");
      expect(gateway.reports.map(({ kind }) => kind)).not.toContain("ready");
    },
  );

  it("a crash while it was being started is reported as uncertain, and not repeated", async () => {
    await gateway.open();
    const crashed = start();
    gateway.script = ({ body }) => {
      const isStarted = (body as { next?: { state?: string } } | null)?.next?.state === "active";
      return isStarted ? "hang" : undefined;
    };
    await eventually("the workload", async () => (await read("runs")) === "x");
    crashed.signal("SIGKILL");
    await crashed.end();
    expect(gateway.entry).toMatchObject({ state: "activating" });
    gateway.script = () => undefined;
    const next = start();
    expect(await next.exitCode()).toBe(1);
    expect(gateway.kinds("bootstrap-failed")).toMatchObject([{ reason: "LocalActivationUncertain" }]);
    expect(await read("runs")).toBe("x");
  });

  it("a stop that comes while it is being started wins, and the workload is ended", async () => {
    await gateway.open();
    gateway.script = ({ body }) => {
      const isStarted = (body as { next?: { state?: string } } | null)?.next?.state === "active";
      if (isStarted && gateway.entry !== null)
        gateway.entry = { ...gateway.entry, state: "stopped", version: gateway.entry.version + 1 };
      return undefined;
    };
    const supervised = start();
    expect(await supervised.exitCode()).toBe(143);
    expect(await groupMembers(supervised.pid)).toEqual([]);
    expect(gateway.kinds("ready")).toEqual([]);
  });
});

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
