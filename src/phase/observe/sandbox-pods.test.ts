import { describe, expect, it } from "vitest";
import {
  condition,
  type Json,
  pod,
  RUN,
  sandbox,
  see,
  SUSPEND,
} from "../../../test/phase/sandbox-resources.js";
import type { Observation } from "../observation.js";

describe("the pods of a sandbox", () => {
  const resource = sandbox(RUN, [condition("Ready", "True", "DependenciesReady")]);
  /** What is seen over a list, in whichever order it comes. */
  const over = (...items: readonly Json[]): Observation => {
    const [observation] = [items, [...items].reverse()].map((list) => see(resource, { items: list }));
    expect(see(resource, { items: [...items].reverse() })).toEqual(observation);
    return observation as Observation;
  };
  const owner = (more: Json): Json => ({
    ...pod(),
    metadata: { name: "sb", ownerReferences: [{ kind: "Sandbox", name: "sb", uid: "u-1", ...more }] },
  });

  it("are those that it controls: no name and no other owner makes one its own", () => {
    expect(over(owner({ controller: true })).workload).toBe("present");
    for (const foreign of [
      owner({ controller: false }),
      owner({}),
      owner({ controller: true, uid: "u-2" }),
      { ...pod(), metadata: { name: "sb", labels: { app: "sb" } } },
    ])
      expect(over(foreign)).toMatchObject({ workload: "absent", running: false });
  });

  it("are of a resource without a uid those of its kind and name, and nobody's without a name", () => {
    const look = (metadata: Json, reference: Json): string =>
      see({ ...resource, metadata }, { items: [owner({ controller: true, ...reference })] }).workload;
    expect(look({ name: "sb" }, {})).toBe("present");
    expect(look({ name: "sb" }, { kind: "SANDBOX" })).toBe("present");
    expect(look({ name: "sb" }, { name: "other" })).toBe("absent");
    expect(look({ name: "sb" }, { kind: "Job" })).toBe("absent");
    expect(look({}, {})).toBe("absent");
    expect(look({}, { name: undefined })).toBe("absent");
  });

  it("speak by the live one, else the one that goes away, else the one that ended", () => {
    const live = pod({ name: "live", created: "2026-10-20T08:00:00Z" });
    const going = pod({ name: "going", deleting: true, created: "2026-10-20T08:30:00Z" });
    const ended = pod({ name: "ended", code: 3 });
    expect(over(live, going, ended)).toMatchObject({ running: true, terminating: false, completed: false });
    expect(over(going, ended)).toMatchObject({ running: true, terminating: true, completed: false });
    expect(over(ended)).toMatchObject({ running: false, completed: true, exitCode: 3 });
  });

  it("speak by the youngest of a kind, else by the first name, else by the uid", () => {
    const at = (name: string, code: number, created: string, uid?: string): Json => {
      const ended = pod({ name, code, created });
      return { ...ended, metadata: { ...(ended["metadata"] as Json), uid } };
    };
    const [early, late] = ["2026-10-20T08:00:00Z", "2026-10-20T09:00:00Z"];
    expect(over(at("a", 3, early), at("b", 4, late)).exitCode).toBe(4);
    expect(over(at("a", 3, late), at("b", 4, early)).exitCode).toBe(3);
    expect(over(at("a", 3, late), at("b", 4, late)).exitCode).toBe(3);
    expect(over(at("a", 3, late, "2"), at("a", 4, late, "1")).exitCode).toBe(4);
    expect(over(at("a", 3, late, "2"), at("a", 4, late)).exitCode).toBe(4);
    expect(over(at("a", 3, late), at("a", 4, "some day")).exitCode).toBe(3);
    const [named, nameless] = [at("a", 3, late), at("a", 4, late)];
    const metadata = { ...(nameless["metadata"] as Json), name: undefined };
    expect(over(named, { ...nameless, metadata }).exitCode).toBe(4);
  });

  it("are in conflict where two are live, and where one is live and others go or ended they are not", () => {
    const live = [pod({ name: "a" }), pod({ name: "b" })] as const;
    expect(over(...live)).toMatchObject({ failureReason: "OwnershipConflict", ready: false });
    const others = [pod({ name: "c", deleting: true }), pod({ name: "d", code: 1 })];
    expect(over(live[0], ...others)).toMatchObject({ failureReason: null, ready: true });
    expect(over(...others, pod({ name: "e", deleting: true })).failureReason).toBeNull();
    expect(over(pod({ name: "d", code: 1 }), pod({ name: "e", code: 1 })).failureReason).toBe(
      "ProcessExited",
    );
  });

  it("of another run are none that lives", () => {
    const old = pod({ name: "old" });
    const labels = { "slipway.dev/instance-id": "i-1" };
    const other = { ...old, metadata: { ...(old["metadata"] as Json), labels } };
    const run = { instanceId: "i-2" };
    for (const items of [
      [other, pod({ name: "new" })],
      [pod({ name: "new" }), other],
    ])
      expect(see(resource, { items }, { run })).toMatchObject({ stale: false, failureReason: null });
  });

  it.each<[string, unknown, string]>([
    ["a list", { items: [] }, "absent"],
    ["a bare array", [], "absent"],
    ["a list without items", { items: null }, "absent"],
    [
      "a list of which nothing remains",
      { items: [], metadata: { remainingItemCount: 0, continue: "" } },
      "absent",
    ],
    ["a page by its token", { items: [], metadata: { continue: "t" } }, "unknown"],
    ["a page by its count", { items: [], metadata: { remainingItemCount: 1 } }, "unknown"],
    ["what was not asked", null, "unknown"],
    ["what is no list", { kind: "PodList" }, "unknown"],
    ["items that are none", { items: {} }, "unknown"],
    ["the API's refusal", { kind: "Status", reason: "Forbidden", items: [] }, "unknown"],
    ["a text", "no pods", "unknown"],
  ])("%s", (_name, pods, workload) => {
    const suspended = workload === "absent";
    expect(see(sandbox(SUSPEND), pods)).toMatchObject({ workload, suspended, failureReason: null });
  });
});
