import { VirtualClock } from "slipway/testing";
import { describe, expect, it } from "vitest";
import { Sessions } from "../src/gateway/sessions.js";
import type { SessionStore, StoredSession } from "../src/store/session-store.js";

/** The store of two gateways, in memory: what it holds, and how it answers to a sweep. */
class SharedSessions implements SessionStore {
  readonly held = new Map<string, StoredSession>();
  sweep: () => Promise<void> = () => Promise.resolve();

  keepSessions(sessions: readonly StoredSession[]): Promise<void> {
    for (const session of sessions) this.held.set(session.id, session);
    return Promise.resolve();
  }

  liveSessions(now: number, ids?: readonly string[]): Promise<readonly StoredSession[]> {
    const live = [...this.held.values()].filter(({ until }) => until > now);
    return Promise.resolve(live.filter(({ id }) => ids?.includes(id) ?? true));
  }

  sweepSessions(): Promise<void> {
    return this.sweep();
  }

  endSessions(): Promise<void> {
    return Promise.resolve();
  }
}

function open(store?: SessionStore) {
  const clock = new VirtualClock();
  const logged: string[] = [];
  const sessions = new Sessions({ clock, owner: "one", log: (event) => void logged.push(event), store });
  return { clock, logged, sessions };
}

const away = { id: "sb", instanceId: "sb-r1", owner: "two", until: Number.MAX_SAFE_INTEGER };

describe("sessions of another gateway", () => {
  it("are known while old ones are swept out of the store, and after that failed", async () => {
    const store = new SharedSessions();
    const { clock, logged, sessions } = open(store);
    store.held.set("sb", away);
    await sessions.refresh();
    let fail: (error: Error) => void = () => undefined;
    store.sweep = () => new Promise((_, reject) => (fail = reject));
    clock.advance(60_000);
    const refreshing = sessions.refresh();
    for (let turn = 0; turn < 5; turn += 1) {
      await Promise.resolve();
      expect(sessions.of("sb", clock.now())?.instanceId).toBe("sb-r1");
    }
    fail(new Error("no"));
    await refreshing;
    expect(sessions.of("sb", clock.now())?.instanceId).toBe("sb-r1");
    expect(logged).toEqual(["sessions-unswept"]);
  });

  it("are forgotten with a look that finds them no more", async () => {
    const store = new SharedSessions();
    const { clock, sessions } = open(store);
    store.held.set("sb", away);
    await sessions.refresh();
    store.held.clear();
    await sessions.refresh();
    expect(sessions.of("sb", clock.now())).toBeNull();
  });
});

describe("a supervisor whose question is held", () => {
  it("is there again after a stall in which its contact ran out", () => {
    const { clock, sessions } = open();
    sessions.note("sb", "sb-r1", clock.now());
    clock.advance(20_000);
    expect(sessions.of("sb", clock.now())).toBeNull();
    sessions.prolong("sb", "sb-r1", clock.now());
    expect(sessions.of("sb", clock.now())?.instanceId).toBe("sb-r1");
  });

  it("takes nothing from another instance, here or at another gateway", async () => {
    const store = new SharedSessions();
    const { clock, sessions } = open(store);
    sessions.note("sb", "sb-r1", clock.now());
    sessions.note("sb", "sb-r2", clock.now());
    sessions.prolong("sb", "sb-r1", clock.now());
    expect(sessions.of("sb", clock.now())?.instanceId).toBe("sb-r2");
    clock.advance(20_000);
    store.held.set("sb", { ...away, instanceId: "sb-r3" });
    await sessions.refresh("sb");
    sessions.prolong("sb", "sb-r1", clock.now());
    expect(sessions.of("sb", clock.now())?.instanceId).toBe("sb-r3");
  });

  it("leaves nothing behind once its sandbox is gone", () => {
    const { clock, sessions } = open();
    sessions.note("sb", "sb-r1", clock.now());
    sessions.forget("sb");
    sessions.prolong("sb", "sb-r1", clock.now());
    expect(sessions.of("sb", clock.now())).toBeNull();
  });
});
