import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const program = join(import.meta.dirname, "../dist/build-image.js");

describe("build-image", () => {
  const noEngine = `unix://${join(import.meta.dirname, "no-engine-is-here.sock")}`;

  // `npm start` hands no option on, and `serve` has none for the engine.
  it.each([
    ["DOCKER_HOST", { DOCKER_HOST: noEngine }, []],
    ["--docker-host", {}, ["--docker-host", noEngine]],
  ])(
    "says in one sentence that no engine answers and what names another, and fails: %s",
    (name, more, args) => {
      const env = { ...process.env, ...more };
      const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
        env,
        encoding: "utf8",
      });
      expect(status).toBe(1);
      expect(stdout).toBe("");
      const lines = stderr.trim().split("\n");
      // The line before it is there where no busybox is.
      expect(lines.at(-1)).toContain("No Docker engine answers (connect ENOENT");
      expect(lines.at(-1)?.endsWith(`: start one, or name it with ${name}.`)).toBe(true);
      expect(lines.filter((line) => !line.startsWith("No static busybox"))).toHaveLength(1);
    },
  );
});
