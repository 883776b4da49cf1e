import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
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

  it("with a policy in force, whose enforcement is not reported as lost", async () => {
    gateway.policy = { version: 1, network: { allow: ["allowed.example:443"] } };
    await start();
    supervised.signalGroup("SIGTERM");
    expect(await supervised.exitCode()).toBe(TERMINATED);
    expect(await read("ends")).toBe(ONCE_IN_PEACE);
    expect(gateway.kinds("enforcement-lost")).toEqual([]);
  });
});
