import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const program = join(import.meta.dirname, "../dist/build-image.js");

describe("build-image", () => {
  it("says in one sentence that no engine answers, and fails", () => {
    const socket = join(import.meta.dirname, "no-engine-is-here.sock");
    const env = { ...process.env, DOCKER_HOST: `unix://${socket}` };
    const { status, stdout, stderr } = spawnSync(process.execPath, [program], { env, encoding: "utf8" });
    expect(status).toBe(1);
    expect(stdout).toBe("");
    const lines = stderr.trim().split("\n");
    // The line before it is there where no busybox is.
    expect(lines.at(-1)).toContain("No Docker engine answers (connect ENOENT");
    expect(lines.filter((line) => !line.startsWith("No static busybox"))).toHaveLength(1);
  });
});
