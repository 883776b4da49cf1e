import type { DriverProgress } from "@slipway-examples/gateway-core";
import { TempDirs } from "@slipway-examples/gateway-core/testing";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { WaitSteps } from "../src/image/wait-steps.js";

describe("waiting for who has the lock of an image", () => {
  const temp = new TempDirs();
  const said: DriverProgress[] = [];
  let waits: WaitSteps;
  let file: string;

  beforeEach(async () => {
    said.length = 0;
    waits = new WaitSteps("local-big:1", (progress) => void said.push(progress));
    file = join(await temp.make(), "rootfs.sqfs");
  });
  afterAll(() => temp.remove());

  const holder = (token: string, sandbox: string | null) => ({
    token,
    sandbox,
    file,
    pid: 1,
    startMarker: "x",
  });
  const told = (): unknown[] => said.map(({ step, position, done = false }) => [step, position, done]);

  it("tells what its file has grown to, once, and never takes it back", async () => {
    await waits.see(holder("a", "first"));
    await writeFile(file, "x".repeat(5000));
    await waits.see(holder("a", "first"));
    await waits.see(holder("a", "first"));
    // Renamed into its place.
    await rm(file);
    await waits.see(holder("a", "first"));
    expect(waits.over("result")).toBe("result");
    expect(told()).toEqual([
      ["image-wait-1", 0, false],
      ["image-wait-1", 5000, false],
      ["image-wait-1", 5000, true],
    ]);
    expect(said[0]).toMatchObject({ subject: "local-big:1", waiting: true });
    expect(said[0]).not.toHaveProperty("total");
  });

  it("is a step of its own for each holder", async () => {
    await writeFile(file, "x".repeat(700));
    await waits.see(holder("a", "first"));
    await waits.see(holder("b", "second"));
    waits.over(null);
    expect(told()).toEqual([
      ["image-wait-1", 700, false],
      ["image-wait-1", 700, true],
      ["image-wait-2", 700, false],
      ["image-wait-2", 700, true],
    ]);
    expect(said.at(-1)?.label).toBe("Waited for image, which sandbox second was packing");
  });

  it("says nothing of an image that is being removed: nobody packs it, and its size is not the wait's", async () => {
    await writeFile(file, "x".repeat(700));
    await waits.see(holder("a", null));
    waits.over(null);
    expect(said).toEqual([]);
  });
});
