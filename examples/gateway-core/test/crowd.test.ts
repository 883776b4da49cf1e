import { VirtualClock } from "slipway/testing";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { requestDelete } from "../src/decide/operations.js";
import { EventHub } from "../src/gateway/event-hub.js";
import { recover } from "../src/gateway/recovery.js";
import { SandboxRecords } from "../src/gateway/sandbox-records.js";
import { Sweeper } from "../src/gateway/sweeper.js";
import { dueAt } from "../src/record/due.js";
import type { JsonObject } from "../src/record/json.js";
import type { SandboxRecord } from "../src/record/record.js";
import { SqliteStore } from "../src/store/sqlite-store.js";
import { NOW, recordWith } from "./records.js";
import { tempDir } from "./temp-dir.js";

/** More than one look takes at once. */
const MANY = 450;
const around = { observation: null, backendMatches: null, policy: {} };
let store: SqliteStore;

beforeEach(async () => {
  store = new SqliteStore(join(await tempDir(), "store.db"));
});

afterEach(() => store.close());

async function insert(record: SandboxRecord): Promise<void> {
  const value = record as unknown as JsonObject;
  await store.insert({ id: record.id, name: record.name, dueAt: dueAt(record), value });
}

it("work that stays due, however much of it there is, hides no deadline that comes after it", async () => {
  const late = recordWith({ id: "late" });
  const expiresAt = dueAt(late) ?? 0;
  for (let index = 0; index < MANY; index += 1) {
    const id = `stuck-${index}`;
    // A delete that its driver takes long for is looked at again and again.
    await insert(requestDelete(recordWith({ id, name: id }), around, expiresAt - 20_000).record);
  }
  await insert(late);
  const clock = new VirtualClock({ startAt: expiresAt + 60_000 });
  const woken = new Set<string>();
  const records = new SandboxRecords(store, clock, new EventHub("one"));
  const sweeper = new Sweeper({
    ...{ records, owner: "one", clock, log: () => undefined, onLook: () => undefined },
    wake: (id) => woken.add(id),
  });
  sweeper.start();
  await clock.advanceAsync(1);
  await sweeper.close();
  expect(woken.size).toBe(MANY + 1);
  expect((await records.read("late"))?.record.deadline?.status).toBe("expired");
});

it("a gateway that comes up reads its records page by page, and none of them a second time", async () => {
  for (let index = 0; index < MANY; index += 1) {
    const id = `sb-${index}`;
    await insert(recordWith({ id, name: id, phase: "Stopped", desired: "stopped", deadline: null }));
  }
  let pages = 0;
  let others = 0;
  const counting = new Proxy(store, {
    get(target, name) {
      if (name === "list") pages += 1;
      else others += 1;
      return (Reflect.get(target, name) as (...args: unknown[]) => unknown).bind(target);
    },
  });
  const clock = new VirtualClock({ startAt: NOW });
  const found: string[] = [];
  const records = new SandboxRecords(counting, clock, new EventHub("one"));
  await recover(
    records,
    ({ record }) => found.push(record.id),
    () => undefined,
    true,
  );
  expect(found).toHaveLength(MANY);
  expect({ pages, others }).toEqual({ pages: 3, others: 0 });
});
