import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { systemClock } from "slipway";
import { seededRandom } from "slipway/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cluster } from "../cluster/index.js";
import { sandbox } from "./target.js";

function hasKubectl(): boolean {
  try {
    execFileSync("kubectl", ["version", "--client"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const available = hasKubectl();
const run = promisify(execFile);

describe.skipIf(!available)(`kubectl${available ? "" : " (skipped: there is none on this system)"}`, () => {
  const folder = mkdtempSync(join(tmpdir(), "slipway-kubectl-"));
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await Cluster.start({ clock: systemClock, random: seededRandom(1), release: "0.5.6" });
    cluster.server.addToken("t", { user: "admin", groups: ["system:masters"] });
    writeFileSync(join(folder, "ca.crt"), cluster.server.ca);
    writeFileSync(join(folder, "box.json"), JSON.stringify(sandbox("box")));
  });
  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  async function kubectl(...args: string[]): Promise<string> {
    const server = [
      "--kubeconfig=/dev/null",
      `--cache-dir=${join(folder, "cache")}`,
      `--server=${cluster.server.url}`,
    ];
    const trust = [`--certificate-authority=${join(folder, "ca.crt")}`, "--token=t"];
    return (await run("kubectl", [...server, ...trust, ...args])).stdout;
  }

  it("discovers, creates, waits, prints columns, patches, applies and deletes", async () => {
    const file = join(folder, "box.json");
    expect(await kubectl("api-resources", "-o", "name")).toContain("sandboxes.agents.x-k8s.io");
    expect(await kubectl("create", "--validate=false", "-f", file)).toContain("created");
    expect(await kubectl("wait", "--for=condition=Ready", "sandbox/box", "--timeout=30s")).toContain(
      "condition met",
    );
    expect(await kubectl("get", "sandboxes")).toMatch(
      /NAME +READY +REASON +AGE\nbox +True +DependenciesReady +\d+s/,
    );
    await kubectl("patch", "sandbox", "box", "--type=merge", "-p", '{"spec":{"operatingMode":"Suspended"}}');
    expect(await kubectl("wait", "--for=condition=Suspended", "sandbox/box", "--timeout=30s")).toContain(
      "condition met",
    );
    expect(await kubectl("get", "pods", "-o", "name")).toBe("");
    expect(await kubectl("apply", "--validate=false", "-f", file)).toContain("configured");
    expect(await kubectl("delete", "sandbox", "box")).toContain("deleted");
  });
});
