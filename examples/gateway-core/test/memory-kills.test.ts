import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isMemoryKill, MemoryWatch, memoryKills } from "../src/supervisor/memory-kills.js";
import { tempDir } from "./temp-dir.js";

const killed = { exitCode: null, signal: "SIGKILL" };

describe("the kernel's count of kills for lack of memory", () => {
  it("is read from either version of control groups, the first that is there", async () => {
    const dir = await tempDir();
    const [second, first] = [join(dir, "memory.events"), join(dir, "memory.oom_control")];
    expect(memoryKills([second, first])).toBeNull();
    await writeFile(first, "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
    expect(memoryKills([second, first])).toBe(3);
    await writeFile(second, "low 0\nhigh 0\nmax 12\noom 2\noom_kill 1\noom_group_kill 0\n");
    expect(memoryKills([second, first])).toBe(1);
    await writeFile(second, "low 0\nhigh 0\n");
    expect(memoryKills([second, first])).toBe(3);
  });
});

describe("an end is for lack of memory", () => {
  it.each([
    ["a kill with a count that rose", killed, 0, 1, true],
    ["what a shell says of one", { exitCode: 137, signal: null }, 4, 6, true],
    ["a kill by somebody", killed, 2, 2, false],
    ["a kill where nobody counts", killed, null, null, false],
    ["a count that began meanwhile", killed, null, 1, false],
    ["an end of its own, beside another's kill", { exitCode: 1, signal: null }, 0, 1, false],
    ["another signal", { exitCode: null, signal: "SIGTERM" }, 0, 1, false],
  ])("%s: %j, %j then %j: %j", (_what, exit, before, after, expected) => {
    expect(isMemoryKill(exit, before, after)).toBe(expected);
  });
});

describe("the watch over a main process", () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  it("takes a rise of the last seconds for the reason of a kill, and none from long before", () => {
    let count = 0;
    const read = () => count;
    const [late, soon, counted] = [new MemoryWatch(read), new MemoryWatch(read), new MemoryWatch(read)];
    count = 1;
    expect(soon.wasReasonOf(killed)).toBe(true);
    vi.advanceTimersByTime(5000);
    // Counted already when the end is heard of.
    expect(counted.wasReasonOf(killed)).toBe(true);
    vi.advanceTimersByTime(5000);
    expect(late.wasReasonOf(killed)).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
  });
});
