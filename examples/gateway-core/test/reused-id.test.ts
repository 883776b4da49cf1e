import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { WorkloadGroup } from "../src/supervisor/workload-group.js";

const { members } = vi.hoisted(() => ({ members: { now: [] as readonly number[] } }));
vi.mock("../src/driver/process-identity.js", () => ({ groupMembers: () => Promise.resolve(members.now) }));

const MAIN = 4_000_001;
const HELPER = 4_000_002;
const LATER = 4_000_003;

let asked: number[];
beforeEach(() => {
  asked = [];
  vi.spyOn(process, "kill").mockImplementation((pid, signal) => {
    if (signal === "SIGTERM") asked.push(pid);
    return true;
  });
});
afterEach(() => vi.restoreAllMocks());

const run = (...pids: readonly number[]): void => {
  members.now = [process.pid, ...pids];
};

describe("a group whose process ids are handed out again", () => {
  it("asks who has the id of one that was asked and ended", async () => {
    const group = new WorkloadGroup();
    run(MAIN, HELPER);
    await group.ask();
    run(HELPER);
    await group.ask();
    run(MAIN, HELPER);
    await group.ask();
    expect(asked).toEqual([MAIN, HELPER, MAIN]);
  });

  it("asks nobody twice who is still there, also where the group could not be read for a while", async () => {
    const group = new WorkloadGroup();
    run(MAIN, HELPER);
    await group.wasAsked();
    // Somebody else's group, and none at all: neither says who has ended.
    for (members.now of [[MAIN, LATER], []]) await group.ask();
    run(MAIN, HELPER, LATER);
    await group.ask();
    await group.ask();
    expect(asked).toEqual([LATER]);
  });

  it("takes nobody for ended by a look that began before they were asked", async () => {
    const group = new WorkloadGroup();
    run(MAIN);
    const looks = group.hasOthers();
    run(MAIN, LATER);
    group.askOne(LATER);
    expect(await looks).toBe(true);
    await group.ask();
    expect(asked).toEqual([LATER, MAIN]);
  });

  it("asks a main process that left the group once", async () => {
    const group = new WorkloadGroup();
    run();
    for (let times = 0; times < 3; times += 1) {
      group.askOne(MAIN);
      await group.ask();
    }
    expect(asked).toEqual([MAIN]);
  });

  it("asks its own child once where it leads no group", async () => {
    const group = new WorkloadGroup();
    members.now = [];
    for (let times = 0; times < 3; times += 1) {
      group.askOne(MAIN);
      await group.ask();
    }
    expect(asked).toEqual([MAIN]);
  });
});
