import fc from "fast-check";
import { TempDirs } from "@slipway-examples/gateway-core/testing";
import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { packRootfs } from "../src/image/pack-rootfs.js";
import { WriteBehind } from "../src/image/write-behind.js";

/** A disk that takes what was written when the test says so. */
class Disk {
  flushes = 0;
  #ends: { readonly take: () => void; readonly fail: (error: Error) => void }[] = [];

  readonly flush = (): Promise<void> => {
    this.flushes += 1;
    return new Promise((take, fail) => this.#ends.push({ take, fail }));
  };

  take(): void {
    for (const { take } of this.#ends.splice(0)) take();
  }

  fail(error: Error): void {
    for (const { fail } of this.#ends.splice(0)) fail(error);
  }
}

/** Whether a promise is settled once everything that can go on has. */
async function isSettled(work: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const end = (): void => void (settled = true);
  work.then(end, end);
  for (let turns = 0; turns < 3; turns += 1) await turn();
  return settled;
}

describe("what is written, and the disk behind it", () => {
  it("goes on for two windows beside a disk that takes nothing, and then waits for it", async () => {
    const disk = new Disk();
    const behind = new WriteBehind(disk.flush, 100);
    await behind.passed(99);
    expect(disk.flushes).toBe(0);
    await behind.passed(1);
    expect(disk.flushes).toBe(1);
    await behind.passed(99);
    const waiting = behind.passed(1);
    expect(await isSettled(waiting)).toBe(false);
    expect(disk.flushes).toBe(1);
    disk.take();
    await waiting;
    expect(disk.flushes).toBe(2);
  });

  it("is all there at the end: of a flush that began before the last piece nobody knows what it took", async () => {
    const disk = new Disk();
    const behind = new WriteBehind(disk.flush, 100);
    await behind.passed(100);
    await behind.passed(5);
    const finished = behind.finish(new AbortController().signal);
    disk.take();
    expect(await isSettled(finished)).toBe(false);
    expect(disk.flushes).toBe(2);
    disk.take();
    await finished;
  });

  it("ends with what the disk failed with, in the middle and at the end", async () => {
    for (const end of ["passed", "finish"] as const) {
      const disk = new Disk();
      const behind = new WriteBehind(disk.flush, 100);
      await behind.passed(100);
      disk.fail(new Error("input/output error"));
      const next = end === "passed" ? behind.passed(100) : behind.finish(new AbortController().signal);
      await expect(next).rejects.toThrow("input/output error");
      expect(disk.flushes).toBe(1);
    }
  });

  it("waits at the end for as long as somebody does, and no longer", async () => {
    const disk = new Disk();
    const behind = new WriteBehind(disk.flush, 100);
    const controller = new AbortController();
    const finished = behind.finish(controller.signal);
    expect(await isSettled(finished)).toBe(false);
    controller.abort(new Error("its time is over"));
    expect(await isSettled(finished)).toBe(true);
    await expect(finished).rejects.toThrow("its time is over");
    // What comes of the flush afterwards concerns nobody.
    disk.fail(new Error("input/output error"));
    await turn();
    await expect(new WriteBehind(disk.flush, 100).finish(controller.signal)).rejects.toThrow(
      "its time is over",
    );
  });

  it("never has more than two windows and a piece on their way, whatever the disk does", async () => {
    const move = fc.oneof(fc.nat(300), fc.constant("take" as const));
    await fc.assert(
      fc.asyncProperty(fc.array(move, { maxLength: 40 }), async (moves) => {
        const disk = new Disk();
        let [written, taken] = [0, 0];
        let pending: Promise<void> = Promise.resolve();
        const behind = new WriteBehind(() => {
          const begun = written;
          return disk.flush().then(() => void (taken = begun));
        }, 100);
        for (const next of moves) {
          if (next === "take") {
            disk.take();
            await turn();
          } else if (await isSettled(pending)) {
            written += next;
            pending = behind.passed(next);
            // Each of the two windows is exceeded by a piece at most.
            expect(written - taken).toBeLessThanOrEqual(2 * (100 + 300));
          }
        }
      }),
      { numRuns: 50 },
    );
  });
});

const whyNot = ["sqfstar", "tar"].find((tool) => spawnSync(tool, ["--help"]).error !== undefined);

describe.skipIf(whyNot !== undefined)(
  `packing onto a disk${whyNot === undefined ? "" : ` (not installed: ${whyNot})`}`,
  () => {
    const temp = new TempDirs();
    afterAll(() => temp.remove());

    const archive = async (): Promise<{ dir: string; tar: Buffer }> => {
      const dir = await temp.make();
      await mkdir(join(dir, "root"));
      await writeFile(join(dir, "root/data"), randomBytes(3_000_000));
      execFileSync("tar", ["-c", "-C", join(dir, "root"), "-f", join(dir, "image.tar"), "data"]);
      return { dir, tar: await readFile(join(dir, "image.tar")) };
    };
    const pieces = (tar: Buffer): Readable =>
      Readable.from(
        Array.from({ length: Math.ceil(tar.length / 65_536) }, (_, at) =>
          tar.subarray(at * 65_536, (at + 1) * 65_536),
        ),
      );

    it("stands still with it, and goes on with it", async () => {
      const { dir, tar } = await archive();
      const disk = new Disk();
      const behind = new WriteBehind(disk.flush, 1_000_000);
      let bytes = 0;
      const packed = packRootfs(pieces(tar), join(dir, "rootfs.sqfs"), {
        signal: new AbortController().signal,
        onBytes: (now) => (bytes = now),
        behind: (length) => behind.passed(length),
      });
      while (bytes < 2_000_000) await turn();
      expect(await isSettled(packed)).toBe(false);
      // Each of the two windows is exceeded by a piece at most.
      expect(bytes).toBeLessThanOrEqual(2 * (1_000_000 + 65_536));
      const done = packed.then(() => true);
      while (!(await Promise.race([done, turn(false)]))) disk.take();
      expect(bytes).toBe(tar.length);
      expect((await stat(join(dir, "rootfs.sqfs"))).size).toBeGreaterThan(3_000_000);
    });

    it("is given up in the middle of it, and fails as it fails", async () => {
      const { dir, tar } = await archive();
      for (const end of ["abort", "fail"] as const) {
        const disk = new Disk();
        const behind = new WriteBehind(disk.flush, 1_000_000);
        const controller = new AbortController();
        let bytes = 0;
        const packed = packRootfs(pieces(tar), join(dir, `${end}.sqfs`), {
          signal: controller.signal,
          onBytes: (now) => (bytes = now),
          behind: (length) => behind.passed(length),
        });
        packed.catch(() => undefined);
        while (bytes < 2_000_000) await turn();
        if (end === "abort") controller.abort(new Error("its time is over"));
        else disk.fail(new Error("input/output error"));
        await expect(packed).rejects.toThrow(end === "abort" ? "its time is over" : "input/output error");
        // What comes of a flush afterwards concerns nobody.
        disk.take();
      }
    });
  },
);
