import { describe, expect, it } from "vitest";
import {
  anewForEachTest,
  asked,
  clock,
  make,
  ready,
  record,
  reported,
  seen,
  source,
  store,
  waiting,
} from "../../test/phase/looks.js";
import { absent } from "./observation.js";
import type { ObservationSource } from "./ports.js";
import { expectedRun } from "./record.js";

anewForEachTest();

describe("a look", () => {
  it("at what has no record makes none", async () => {
    const nothing = { id: "sb", outcome: "no-record", record: null, decision: null };
    expect(await make().reconcile("sb")).toEqual(nothing);
    expect([reported, asked, store.writes]).toEqual([[nothing], [], 0]);
  });

  it("that changes nothing writes nothing, and nobody is told", async () => {
    store.put("sb", record("Starting"));
    seen.set("sb", ready);
    await make().reconcile("sb");
    const again = await make().reconcile("sb");
    expect(again).toMatchObject({
      outcome: "unchanged",
      record: store.peek("sb"),
      decision: { phase: "Ready" },
    });
    expect([reported.length, store.writes]).toEqual([1, 1]);
  });

  it("asks for the run that the record expects, with a signal that aborts at the end", async () => {
    const stored = record("Starting", { instanceId: "i-1", startRequestedAt: 5 });
    store.put("sb", stored);
    const reconciler = make();
    await reconciler.reconcile("sb");
    const [id, run, signal] = asked[0] as [string, unknown, AbortSignal];
    expect([id, run, signal.aborted]).toEqual(["sb", expectedRun(stored), false]);
    await reconciler.close();
    expect(signal.aborted).toBe(true);
  });

  it.each<[string, ObservationSource["get"]]>([
    ["an answer for another sandbox", () => Promise.resolve({ id: "other", observation: absent(null) })],
    ["no answer", () => Promise.resolve(null)],
    ["an error", () => Promise.reject(new Error("403"))],
    [
      "an error that is thrown",
      () => {
        throw new Error("403");
      },
    ],
  ])("that gets %s is no observation: the record stays, and nothing is removed", async (_, get) => {
    const stored = store.put("sb", record("Provisioning")).record;
    const reconciler = make({ source: { ...source, get } });
    for (const look of [reconciler.reconcile("sb"), reconciler.deleted("sb")])
      expect(await look).toMatchObject({ outcome: "unchanged", decision: { stale: true } });
    await reconciler.sweep();
    expect(store.peek("sb")).toEqual(stored);
  });

  it("decides with the supervisor's session and the gateway's policy", async () => {
    store.put("sb", record("Starting", { instanceId: "i-1" }));
    seen.set("sb", ready);
    const policy = { requireSession: true };
    await make({ policy }).reconcile("sb");
    expect(store.peek("sb")?.phase).toBe("Starting");
    const session = (id: string) => ({ connected: id === "sb", instanceId: "i-1" });
    await make({ policy, session }).reconcile("sb");
    expect(store.peek("sb")?.phase).toBe("Ready");
  });

  it("that somebody else's write overtakes leaves theirs", async () => {
    store.put("sb", record("Starting"));
    seen.set("sb", ready);
    const get = store.get.bind(store);
    store.get = async (id) => {
      const stored = await get(id);
      store.put("sb", record("Stopping", { desired: "stopped" }));
      return stored;
    };
    expect(await make().reconcile("sb")).toMatchObject({
      id: "sb",
      outcome: "conflict",
      record: null,
      decision: { phase: "Ready" },
    });
    expect(store.peek("sb")?.phase).toBe("Stopping");
  });

  it("of one sandbox waits for the one before, and of another does not", async () => {
    for (const id of ["a", "b"]) store.put(id, record("Starting"));
    const order: string[] = [];
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const get: ObservationSource["get"] = async (id) => {
      order.push(`look ${id}`);
      if (id === "a") await answered;
      return { id, observation: ready };
    };
    const reconciler = make({ source: { ...source, get } });
    const both = [reconciler.reconcile("a"), reconciler.deleted("a")];
    await reconciler.reconcile("b");
    expect(order).toEqual(["look a", "look b"]);
    answer();
    await Promise.all(both);
    expect(order).toEqual(["look a", "look b", "look a"]);
  });
});

describe("a record whose backend has nothing", () => {
  it.each(["Provisioning", "Ready", "Unknown"] as const)(
    "is removed in a sweep after the grace, at the backend's word at once, by a plain look never: %s",
    async (phase) => {
      const recent = record(phase, { since: clock.now() - 1000 });
      store.put("sb", recent);
      const reconciler = make({ graceMs: 1001 });
      expect((await reconciler.reconcile("sb")).outcome).not.toBe("removed");
      store.put("sb", recent);
      expect((await reconciler.sweep()).outcomes.map(({ outcome }) => outcome)).not.toContain("removed");
      store.put("sb", recent);
      clock.advance(1);
      expect((await reconciler.sweep()).outcomes).toMatchObject([
        { id: "sb", outcome: "removed", record: null, decision: { effects: ["prune-candidate"] } },
      ]);
      store.put("sb", record(phase, { since: 0 }));
      expect((await reconciler.reconcile("sb")).outcome).not.toBe("removed");
      store.put("sb", record(phase, { since: clock.now() }));
      expect(await reconciler.deleted("sb")).toMatchObject({ outcome: "removed", record: null });
      expect(store.peek("sb")).toBeNull();
    },
  );

  it("is not removed where somebody wrote it meanwhile", async () => {
    store.put("sb", record("Provisioning"));
    store.delete = () => Promise.resolve(false);
    expect(await make().deleted("sb")).toMatchObject({ outcome: "conflict", record: null });
  });

  it("is removed by a plain look where it was being deleted", async () => {
    store.put("sb", record("Deleting", { desired: "deleted" }));
    expect(await make().reconcile("sb")).toMatchObject({
      outcome: "removed",
      decision: { phase: "Deleted" },
    });
    store.put("sb", record("Deleting", { desired: "deleted" }));
    expect(await make().sweep()).toMatchObject({ seen: 1, outcomes: [{ outcome: "removed" }] });
    expect(store.peek("sb")).toBeNull();
  });
});

describe("a start whose isolation backend is not the one selected", () => {
  const pinned = { backendMatches: () => false };

  it.each(["reconcile", "sweep"] as const)("fails when it is looked at: %s", async (how) => {
    store.put("sb", record("Starting"));
    seen.set("sb", waiting);
    const reconciler = make(pinned);
    if (how === "sweep") await reconciler.sweep();
    else await reconciler.reconcile("sb");
    expect(store.peek("sb")).toMatchObject({ phase: "Error", reason: "IsolationBackendMismatch" });
    expect(reported).toMatchObject([{ id: "sb", outcome: "mismatch", decision: null }]);
    expect(reported[0]?.record).toEqual(store.peek("sb"));
  });

  it("is asked about by its name and record, and about none that is past its start", async () => {
    const questions: unknown[] = [];
    const backendMatches = (...question: unknown[]): null => {
      questions.push(question);
      return null;
    };
    const stored = store.put("sb", record("Starting")).record;
    store.put("other", record("Provisioning"));
    for (const id of ["sb", "other"]) seen.set(id, waiting);
    const reconciler = make({ backendMatches });
    await reconciler.reconcile("sb");
    await reconciler.reconcile("other");
    expect(questions).toEqual([["sb", stored]]);
    expect(store.peek("sb")?.phase).toBe("Starting");
  });

  it("goes on where it runs already, and where no pin is known", async () => {
    store.put("runs", record("Starting"));
    store.put("unpinned", record("Starting"));
    seen.set("runs", ready);
    seen.set("unpinned", waiting);
    await make({ backendMatches: (id) => (id === "runs" ? false : null) }).sweep();
    expect(store.peek("runs")?.phase).toBe("Ready");
    expect(store.peek("unpinned")?.phase).toBe("Starting");
  });

  it("leaves what somebody else wrote meanwhile", async () => {
    store.put("sb", record("Starting"));
    seen.set("sb", waiting);
    store.compareAndSwap = () => Promise.resolve(null);
    expect(await make(pinned).reconcile("sb")).toEqual({
      id: "sb",
      outcome: "conflict",
      record: null,
      decision: null,
    });
  });
});
