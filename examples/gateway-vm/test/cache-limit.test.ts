import { TempDirs } from "@slipway-examples/gateway-core/testing";
import { link, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { contentOf, trimCache } from "../src/image/cache-limit.js";
import { ImageLock } from "../src/image/image-lock.js";

const SIZE = 100_000;
/** Room for so many of the images below, whatever the file system rounds their sizes to. */
const roomFor = (count: number): number => (count + 0.5) * SIZE;

describe("the limit of the image cache", () => {
  const temp = new TempDirs();
  afterAll(() => temp.remove());

  /** Images by name, the one used first at the front. */
  const cache = async (...names: string[]): Promise<string> => {
    const directory = await temp.make();
    for (const [index, name] of names.entries()) {
      const rootfs = join(directory, `${name}.sqfs`);
      await writeFile(rootfs, Buffer.alloc(SIZE, 1));
      await writeFile(contentOf(rootfs), "{}");
      await utimes(rootfs, 1000 + index, 1000 + index);
    }
    return directory;
  };
  const images = async (directory: string): Promise<string[]> =>
    (await readdir(directory)).filter((name) => name.endsWith(".sqfs")).sort();

  it("removes what was not used for longest, with what belongs to it, until the rest fits", async () => {
    const directory = await cache("c", "a", "b", "d");
    await trimCache(directory, roomFor(4));
    expect(await images(directory)).toHaveLength(4);
    await trimCache(directory, roomFor(2));
    expect(await readdir(directory)).toEqual(["b.json", "b.sqfs", "d.json", "d.sqfs"]);
    await trimCache(directory, 0);
    expect(await readdir(directory)).toEqual([]);
  });

  it("never removes one in use, and takes the next one for it", async () => {
    const directory = await cache("a", "b", "c");
    const held = join(await temp.make(), "held");
    await link(join(directory, "a.sqfs"), held);
    await trimCache(directory, roomFor(2));
    expect(await images(directory)).toEqual(["a.sqfs", "c.sqfs"]);
    await trimCache(directory, 0);
    expect(await images(directory)).toEqual(["a.sqfs"]);
    await rm(held);
    await trimCache(directory, 0);
    expect(await images(directory)).toEqual([]);
  });

  it("leaves alone what somebody is packing anew", async () => {
    const directory = await cache("a", "b");
    const lock = await ImageLock.tryTake(join(directory, "a.sqfs.lock"), { sandbox: "x", file: "/nowhere" });
    await trimCache(directory, 0);
    expect(await images(directory)).toEqual(["a.sqfs"]);
    await (lock as ImageLock).release();
    await trimCache(directory, 0);
    expect(await readdir(directory)).toEqual([]);
  });
});
