import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ActivationEntry } from "slipway/retry";
import { groupMembers } from "../src/driver/process-identity.js";
import { eventually } from "../src/testing/eventually.js";
import { ScriptedGateway } from "./scripted-gateway.js";
import { Supervised, type SupervisedOptions } from "./supervised.js";
import { tempDir } from "./temp-dir.js";

/** Writes down each request to end, and then takes its time for it. */
const WORK = [
  process.execPath,
  "-e",
  `const fs = require("fs");
   process.on("SIGTERM", () => {
     fs.appendFileSync("ends", "asked ");
     setTimeout(() => { fs.appendFileSync("ends", "done"); process.exit(0); }, 500);
   });
   fs.writeFileSync("up", "up");
   setInterval(() => {}, 1000)`,
];
/** Asks its proxy for something once it was told to end. */
const LAST_REQUEST = [
  process.execPath,
  "-e",
  `const fs = require("fs");
   process.on("SIGTERM", async () => {
     await new Promise((later) => setTimeout(later, 300));
     const answer = await fetch(process.env.HTTP_PROXY + "/.slipway/ready").catch(() => null);
     fs.writeFileSync("ends", String(answer?.status ?? "no network"));
     process.exit(0);
   });
   fs.writeFileSync("up", "up");
   setInterval(() => {}, 1000)`,
];
const ONCE_IN_PEACE = "asked done";
const TERMINATED = 143;

let gateway: ScriptedGateway;
let workspace: string;
let supervised: Supervised;

beforeEach(async () => {
  gateway = await new ScriptedGateway().open();
  workspace = await tempDir();
});

afterEach(async () => {
  await supervised.end();
  await gateway.close();
});

const read = (name: string): Promise<string> => readFile(join(workspace, name), "utf8").catch(() => "");

async function start(options: Partial<SupervisedOptions> = {}): Promise<void> {
  supervised = new Supervised({ url: gateway.url, workspace, command: WORK, ...options });
  await eventually(
    "the workload",
    async () => (await read("up")) === "up" && gateway.kinds("ready").length > 0,
  );
}

/** A shell in front of the work, as `npm start` is one: it ends at once, and the work takes its time. */
const BEHIND_A_SHELL = ["sh", "-c", `'${WORK[0]}' -e '${(WORK[2] ?? "").replace("500", "1500")}' & wait`];

async function dismissed(): Promise<void> {
  const error = { code: "settled", message: "no: settled" };
  gateway.script = () => ({ status: 410, body: { error } });
  gateway.commit({ version: 1 });
  await supervised.says(/Dismissed/);
}

// A second SIGTERM means "at once" to many programs, and a supervisor that is the first of its container takes
// everybody with it when it ends.
describe.runIf(process.platform === "linux")("a workload is asked to end once, and has its time", () => {
  it("when its whole group is told to end", async () => {
    await start();
    supervised.signalGroup("SIGTERM");
    expect(await supervised.exitCode()).toBe(TERMINATED);
    expect(await read("ends")).toBe(ONCE_IN_PEACE);
    // It did not end by itself, so nothing says that it did.
    expect(gateway.kinds("exited")).toEqual([]);
  });

  it("when the supervisor alone is told to end, as by a kubelet", async () => {
    await start({ askedAlone: true });
    supervised.signal("SIGTERM");
    supervised.signal("SIGTERM");
    expect(await supervised.exitCode()).toBe(TERMINATED);
    expect(await read("ends")).toBe(ONCE_IN_PEACE);
    expect(gateway.kinds("exited")).toEqual([]);
  });

  it.each([
    ["its whole group is told", false],
    ["the supervisor alone is told", true],
  ])("when the gateway dismisses the supervisor before %s", async (_, askedAlone) => {
    await start({ askedAlone });
    await dismissed();
    expect(await read("ends")).toBe("");
    if (askedAlone) supervised.signal("SIGTERM");
    else supervised.signalGroup("SIGTERM");
    await supervised.exitCode();
    expect(await read("ends")).toBe(ONCE_IN_PEACE);
  });

  it("when the gateway dismisses the supervisor and nobody comes", async () => {
    await start();
    await dismissed();
    expect(await supervised.exitCode()).toBe(1);
    expect(await read("ends")).toBe(ONCE_IN_PEACE);
    expect(await groupMembers(supervised.pid)).toEqual([]);
  });

  it.each([
    ["its whole group is told", false],
    ["the supervisor alone is told", true],
  ])("also where the main process ends before what it started, when %s", async (_, askedAlone) => {
    await start({ askedAlone, command: BEHIND_A_SHELL });
    if (askedAlone) supervised.signal("SIGTERM");
    else supervised.signalGroup("SIGTERM");
    expect(await supervised.exitCode()).toBe(TERMINATED);
    expect(await read("ends")).toBe(ONCE_IN_PEACE);
  });

  it("also where its main process is the first of the group to hear of it", async () => {
    await start({ command: BEHIND_A_SHELL });
    const [shell, ...others] = (await groupMembers(supervised.pid)).filter((pid) => pid !== supervised.pid);
    // Without a pause of its own between the end of the shell and the signal to the supervisor.
    const script = 'kill -TERM "$@"; while kill -0 $1; do :; done; kill -TERM $0';
    const pids = [supervised.pid, shell, ...others].map(String);
    spawn("sh", ["-c", script, ...pids], { stdio: "ignore" });
    expect(await supervised.exitCode()).toBe(TERMINATED);
    expect(await read("ends")).toBe(ONCE_IN_PEACE);
  });

  it("when the supervisor alone is told, by somebody who is not its driver", async () => {
    await start();
    supervised.signal("SIGTERM");
    supervised.signal("SIGTERM");
    expect(await supervised.exitCode()).toBe(TERMINATED);
    expect(await read("ends")).toBe(ONCE_IN_PEACE);
  });

  it("when a stop came while it was being started, and the driver after it", async () => {
    gateway.script = async ({ path, body }) => {
      const { next } = (body ?? {}) as { next?: ActivationEntry };
      if (!path.endsWith("/activation") || next?.state !== "active") return undefined;
      await eventually("the workload", async () => (await read("up")) === "up");
      gateway.entry = { ...next, state: "stopped" };
      return { status: 200, body: { swapped: false } };
    };
    supervised = new Supervised({ url: gateway.url, workspace, command: WORK });
    await supervised.says(/The instance is stopped/);
    supervised.signalGroup("SIGTERM");
    expect(await supervised.exitCode()).toBe(TERMINATED);
    expect(await read("ends")).toBe(ONCE_IN_PEACE);
  });

  it("when it is started by a supervisor that was told to end before", async () => {
    gateway.policy = { version: 1, network: { allow: ["allowed.example:443"] } };
    const sidecars = async (): Promise<readonly number[]> =>
      (await groupMembers(supervised.pid)).filter((pid) => pid !== supervised.pid);
    let claimed: readonly number[] = [];
    gateway.script = async ({ path, body }) => {
      const { next } = (body ?? {}) as { next?: ActivationEntry };
      if (!path.endsWith("/activation") || next?.state !== "activating") return undefined;
      // What enforces the policy ends once the run is claimed: there is something to do before the start.
      claimed = await sidecars();
      for (const pid of claimed) process.kill(pid, "SIGKILL");
      await eventually("no sidecar", async () => (await sidecars()).length === 0);
      return undefined;
    };
    supervised = new Supervised({ url: gateway.url, workspace, command: WORK, askedAlone: true });
    await eventually(
      "another sidecar",
      async () => claimed.length > 0 && (await sidecars()).some((pid) => !claimed.includes(pid)),
    );
    supervised.signal("SIGTERM");
    expect(await supervised.exitCode()).toBe(TERMINATED);
    expect(await groupMembers(supervised.pid)).toEqual([]);
    expect(gateway.kinds("exited")).toEqual([]);
  });

  it("with a policy in force, by what runs in the same process, and nothing is said to be lost", async () => {
    gateway.policy = { version: 1, network: { allow: ["allowed.example:443"] } };
    await start({ askedAlone: true });
    const members = await groupMembers(supervised.pid);
    supervised.signal("SIGINT");
    for (const pid of members) if (pid !== supervised.pid) process.kill(pid, "SIGTERM");
    // It was asked to end, and says how it did.
    expect(await supervised.exitCode()).toBe(0);
    expect(await read("ends")).toBe(ONCE_IN_PEACE);
    expect(gateway.kinds("exited")).toMatchObject([{ exitCode: 0 }]);
    expect(gateway.kinds("enforcement-lost")).toEqual([]);
  });

  const tell = {
    "its whole group": () => supervised.signalGroup("SIGTERM"),
    "the supervisor alone": () => supervised.signal("SIGTERM"),
    "the supervisor, which its gateway dismissed before": async () => {
      await dismissed();
      supervised.signalGroup("SIGTERM");
    },
    "nobody, after its gateway dismissed it": dismissed,
  };
  it.each(Object.entries(tell))("and has its network until then: told is %s", async (who, told) => {
    gateway.policy = { version: 1, network: { allow: ["allowed.example:443"] } };
    await start({ command: LAST_REQUEST, askedAlone: who === "the supervisor alone" });
    await told();
    await supervised.exitCode();
    expect(await read("ends")).toBe("200");
    expect(await groupMembers(supervised.pid)).toEqual([]);
    expect(gateway.kinds("enforcement-lost")).toEqual([]);
  });

  it("with a policy in force, whose enforcement is not reported as lost", async () => {
    gateway.policy = { version: 1, network: { allow: ["allowed.example:443"] } };
    await start();
    supervised.signalGroup("SIGTERM");
    expect(await supervised.exitCode()).toBe(TERMINATED);
    expect(await read("ends")).toBe(ONCE_IN_PEACE);
    expect(gateway.kinds("enforcement-lost")).toEqual([]);
  });
});

describe("a supervisor", () => {
  it("keeps the exit code of a main process that cannot be started", async () => {
    gateway.script = ({ path, body }) =>
      path.endsWith("/report") && (body as { kind: string }).kind === "exited" ? "drop" : undefined;
    supervised = new Supervised({ url: gateway.url, workspace, command: ["/none"] });
    await eventually("its report", () => Promise.resolve(gateway.kinds("exited").length > 0));
    supervised.signal("SIGTERM");
    expect(await supervised.exitCode()).toBe(127);
  });

  it("that waits for its gateway ends at a terminal's interrupt", async () => {
    await gateway.close();
    supervised = new Supervised({ url: gateway.url, workspace, command: WORK });
    await supervised.says(/gateway/);
    supervised.signal("SIGINT");
    expect(await supervised.exitCode()).toBe(TERMINATED);
  });
});
