import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SandboxView } from "../src/http/view.js";
import { eventually } from "../src/testing/eventually.js";
import { cli, INVALID, removeAll, ServedProcesses, until } from "./served-processes.js";

const run = promisify(execFile);

let served: ServedProcesses;
let dir: string;
let image: string;

beforeEach(async () => {
  served = await ServedProcesses.open();
  ({ dir, image } = served);
});

afterEach(() => served.end());

const start = (...args: readonly string[]) => served.start(...args);

describe("the command line", () => {
  async function call(
    url: string,
    ...args: string[]
  ): Promise<{ code: number; stdout: string; stderr: string }> {
    try {
      return { code: 0, ...(await run(process.execPath, [cli, "--url", url, ...args])) };
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
      return { code, stdout, stderr };
    }
  }

  it("says what became of an update: accepted, rejected, or nobody has judged it yet", async () => {
    const { url, client } = await start();
    const { id } = await client.create({ name: "box", image: { path: image }, command: ["sleep", "600"] });
    await until(client, id, ({ phase }) => phase === "Ready");
    const update = (policy: object, ...more: string[]) =>
      call(url, ...more, "update", "box", "--policy", JSON.stringify(policy));
    expect(await update(INVALID)).toEqual({
      code: 1,
      stdout: "box: generation 2, a change\n",
      stderr:
        'box: generation 2 was rejected: policy.network.allow[0] must be "host:port", got "nowhere"; ' +
        "generation 1 stays in force\n",
    });
    expect(await update({ version: 1, env: { A: "b" } })).toEqual({
      code: 0,
      stdout: "box: generation 3, a change\n",
      stderr: "box: generation 3 was accepted\n",
    });
    const printed = await update(INVALID, "--json");
    const views = printed.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as SandboxView);
    expect(printed).toMatchObject({ code: 1, stderr: "" });
    expect(views.map(({ configuration }) => configuration.generation)).toEqual([4, 4]);
    await client.stop(id);
    await until(client, id, ({ phase }) => phase === "Stopped");
    expect(await update(INVALID)).toEqual({
      code: 0,
      stdout: "box: generation 5, the same content\n",
      stderr:
        "box: generation 5 is not judged: no supervisor is left that could do that; " +
        '"start box" brings the next one\n',
    });
    await removeAll(client);
  });

  it("takes a sandbox through its life, with plain lines, JSON and exit codes", async () => {
    const { url, client } = await start();
    const policy = JSON.stringify({ version: 1, env: { GREETING: "hello" } });
    const work = `require("fs").writeFileSync("greeting", process.env.GREETING); setInterval(() => {}, 1000)`;
    const created = await call(
      url,
      "create",
      "box",
      "--image",
      image,
      "--policy",
      policy,
      "--",
      process.execPath,
      "-e",
      work,
    );
    expect(created).toMatchObject({ code: 0, stdout: "" });
    expect(created.stderr).toMatch(/^\[\d+\.\ds\] ✓ Image copied \(image, 400 kB\) \(\d+\.\ds\)$/m);
    expect(created.stderr).toMatch(/^\[\d+\.\ds\] Ready\/DependenciesReady/m);
    const got = JSON.parse((await call(url, "--json", "get", "box")).stdout) as SandboxView;
    const workspace = join(dir, "data", "sandboxes", got.id, "workspace", "greeting");
    await eventually(
      "what the workload writes",
      async () => (await readFile(workspace, "utf8").catch(() => "")) === "hello",
    );
    expect(await call(url, "update", "box", "--policy", policy)).toEqual({
      code: 0,
      stdout: "box: generation 2, the same content\n",
      stderr: "box: generation 2 was accepted\n",
    });
    const stopped = await call(url, "stop", "box");
    expect(stopped.code).toBe(0);
    // The time is the command's, and the work of the start that is over is none of its.
    expect(stopped.stderr).toMatch(/^(\[\d+\.\ds\] (Stopping|Stopped)\/.*\n)+$/);
    expect((await call(url, "list")).stdout).toMatch(/^box {2}Stopped/);
    const started = await call(url, "--json", "start", "box");
    const lines = started.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as SandboxView);
    expect(lines.at(-1)).toMatchObject({ id: got.id, phase: "Ready", attempt: 2 });
    const deleted = await call(url, "delete", "box");
    expect(deleted.code).toBe(0);
    expect(deleted.stderr).toMatch(/^(\[\d+\.\ds\] Deleting\/.*\n)*\[\d+\.\ds\] box is gone\n$/);
    expect((await call(url, "get", "box")).code).toBe(3);
    await removeAll(client);
  });

  it("says with its exit code what went wrong", async () => {
    const { url, client } = await start("--admission-ms", "300");
    expect(await call("http://127.0.0.1:9", "list")).toMatchObject({ code: 4 });
    const unusable = await call(url, "--token", "…", "list");
    expect(unusable).toMatchObject({ code: 2 });
    expect(unusable.stderr).toContain("token must be printable ASCII characters");
    expect(await call(url, "create", "box", "--image", join(dir, "none"), "--", "true")).toMatchObject({
      code: 2,
    });
    expect(
      await call(url, "create", "box", "--image", image, "--stall-ms", "soon", "--", "true"),
    ).toMatchObject({ code: 2 });
    const failed = await call(
      url,
      "create",
      "box",
      "--image",
      image,
      "--policy",
      JSON.stringify(INVALID),
      "--",
      "true",
    );
    expect(failed.code).toBe(1);
    expect(failed.stderr).toContain("Error/ProvisioningTimedOut");
    await removeAll(client);
  });
});
